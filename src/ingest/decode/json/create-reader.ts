import { assert } from '../../../base/assert.ts';
import { type ServiceError, serviceError } from '../../../base/errors.ts';
import { BooleanBuilder } from '../../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { FloatingBuilder } from '../../../codec/columns/floating-builder.ts';
import { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import { Int64Builder, type Int64Type } from '../../../codec/columns/int64-builder.ts';
import { ListBuilder, MapBuilder, StructBuilder } from '../../../codec/columns/nested-builders.ts';
import type { DecodeSpec } from '../../../protocol/sealed-batch.ts';
import type { DataType } from '../../../schema/types.ts';
import type { UnreadMembers } from '../payload-decoder.ts';
import { BooleanReader } from './boolean-reader.ts';
import { DateReader, NanosReader, TimeReader, TimestampReader } from './date-time-readers.ts';
import { DecimalReader } from './decimal-reader.ts';
import { FloatingReader } from './floating-reader.ts';
import { IntegerReader, LongReader } from './integer-readers.ts';
import type { JsonReader } from './json-reader.ts';
import { ListReader, MapReader, StructReader } from './nested-readers.ts';
import { ObjectReader } from './object-reader.ts';
import { BinaryReader, StringReader } from './text-readers.ts';

type Unknown = DecodeSpec['unknownMembers'];

/**
 * The reader of JSON values into a column.
 *
 * @param nested told of members that no member of a struct takes.
 * @throws ServiceError `DECODE_TYPE_UNSUPPORTED` (kind unsupported) for a map whose keys are not strings: JSON has no other.
 */
export function createJsonReader(column: ColumnBuilder, unknownMembers: Unknown, nested?: UnreadMembers): JsonReader {
  if (column instanceof BytesBuilder) return column.type.kind === 'binary' ? new BinaryReader(column) : new StringReader(column);
  if (column instanceof Int64Builder) return int64Reader(column);
  if (column instanceof Int32Builder)
    return column.type.kind === 'date' ? new DateReader(column) : new IntegerReader(column, column.type.kind);
  if (column instanceof FloatingBuilder) return new FloatingReader(column);
  if (column instanceof DecimalBuilder) return new DecimalReader(column);
  if (column instanceof BooleanBuilder) return new BooleanReader(column);
  if (column instanceof StructBuilder) return structReader(column, unknownMembers, nested);
  if (column instanceof ListBuilder) return new ListReader(column, createJsonReader(column.element, unknownMembers, nested));
  assert(column instanceof MapBuilder, 'a column is one of these');
  if (!(column.keys instanceof BytesBuilder) || column.keys.type.kind !== 'string') throw keysUnsupported(column.type.key);
  return new MapReader(column, column.keys, createJsonReader(column.values, unknownMembers, nested));
}

const int64Readers: Readonly<Record<Int64Type['kind'], new (column: Int64Builder) => JsonReader>> = {
  long: LongReader,
  timestamp: TimestampReader,
  timestamp_ntz: TimestampReader,
  time: TimeReader,
  timestamp_ns: NanosReader,
  timestamp_ntz_ns: NanosReader,
};

function int64Reader(column: Int64Builder): JsonReader {
  return new int64Readers[column.type.kind](column);
}

function structReader(column: StructBuilder, unknownMembers: Unknown, nested: UnreadMembers | undefined): StructReader {
  const members = column.type.fields.flatMap(({ name, nullable }, index) => {
    const child = column.children[index];
    return child === undefined ? [] : [{ name, label: name, nullable, reader: createJsonReader(child, unknownMembers, nested) }];
  });
  return new StructReader(column, new ObjectReader(members, unknownMembers, nested));
}

function keysUnsupported(type: DataType): ServiceError {
  return serviceError.unsupported('DECODE_TYPE_UNSUPPORTED', `a map with keys of type ${type.kind} cannot be read from JSON`, {
    hint: 'use a map with string keys',
  });
}
