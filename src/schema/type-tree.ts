import type { DataType, Field, StructType } from './types.ts';

/** What is directly inside of a type, as fields: the fields of a struct, `element` of a list, `key` and `value` of a map. */
export function innerFields(type: DataType): readonly Field[] {
  switch (type.kind) {
    case 'struct':
      return type.fields;
    case 'list':
      return [{ name: 'element', type: type.element, nullable: type.elementNullable, id: type.elementId }];
    case 'map':
      return [
        { name: 'key', type: type.key, nullable: false, id: type.keyId },
        { name: 'value', type: type.value, nullable: type.valueNullable, id: type.valueId },
      ];
    default:
      return [];
  }
}

/** A member of a row that is no struct. */
export interface StructLeaf {
  readonly path: readonly string[];
  readonly type: DataType;
}

/** The members of a struct that are none themselves, at any depth: lists and maps are not entered. */
export function structLeaves(struct: StructType, above: readonly string[] = []): readonly StructLeaf[] {
  return struct.fields.flatMap(({ name, type }) => {
    const path = [...above, name];
    return type.kind === 'struct' ? structLeaves(type, path) : [{ path, type }];
  });
}

/** Whether the type, or one at any depth inside of it, passes the test. */
export function someType(type: DataType, test: (type: DataType) => boolean): boolean {
  return test(type) || innerFields(type).some((field) => someType(field.type, test));
}

/** Whether both have as much directly inside of them, and each pair of it passes the test. */
export function everyInnerPair(left: DataType, right: DataType, test: (left: Field, right: Field) => boolean): boolean {
  const [members, others] = [innerFields(left), innerFields(right)];
  const passes = (member: Field, index: number): boolean => {
    const other = others[index];
    return other !== undefined && test(member, other);
  };
  return members.length === others.length && members.every(passes);
}

/** The type with other types directly inside of it. `field`: what becomes of the fields of a struct; default: their types change alone. */
export function withInnerTypes(
  type: DataType,
  change: (type: DataType) => DataType,
  field: (field: Field) => Field = (member) => ({ ...member, type: change(member.type) }),
): DataType {
  switch (type.kind) {
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(field) };
    case 'list':
      return { ...type, element: change(type.element) };
    case 'map':
      return { ...type, key: change(type.key), value: change(type.value) };
    default:
      return type;
  }
}

/** The first path to a list or map in which a member of a struct is required, with the part that holds it; `undefined`: there is none. */
export function requiredWithin(
  type: DataType,
  path: readonly string[] = [],
  part?: string,
): { readonly path: readonly string[]; readonly part: string } | undefined {
  if (type.kind === 'struct') {
    for (const field of type.fields) {
      if (part !== undefined && !field.nullable) return { path, part };
      const found = requiredWithin(field.type, part === undefined ? [...path, field.name] : path, part);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  for (const inner of innerFields(type)) {
    const found = requiredWithin(inner.type, path, part ?? inner.name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The first path to a field whose struct has another one of its name before it, whatever their case; `undefined`: there is none. */
export function duplicatePath(type: DataType, above: readonly string[] = []): readonly string[] | undefined {
  const seen = new Set<string>();
  for (const field of innerFields(type)) {
    const path = [...above, field.name];
    const name = field.name.toLowerCase();
    if (seen.has(name)) return path;
    seen.add(name);
    const inside = duplicatePath(field.type, path);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
