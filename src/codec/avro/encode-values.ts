import { assertNever } from '../../base/assert.ts';
import { type InputValue, isRow } from '../build-columns.ts';
import { avroMismatch } from './avro-errors.ts';
import {
  type AvroArray,
  type AvroEnum,
  type AvroField,
  type AvroPrimitive,
  type AvroRecord,
  type AvroType,
  type AvroUnion,
  withoutNull,
} from './avro-type.ts';
import type { ByteSink } from './byte-sink.ts';
import { pairOf } from './skip-values.ts';

/** Writes one value. */
export type ValueEncoder = (value: InputValue, sink: ByteSink) => void;

/**
 * An encoder of rows as objects by field name, with the values that `recordDecoder` reads and more freely: `undefined` for null, a safe
 * integer for a long, a `Map` or an object for a map, a `Map` or pairs for an array that stands for a map. Other members are ignored.
 * Of a union with several types beside null the first that fits is taken. `where` begins the path in errors.
 *
 * @throws ServiceError `AVRO_VALUE_MISMATCH` (kind invalid) from the encoder, naming the field and the value.
 */
export function recordEncoder(type: AvroRecord, where: string): ValueEncoder {
  const fields = type.fields.map((field) => ({ name: field.name, write: fieldEncoder(field, where) }));
  return (value, sink) => {
    if (!isRow(value)) throw mismatch(where, type, value);
    for (const { name, write } of fields) write(value[name], sink);
  };
}

function fieldEncoder(field: AvroField, where: string): ValueEncoder {
  return valueEncoder(field.type, `${where}.${field.name}`);
}

function valueEncoder(type: AvroType, where: string): ValueEncoder {
  switch (type.kind) {
    case 'null':
      return (value) => {
        if (value !== null && value !== undefined) throw mismatch(where, type, value);
      };
    case 'enum':
      return scalarEncoder(type, where);
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'boolean':
      return scalarEncoder({ kind: type.kind }, where);
    case 'bytes':
      return (value, sink) => {
        if (!(value instanceof Uint8Array)) throw mismatch(where, type, value);
        sink.bytes(value);
      };
    case 'fixed':
      return (value, sink) => {
        if (!(value instanceof Uint8Array) || value.length !== type.size) throw mismatch(where, type, value);
        sink.fixed(value);
      };
    case 'string':
      return (value, sink) => {
        if (typeof value !== 'string') throw mismatch(where, type, value);
        sink.text(value);
      };
    case 'record':
      return recordEncoder(type, where);
    case 'array':
      return arrayEncoder(type, where);
    case 'map':
      return mapEncoder(type, valueEncoder({ kind: 'string' }, `${where}.key`), valueEncoder(type.values, `${where}.value`), where);
    case 'union':
      return unionEncoder(type, where);
    default:
      return assertNever(type);
  }
}

type Scalar = AvroEnum | (AvroPrimitive & { readonly kind: 'int' | 'long' | 'float' | 'double' | 'boolean' });

function scalarEncoder(type: Scalar, where: string): ValueEncoder {
  switch (type.kind) {
    case 'boolean':
      return (value, sink) => {
        if (typeof value !== 'boolean') throw mismatch(where, type, value);
        sink.byte(value ? 1 : 0);
      };
    case 'int':
      return (value, sink) => {
        if (typeof value !== 'number' || (value | 0) !== value) throw mismatch(where, type, value);
        sink.int(value);
      };
    case 'long':
      return (value, sink) => {
        if (typeof value === 'number' && (value | 0) === value) sink.int(value);
        else sink.long(longOf(value, type, where));
      };
    case 'enum':
      return (value, sink) => {
        const index = typeof value === 'string' ? type.symbols.indexOf(value) : -1;
        if (index < 0) throw mismatch(where, type, value);
        sink.int(index);
      };
    default: {
      const single = type.kind === 'float';
      return (value, sink) => {
        if (typeof value !== 'number') throw mismatch(where, type, value);
        if (single) sink.float(value);
        else sink.double(value);
      };
    }
  }
}

function longOf(value: InputValue, type: AvroType, where: string): bigint {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) throw mismatch(where, type, value);
  return value;
}

function arrayEncoder(type: AvroArray, where: string): ValueEncoder {
  const item = valueEncoder(type.items, `${where}.element`);
  const pair = type.map ? pairOf(type) : undefined;
  const entries =
    pair === undefined
      ? undefined
      : mapEncoder(type, valueEncoder(pair.key, `${where}.key`), valueEncoder(pair.value, `${where}.value`), where);
  return (value, sink) => {
    if (value instanceof Map && entries !== undefined) {
      entries(value, sink);
      return;
    }
    if (!isList(value)) throw mismatch(where, type, value);
    if (value.length > 0) sink.int(value.length);
    for (const element of value) item(element, sink);
    sink.byte(0);
  };
}

function mapEncoder(type: AvroType, writeKey: ValueEncoder, writeValue: ValueEncoder, where: string): ValueEncoder {
  return (value, sink) => {
    if (value instanceof Map) {
      const map: ReadonlyMap<InputValue, InputValue> = value;
      if (map.size > 0) sink.int(map.size);
      for (const [key, entry] of map) {
        writeKey(key, sink);
        writeValue(entry, sink);
      }
    } else {
      if (!isRow(value)) throw mismatch(where, type, value);
      const entries = Object.entries(value);
      if (entries.length > 0) sink.int(entries.length);
      for (const [key, entry] of entries) {
        writeKey(key, sink);
        writeValue(entry, sink);
      }
    }
    sink.byte(0);
  };
}

function unionEncoder(type: AvroUnion, where: string): ValueEncoder {
  const nullIndex = type.branches.findIndex((branch) => branch.kind === 'null');
  const branches = type.branches.map((branch, index) => ({ branch, index, write: valueEncoder(branch, where) }));
  const others = branches.filter(({ branch }) => branch.kind !== 'null');
  const [only] = others;
  return (value, sink) => {
    if (value === null || value === undefined) {
      if (nullIndex < 0) throw mismatch(where, type, value);
      sink.int(nullIndex);
      return;
    }
    const taken = others.length === 1 ? only : others.find(({ branch }) => fits(branch, value));
    if (taken === undefined) throw mismatch(where, type, value);
    sink.int(taken.index);
    taken.write(value, sink);
  };
}

/** Whether a value looks like one of a type; what it contains is not looked at. */
function fits(type: AvroType, value: InputValue): boolean {
  switch (type.kind) {
    case 'null':
      return false;
    case 'boolean':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'number' && (value | 0) === value;
    case 'long':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
    case 'float':
    case 'double':
      return typeof value === 'number';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'fixed':
      return value instanceof Uint8Array && value.length === type.size;
    case 'string':
      return typeof value === 'string';
    case 'enum':
      return typeof value === 'string' && type.symbols.includes(value);
    case 'array':
      return isList(value) || (type.map && value instanceof Map);
    case 'map':
      return value instanceof Map || isRow(value);
    case 'record':
      return isRow(value);
    case 'union':
      return withoutNull(type).nullable;
    default:
      return assertNever(type);
  }
}

function isList(value: InputValue): value is readonly InputValue[] {
  return Array.isArray(value);
}

function mismatch(where: string, type: AvroType, value: InputValue): Error {
  const shown = typeof value === 'object' && value !== null ? 'an object' : `${typeof value} ${String(value).slice(0, 80)}`;
  return avroMismatch(where, `${shown} does not fit ${type.kind}`);
}
