import { assertNever } from '../../base/assert.ts';
import { setMember } from '../../base/set-member.ts';
import type { PlainRow, PlainValue } from '../rows.ts';
import type { AvroArray, AvroRecord, AvroType, AvroUnion } from './avro-type.ts';
import type { ByteCursor } from './byte-cursor.ts';

/** Reads one value and moves on. */
export type ValueDecoder = (cursor: ByteCursor) => PlainValue;

/** Passes over one value. */
export type ValueSkipper = (cursor: ByteCursor) => void;

/**
 * A decoder of a record as an object by the writer's field names: int, float and double are numbers, long `bigint`, bytes and fixed views
 * of the block, enums their symbols, maps and arrays that stand for maps `Map`s, unions the value itself. Logical types stay what they are
 * stored as. Fields whose id is in `omit` are passed over, at every level.
 */
export function recordDecoder(type: AvroRecord, omit: ReadonlySet<number>): (cursor: ByteCursor) => PlainRow {
  const fields = type.fields.map((field) => ({ name: field.name, read: fieldDecoder(field.type, field.fieldId, omit) }));
  return (cursor) => {
    const row: Record<string, PlainValue> = {};
    for (const { name, read } of fields) {
      const value = read(cursor);
      if (value === undefined) continue;
      if (name === '__proto__') setMember(row, name, value);
      else row[name] = value;
    }
    return row;
  };
}

function fieldDecoder(type: AvroType, id: number | undefined, omit: ReadonlySet<number>): (cursor: ByteCursor) => PlainValue | undefined {
  if (id === undefined || !omit.has(id)) return valueDecoder(type, omit);
  const skip = valueSkipper(type);
  return (cursor) => {
    skip(cursor);
    return undefined;
  };
}

function valueDecoder(type: AvroType, omit: ReadonlySet<number>): ValueDecoder {
  switch (type.kind) {
    case 'null':
      return (cursor) => {
        cursor.free();
        return null;
      };
    case 'boolean':
      return (cursor) => cursor.boolean();
    case 'int':
      return (cursor) => cursor.int();
    case 'long':
      return (cursor) => cursor.long();
    case 'float':
      return (cursor) => cursor.float();
    case 'double':
      return (cursor) => cursor.double();
    case 'bytes':
      return (cursor) => cursor.bytes();
    case 'string':
      return (cursor) => cursor.text();
    case 'fixed':
      return (cursor) => cursor.fixed(type.size);
    case 'enum':
      return (cursor) => enumSymbol(type.symbols, cursor);
    case 'record':
      return recordDecoder(type, omit);
    case 'array':
      return type.map ? mapOfPairsDecoder(type, omit) : arrayDecoder(type, omit);
    case 'map':
      return mapDecoder((cursor) => cursor.text(), valueDecoder(type.values, omit), 1 + leastBytes(type.values));
    case 'union':
      return unionDecoder(type, omit);
    default:
      return assertNever(type);
  }
}

/** The symbol an enum value stands for. */
export function enumSymbol(symbols: readonly string[], cursor: ByteCursor): string {
  const index = cursor.int();
  const symbol = symbols[index];
  if (symbol === undefined) throw cursor.fail(`an enum has no symbol ${index}`);
  return symbol;
}

function arrayDecoder(type: AvroArray, omit: ReadonlySet<number>): ValueDecoder {
  const read = valueDecoder(type.items, omit);
  const itemBytes = leastBytes(type.items);
  return (cursor) => {
    const items: PlainValue[] = [];
    for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
      for (let index = 0; index < count; index++) items.push(read(cursor));
    }
    return items;
  };
}

function mapOfPairsDecoder(type: AvroArray, omit: ReadonlySet<number>): ValueDecoder {
  const pair = pairOf(type);
  if (pair === undefined) return arrayDecoder(type, omit);
  return mapDecoder(valueDecoder(pair.key, omit), valueDecoder(pair.value, omit), leastBytes(type.items));
}

function mapDecoder(key: ValueDecoder, value: ValueDecoder, itemBytes: number): ValueDecoder {
  return (cursor) => {
    const map = new Map<PlainValue, PlainValue>();
    for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
      for (let index = 0; index < count; index++) {
        const entry = key(cursor);
        map.set(entry, value(cursor));
      }
    }
    return map;
  };
}

/** Types of key and value of an array whose items are such pairs; `undefined` for items of another shape. */
export function pairOf(type: AvroArray): { readonly key: AvroType; readonly value: AvroType } | undefined {
  if (type.items.kind !== 'record' || type.items.fields.length !== 2) return undefined;
  const [key, value] = type.items.fields;
  return key?.name === 'key' && value?.name === 'value' ? { key: key.type, value: value.type } : undefined;
}

function unionDecoder(type: AvroUnion, omit: ReadonlySet<number>): ValueDecoder {
  const branches = type.branches.map((branch) => valueDecoder(branch, omit));
  const [first, second] = branches;
  if (branches.length === 2 && second !== undefined && type.branches[0]?.kind === 'null') {
    return (cursor) => (cursor.branch(2) === 0 ? null : second(cursor));
  }
  if (branches.length === 2 && first !== undefined && type.branches[1]?.kind === 'null') {
    return (cursor) => (cursor.branch(2) === 0 ? first(cursor) : null);
  }
  return (cursor) => {
    const index = cursor.branch(branches.length);
    return branches[index]?.(cursor) ?? null;
  };
}

/** What passes over a value of a type. */
export function valueSkipper(type: AvroType): ValueSkipper {
  switch (type.kind) {
    case 'null':
      return (cursor) => {
        cursor.free();
      };
    case 'boolean':
      return (cursor) => cursor.skip(1);
    case 'int':
    case 'long':
    case 'enum':
      return skipVarint;
    case 'float':
      return (cursor) => cursor.skip(4);
    case 'double':
      return (cursor) => cursor.skip(8);
    case 'bytes':
    case 'string':
      return (cursor) => cursor.skip(cursor.length());
    case 'fixed':
      return (cursor) => cursor.skip(type.size);
    case 'record': {
      const fields = type.fields.map((field) => valueSkipper(field.type));
      return (cursor) => {
        for (const skip of fields) skip(cursor);
      };
    }
    case 'array':
      return itemsSkipper([valueSkipper(type.items)], leastBytes(type.items));
    case 'map':
      return itemsSkipper([(cursor) => cursor.skip(cursor.length()), valueSkipper(type.values)], 1 + leastBytes(type.values));
    case 'union': {
      const branches = type.branches.map(valueSkipper);
      return (cursor) => branches[cursor.branch(branches.length)]?.(cursor);
    }
    default:
      return assertNever(type);
  }
}

function skipVarint(cursor: ByteCursor): void {
  cursor.skipVarint();
}

function itemsSkipper(parts: readonly ValueSkipper[], itemBytes: number): ValueSkipper {
  return (cursor) => {
    for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
      if (cursor.blockBytes !== undefined) cursor.skip(cursor.blockBytes);
      else for (let index = 0; index < count; index++) for (const skip of parts) skip(cursor);
    }
  };
}

/** The least bytes a value of a type can take. */
export function leastBytes(type: AvroType): number {
  switch (type.kind) {
    case 'null':
      return 0;
    case 'float':
      return 4;
    case 'double':
      return 8;
    case 'fixed':
      return type.size;
    case 'record':
      return type.fields.reduce((sum, field) => sum + leastBytes(field.type), 0);
    default:
      return 1;
  }
}
