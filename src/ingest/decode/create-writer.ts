import { assertNever } from '../../base/assert.ts';
import { ServiceError } from '../../base/errors.ts';
import type { DecodeSpec } from '../../protocol/sealed-batch.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { BooleanWriter } from './boolean-writer.ts';
import { BinaryWriter, StringWriter } from './bytes-writers.ts';
import type { ColumnWriter } from './column-writer.ts';
import { DateWriter, TimestampWriter } from './date-time-writers.ts';
import { DecimalWriter } from './decimal-writer.ts';
import { FloatingWriter } from './floating-writer.ts';
import { IntegerWriter, LongWriter } from './integer-writers.ts';
import { NanosWriter } from './nanos-writer.ts';
import { ListWriter, MapWriter, StructWriter } from './nested-writers.ts';
import { ObjectReader } from './object-reader.ts';
import { TimeWriter } from './time-writer.ts';

/**
 * The writer for columns of a type.
 *
 * @throws ServiceError `DECODE_TYPE_UNSUPPORTED` (kind unsupported) for a map whose keys are not strings: JSON has no other.
 */
export function createWriter(type: DataType, unknownMembers: DecodeSpec['unknownMembers']): ColumnWriter {
  switch (type.kind) {
    case 'boolean':
      return new BooleanWriter();
    case 'byte':
    case 'short':
    case 'integer':
      return new IntegerWriter(type);
    case 'long':
      return new LongWriter();
    case 'float':
    case 'double':
      return new FloatingWriter(type);
    case 'decimal':
      return new DecimalWriter(type);
    case 'string':
      return new StringWriter();
    case 'binary':
      return new BinaryWriter();
    case 'date':
      return new DateWriter();
    case 'timestamp':
    case 'timestamp_ntz':
      return new TimestampWriter(type);
    case 'time':
      return new TimeWriter();
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return new NanosWriter(type);
    case 'struct':
      return structWriter(type, unknownMembers);
    case 'list':
      return new ListWriter(type, createWriter(type.element, unknownMembers));
    case 'map':
      if (type.key.kind !== 'string') {
        throw new ServiceError({
          code: 'DECODE_TYPE_UNSUPPORTED',
          kind: 'unsupported',
          message: `a map with keys of type ${type.key.kind} cannot be read from JSON`,
          hint: 'use a map with string keys',
        });
      }
      return new MapWriter(type, createWriter(type.value, unknownMembers));
    case 'variant':
    case 'void':
      throw new ServiceError({
        code: 'DECODE_TYPE_UNSUPPORTED',
        kind: 'unsupported',
        message: `a column of type ${type.kind} cannot be ingested`,
        hint: 'write JSON into a column of type string, and parse_json from it into a table with variants',
      });
    default:
      return assertNever(type);
  }
}

function structWriter(type: StructType, unknownMembers: DecodeSpec['unknownMembers']): StructWriter {
  const children = type.fields.map((field) => createWriter(field.type, unknownMembers));
  const members = type.fields.flatMap((field, index) => {
    const writer = children[index];
    return writer === undefined ? [] : [{ name: field.name, label: field.name, nullable: field.nullable, writer }];
  });
  return new StructWriter(type, children, new ObjectReader(members, unknownMembers));
}
