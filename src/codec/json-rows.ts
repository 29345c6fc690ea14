import type { JsonObject, JsonValue } from '../base/bigint-json.ts';
import { setMember } from '../base/set-member.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { DataType, Field } from '../schema/types.ts';
import { canonicalFloating, canonicalHex, canonicalTime, printerOf } from './canonical-json.ts';
import { isList, isRow, type PlainValue, valueAt } from './rows.ts';

/**
 * The rows of a batch as objects for programs, each value by the type of its column and never by its size: byte, short and integer are
 * `number`, long is `bigint`, inside of other values too. What JSON has no form for is text, the same as in `canonicalRows`.
 */
export function* jsonRows({ schema, columns, rowCount }: ColumnBatch): Generator<JsonObject, void, undefined> {
  const members = schema.fields.flatMap(({ name, type }, place) => {
    const column = columns[place];
    return column === undefined ? [] : [{ name, column, convert: converterOf(type) }];
  });
  for (let index = 0; index < rowCount; index += 1) {
    const row: Record<string, JsonValue> = {};
    for (const { name, column, convert } of members) setMember(row, name, convert(valueAt(column, index)));
    yield row;
  }
}

type Convert = (value: PlainValue) => JsonValue;

function converterOf(type: DataType): Convert {
  const convert = valueConverter(type);
  return (value) => (value === null ? null : convert(value));
}

function valueConverter(type: DataType): Convert {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'boolean':
    case 'decimal':
    case 'string':
      return scalar;
    case 'float':
    case 'double':
      return (value) => (typeof value === 'number' ? canonicalFloating(value) : null);
    case 'binary':
      return (value) => (value instanceof Uint8Array ? canonicalHex(value) : null);
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return canonicalTime(type.kind);
    case 'struct':
      return structConverter(type.fields);
    case 'list': {
      const element = converterOf(type.element);
      return (value) => (isList(value) ? value.map(element) : null);
    }
    case 'map':
      return mapConverter(type);
    case 'variant':
      // What a row has of a variant is JSON already.
      return (value) => value as JsonValue;
    case 'void':
      return () => null;
  }
}

function scalar(value: PlainValue): JsonValue {
  return typeof value === 'object' ? null : value;
}

function structConverter(fields: readonly Field[]): Convert {
  const members = fields.map(({ name, type }) => ({ name, convert: converterOf(type) }));
  return (value) => {
    if (!isRow(value)) return null;
    const object: Record<string, JsonValue> = {};
    for (const { name, convert } of members) setMember(object, name, convert(value[name] ?? null));
    return object;
  };
}

/** Pairs in the order of their keys' text: maps have none of their own. */
function mapConverter(type: Extract<DataType, { readonly kind: 'map' }>): Convert {
  const textOf = printerOf(type.key);
  const key = converterOf(type.key);
  const entry = converterOf(type.value);
  return (value) => {
    if (!(value instanceof Map)) return null;
    const pairs = [...value].map(([name, held]: [PlainValue, PlainValue]) => ({
      text: Buffer.from(textOf(name)),
      pair: [key(name), entry(held)],
    }));
    return pairs.sort((a, b) => Buffer.compare(a.text, b.text)).map(({ pair }) => pair);
  };
}
