import type { DataType, Field, StructType } from '../../schema/types.ts';

/** Gives ids out: those of a table are never used twice. */
export interface IdCounter {
  /** The highest id so far. */
  readonly last: number;
  /** `path` names the field, element, key or value from the top of the table. */
  next(path: readonly string[]): number;
}

/** Counts on from the highest id of a table. */
export function idsAfter(last: number): IdCounter {
  return new Counter(last, () => undefined);
}

/** Ids of a replaced table: what has the name of a column that is there keeps its id, everything else counts on. */
export function idsReusing(last: number, idOf: (path: readonly string[]) => number | undefined): IdCounter {
  return new Counter(last, idOf);
}

/** All fields of a struct, then what is inside of them, one after the other (as other implementations number a table's columns). */
export function structWithIds(struct: StructType, ids: IdCounter, parent: readonly string[] = []): StructType {
  const numbered = struct.fields.map((field): Field => ({ ...field, id: ids.next([...parent, field.name]) }));
  return { kind: 'struct', fields: numbered.map((field) => ({ ...field, type: typeWithIds(field.type, ids, [...parent, field.name]) })) };
}

/** The type with ids inside of it; integers of 8 and 16 bits, which Iceberg does not have, become 32 bits wide. */
export function typeWithIds(type: DataType, ids: IdCounter, path: readonly string[]): DataType {
  switch (type.kind) {
    case 'byte':
    case 'short':
      return { kind: 'integer' };
    case 'struct':
      return structWithIds(type, ids, path);
    case 'list': {
      const inside = [...path, 'element'];
      const elementId = ids.next(inside);
      return { ...type, elementId, element: typeWithIds(type.element, ids, inside) };
    }
    case 'map': {
      const [keyPath, valuePath] = [
        [...path, 'key'],
        [...path, 'value'],
      ];
      const keyId = ids.next(keyPath);
      const valueId = ids.next(valuePath);
      return { ...type, keyId, valueId, key: typeWithIds(type.key, ids, keyPath), value: typeWithIds(type.value, ids, valuePath) };
    }
    default:
      return type;
  }
}

class Counter implements IdCounter {
  #last: number;
  readonly #known: (path: readonly string[]) => number | undefined;

  constructor(last: number, known: (path: readonly string[]) => number | undefined) {
    this.#last = last;
    this.#known = known;
  }

  get last(): number {
    return this.#last;
  }

  next(path: readonly string[]): number {
    const known = this.#known(path);
    if (known !== undefined) return known;
    this.#last += 1;
    return this.#last;
  }
}
