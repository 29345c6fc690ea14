import { assertNever } from '../../base/assert.ts';
import type { AvroArray, AvroType } from './avro-type.ts';
import type { ByteCursor } from './byte-cursor.ts';

/** Passes over one value. */
export type ValueSkipper = (cursor: ByteCursor) => void;

/** The symbol an enum value stands for. */
export function enumSymbol(symbols: readonly string[], cursor: ByteCursor): string {
  const index = cursor.int();
  const symbol = symbols[index];
  if (symbol === undefined) throw cursor.fail(`an enum has no symbol ${index}`);
  return symbol;
}

/** Types of key and value of an array whose items are such pairs; `undefined` for items of another shape. */
export function pairOf(type: AvroArray): { readonly key: AvroType; readonly value: AvroType } | undefined {
  if (type.items.kind !== 'record' || type.items.fields.length !== 2) return undefined;
  const [key, value] = type.items.fields;
  return key?.name === 'key' && value?.name === 'value' ? { key: key.type, value: value.type } : undefined;
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
