import { AnalysisException } from '../base/analysis-exception.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { DataType, Field, StructType } from './types.ts';
import { quotedName, unresolvedName } from './unresolved-column.ts';

/** Parts of a path that enter lists and maps. */
const innerParts: ReadonlySet<string> = new Set(['element', 'key', 'value']);

/** A column, or what is inside one, as a path found it. */
export interface FoundColumn {
  /** In the schema's own spelling. */
  readonly path: readonly string[];
  readonly type: DataType;
  /** The column or struct member the path leads to or into. */
  readonly field: Field;
  /** Parts behind that column that enter lists and maps. */
  readonly inner: readonly string[];
}

/**
 * Finds a column whatever the case of its name.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` (42703) naming the columns, `INVALID_FIELD_NAME` (42000) of a member of what has none.
 */
export function findColumn(schema: StructType, path: readonly string[]): FoundColumn {
  let type: DataType = schema;
  let field: Field | undefined;
  let inner: readonly string[] = [];
  const own = path.map((part, index) => {
    const entered: DataType | undefined = innerType(type, part);
    if (entered !== undefined) {
      type = entered;
      inner = [...inner, part.toLowerCase()];
      return part.toLowerCase();
    }
    if (type.kind !== 'struct') throw notAStruct(path, index);
    const found = fieldNamed(type.fields, part);
    if (found === undefined) throw unknownColumn(path.slice(0, index + 1), schema);
    field = found;
    type = found.type;
    inner = [];
    return found.name;
  });
  if (field === undefined) throw unknownColumn(path, schema);
  return { path: own, type, field, inner };
}

/** Whether the schema has the column. */
export function hasColumn(schema: StructType, path: readonly string[]): boolean {
  let type: DataType | undefined = schema;
  for (const part of path) {
    if (type === undefined) return false;
    type = innerType(type, part) ?? (type.kind === 'struct' ? fieldNamed(type.fields, part)?.type : undefined);
  }
  return type !== undefined && path.length > 0;
}

/** The field of that name, whatever its case. */
export function fieldNamed(fields: readonly Field[], name: string): Field | undefined {
  const lower = name.toLowerCase();
  return fields.find((field) => field.name === name) ?? fields.find((field) => field.name.toLowerCase() === lower);
}

/** The schema with another type at the path, which must be a found one; the empty path is the schema itself. */
export function withTypeAt(schema: StructType, path: readonly string[], change: (type: DataType) => DataType): StructType {
  const changed = typeAt(schema, path, change);
  return changed.kind === 'struct' ? changed : schema;
}

/** The schema with another column (or member) at the path, which must be a found one that ends at a column. */
export function withFieldAt(schema: StructType, path: readonly string[], change: (field: Field) => Field): StructType {
  return withFields(schema, path.slice(0, -1), (fields) => fields.map((field) => (field.name === path.at(-1) ? change(field) : field)));
}

/** The schema with other fields in the struct at the path. */
export function withFields(
  schema: StructType,
  parent: readonly string[],
  change: (fields: readonly Field[]) => readonly Field[],
): StructType {
  return withTypeAt(schema, parent, (type) => (type.kind === 'struct' ? { kind: 'struct', fields: change(type.fields) } : type));
}

/** Whether a reference to `column` means something that `changed` contains, or is inside of. */
export function overlaps(column: readonly string[], changed: readonly string[]): boolean {
  const length = Math.min(column.length, changed.length);
  for (let index = 0; index < length; index++) if (column[index]?.toLowerCase() !== changed[index]?.toLowerCase()) return false;
  return true;
}

function typeAt(type: DataType, path: readonly string[], change: (type: DataType) => DataType): DataType {
  const [part, ...rest] = path;
  if (part === undefined) return change(type);
  if (type.kind === 'list' && innerParts.has(part)) return { ...type, element: typeAt(type.element, rest, change) };
  if (type.kind === 'map' && part === 'key') return { ...type, key: typeAt(type.key, rest, change) };
  if (type.kind === 'map' && part === 'value') return { ...type, value: typeAt(type.value, rest, change) };
  if (type.kind !== 'struct') return type;
  return {
    kind: 'struct',
    fields: type.fields.map((field) => (field.name === part ? { ...field, type: typeAt(field.type, rest, change) } : field)),
  };
}

function innerType(type: DataType, part: string): DataType | undefined {
  const lower = part.toLowerCase();
  if (type.kind === 'list' && lower === 'element') return type.element;
  if (type.kind === 'map' && lower === 'key') return type.key;
  if (type.kind === 'map' && lower === 'value') return type.value;
  return undefined;
}

/** No column of the schema has the path. */
export function unknownColumn(path: readonly string[], schema: StructType): AnalysisException {
  return unresolvedName(
    path,
    schema.fields.map((field) => [field.name]),
  );
}

/** A member of what has no members: `path[index]`. */
export function notAStruct(path: readonly string[], index: number): AnalysisException {
  const [fieldName, parent] = [quotedName(path), quotedName(path.slice(0, index))];
  return new AnalysisException({
    errorClass: 'INVALID_FIELD_NAME',
    message: `Field name ${fieldName} is invalid: ${parent} is not a struct.`,
    parameters: { fieldName, path: parent },
    hint: 'columns go into structs; enter lists and maps by element, key and value',
  });
}

/** No such column among the fields. */
export function fieldNotFound(name: string, fields: readonly Field[]): AnalysisException {
  const names = fields.map((field) => field.name);
  const nearest = nearestName(name, names);
  const listed = names.map((known) => `\`${known}\``).join(', ');
  return new AnalysisException({
    errorClass: 'FIELD_NOT_FOUND',
    message: `No such struct field \`${name}\` in ${listed}.`,
    parameters: { fieldName: `\`${name}\``, fields: listed },
    hint: nearest === undefined ? 'name a column of the table' : `did you mean "${nearest}"?`,
  });
}
