import type { DataType, Field, StructType } from './types.ts';

/** Ids of columns by path (`element`, `key` and `value` enter lists and maps), parents before what is inside of them: plain data. */
export type ColumnIds = readonly (readonly [path: readonly string[], id: number])[];

/** The ids that a struct has. */
export function columnIdsOf(struct: StructType): ColumnIds {
  const ids: [readonly string[], number][] = [];
  numbered(struct, [], (path, id) => {
    if (id !== undefined) ids.push([path, id]);
    return id;
  });
  return ids;
}

/**
 * The struct with these ids, or as it is when they do not name all of it: readers take a file that has some ids to have all, and what has none then to
 * be absent.
 */
export function withColumnIds(struct: StructType, ids: ColumnIds | undefined): StructType {
  if (ids === undefined) return struct;
  const known = new Map(ids.map(([path, id]) => [path.join('\0'), id]));
  const lacking: (readonly string[])[] = [];
  const named = numbered(struct, [], (path) => {
    const id = known.get(path.join('\0'));
    if (id === undefined) lacking.push(path);
    return id;
  });
  return lacking.length === 0 ? named : struct;
}

type IdOf = (path: readonly string[], has: number | undefined) => number | undefined;

function numbered(struct: StructType, above: readonly string[], idOf: IdOf): StructType {
  const fields = struct.fields.map((field): Field => {
    const path = [...above, field.name];
    const id = idOf(path, field.id);
    return { ...field, ...(id === undefined ? {} : { id }), type: inside(field.type, path, idOf) };
  });
  return { kind: 'struct', fields };
}

function inside(type: DataType, path: readonly string[], idOf: IdOf): DataType {
  switch (type.kind) {
    case 'struct':
      return numbered(type, path, idOf);
    case 'list': {
      const at = [...path, 'element'];
      return { ...type, elementId: idOf(at, type.elementId), element: inside(type.element, at, idOf) };
    }
    case 'map': {
      const [key, value] = [
        [...path, 'key'],
        [...path, 'value'],
      ];
      return {
        ...type,
        ...{ keyId: idOf(key, type.keyId), valueId: idOf(value, type.valueId) },
        ...{ key: inside(type.key, key, idOf), value: inside(type.value, value, idOf) },
      };
    }
    default:
      return type;
  }
}
