import { assertNever } from '../../base/assert.ts';
import type { BytesColumn, Column, DecimalColumn, ListColumn, MapColumn, StructColumn } from '../../schema/columns.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, ListType, MapType, StructType } from '../../schema/types.ts';
import { textAt } from '../rows.ts';
import { uuidBytes } from '../uuid-text.ts';
import { avroMismatch } from './avro-errors.ts';
import type { ByteSink } from './byte-sink.ts';
import { decimalBytes } from './table-avro-schema.ts';

/** Writes value `index` of the column it was made for. */
export type ColumnWriter = (index: number) => void;

/**
 * Writers of the columns of one batch as `tableAvroSchema` has them.
 *
 * @throws ServiceError `AVRO_VALUE_MISMATCH` (kind invalid) for a column of another type, and from the writers for a null where the schema
 *   forbids it and for values that do not fit their type, naming the column.
 */
export function columnWriters(schema: StructType, columns: readonly Column[], sink: ByteSink): readonly ColumnWriter[] {
  return schema.fields.map((field, index) => fieldWriter(field, columns[index], sink, field.name));
}

function fieldWriter(field: Field, column: Column | undefined, sink: ByteSink, where: string): ColumnWriter {
  if (column === undefined) throw avroMismatch(`column "${where}"`, 'is not in the batch');
  return nullable(column, field.nullable, valueWriter(field.type, column, sink, where), sink, where);
}

function nullable(column: Column, allowed: boolean, write: ColumnWriter, sink: ByteSink, where: string): ColumnWriter {
  const { validity } = column;
  if (!allowed) {
    if (validity === undefined) return write;
    return (index) => {
      if (((validity[index >> 3] ?? 0) & (1 << (index & 7))) === 0) throw avroMismatch(`column "${where}"`, 'is required but has a null');
      write(index);
    };
  }
  return (index) => {
    const valid = validity === undefined || ((validity[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    sink.byte(valid ? valueBranch : nullBranch);
    if (valid) write(index);
  };
}

// The branches of a union with null first, as they are encoded.
const nullBranch = 0;
const valueBranch = 2;

function valueWriter(type: DataType, column: Column, sink: ByteSink, where: string): ColumnWriter {
  const writer = nestedWriter(type, column, sink, where) ?? flatWriter(type, column, sink, where);
  if (writer === undefined) {
    throw avroMismatch(`column "${where}"`, `holds ${describeType(column.type)} instead of ${describeType(type)}`);
  }
  return writer;
}

function nestedWriter(type: DataType, column: Column, sink: ByteSink, where: string): ColumnWriter | undefined {
  if (type.kind === 'struct' && column.layout === 'struct') return structWriter(type, column, sink, where);
  if (type.kind === 'list' && column.layout === 'list') return listWriter(type, column, sink, where);
  if (type.kind === 'map' && column.layout === 'map') return mapWriter(type, column, sink, where);
  return undefined;
}

function structWriter(type: StructType, column: StructColumn, sink: ByteSink, where: string): ColumnWriter {
  const children = type.fields.map((field, index) => fieldWriter(field, column.children[index], sink, `${where}.${field.name}`));
  return (index) => {
    for (const write of children) write(index);
  };
}

function listWriter(type: ListType, column: ListColumn, sink: ByteSink, where: string): ColumnWriter {
  const path = `${where}.element`;
  const write = nullable(column.element, type.elementNullable, valueWriter(type.element, column.element, sink, path), sink, path);
  return itemsWriter(column.offsets, sink, write);
}

/** A map and an array of pairs are spelled alike. */
function mapWriter(type: MapType, column: MapColumn, sink: ByteSink, where: string): ColumnWriter {
  const keyPath = `${where}.key`;
  const valuePath = `${where}.value`;
  const writeKey = nullable(column.keys, false, valueWriter(type.key, column.keys, sink, keyPath), sink, keyPath);
  const writeValue = nullable(column.values, type.valueNullable, valueWriter(type.value, column.values, sink, valuePath), sink, valuePath);
  return itemsWriter(column.offsets, sink, (index) => {
    writeKey(index);
    writeValue(index);
  });
}

function itemsWriter(offsets: Int32Array, sink: ByteSink, write: ColumnWriter): ColumnWriter {
  return (index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    if (until > from) sink.int(until - from);
    for (let item = from; item < until; item++) write(item);
    sink.byte(0);
  };
}

function flatWriter(type: DataType, column: Column, sink: ByteSink, where: string): ColumnWriter | undefined {
  switch (type.kind) {
    case 'boolean':
      if (column.layout !== 'boolean') return undefined;
      return (index) => {
        sink.byte(((column.bits[index >> 3] ?? 0) >> (index & 7)) & 1);
      };
    case 'decimal':
      return column.layout === 'decimal' && column.type.kind === 'decimal' && column.type.scale === type.scale
        ? decimalWriter(column, decimalBytes(type.precision), sink, where)
        : undefined;
    case 'string':
      if (column.layout !== 'bytes') return undefined;
      return type.format === 'uuid' ? uuidWriter(column, sink, where) : bytesWriter(column, sink);
    case 'binary':
      if (column.layout !== 'bytes') return undefined;
      return type.fixedLength === undefined ? bytesWriter(column, sink) : fixedWriter(column, type.fixedLength, sink, where);
    default:
      return numberWriter(type, column, sink);
  }
}

function numberWriter(type: DataType, column: Column, sink: ByteSink): ColumnWriter | undefined {
  if (column.layout !== 'fixed') return undefined;
  const { values } = column;
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      if (!(values instanceof Int8Array || values instanceof Int16Array || values instanceof Int32Array)) return undefined;
      return (index) => {
        sink.int(values[index] ?? 0);
      };
    case 'float':
      if (!(values instanceof Float32Array)) return undefined;
      return (index) => {
        sink.float(values[index] ?? 0);
      };
    case 'double':
      if (!(values instanceof Float64Array || values instanceof Float32Array)) return undefined;
      return (index) => {
        sink.double(values[index] ?? 0);
      };
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return values instanceof BigInt64Array ? longWriter(values, sink) : undefined;
    case 'boolean':
    case 'decimal':
    case 'string':
    case 'binary':
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
    default:
      return assertNever(type);
  }
}

function longWriter(values: BigInt64Array, sink: ByteSink): ColumnWriter {
  const words = new Int32Array(values.buffer, values.byteOffset, 2 * values.length);
  return (index) => {
    sink.long64(words[2 * index] ?? 0, words[2 * index + 1] ?? 0);
  };
}

function bytesWriter(column: BytesColumn, sink: ByteSink): ColumnWriter {
  const { offsets, data } = column;
  return (index) => {
    sink.range(data, offsets[index] ?? 0, offsets[index + 1] ?? 0);
  };
}

function fixedWriter(column: BytesColumn, size: number, sink: ByteSink, where: string): ColumnWriter {
  const { offsets, data } = column;
  return (index) => {
    const value = data.subarray(offsets[index], offsets[index + 1]);
    if (value.length !== size) throw avroMismatch(`column "${where}"`, `has a value of ${value.length} bytes instead of ${size}`);
    sink.fixed(value);
  };
}

function uuidWriter(column: BytesColumn, sink: ByteSink, where: string): ColumnWriter {
  return (index) => {
    const text = textAt(column, index);
    const bytes = uuidBytes(text);
    if (bytes === undefined) throw avroMismatch(`column "${where}"`, `"${text.slice(0, 40)}" is no uuid`);
    sink.fixed(bytes);
  };
}

/** Sixteen bytes low first become as many as the precision needs, high first. */
function decimalWriter(column: DecimalColumn, size: number, sink: ByteSink, where: string): ColumnWriter {
  const { buffer, byteOffset, byteLength } = column.words;
  const bytes = new Uint8Array(buffer, byteOffset, byteLength);
  const turned = new Uint8Array(size);
  return (index) => {
    const from = 16 * index;
    for (let at = 0; at < size; at++) turned[size - 1 - at] = at < 16 ? (bytes[from + at] ?? 0) : 0;
    const sign = (turned[0] ?? 0) > 0x7f ? 0xff : 0;
    for (let at = size; at < 16; at++) {
      if (bytes[from + at] !== sign) throw avroMismatch(`column "${where}"`, 'has a decimal with more digits than its type');
    }
    sink.fixed(turned);
  };
}
