import type { DataType } from '../../schema/types.ts';
import type { ProtoField, ProtoMessage, ProtoScalar, ProtoType } from '../decode/protobuf/proto-schema.ts';
import { type ColumnLimits, type FoundRow, type FoundType, listOf, rowOf, structOf } from './found-row.ts';
import { wideDecimal } from './stored-type.ts';

const scalars: Readonly<Record<ProtoScalar, DataType>> = {
  double: { kind: 'double' },
  float: { kind: 'float' },
  int32: { kind: 'integer' },
  sint32: { kind: 'integer' },
  sfixed32: { kind: 'integer' },
  uint32: { kind: 'long' },
  fixed32: { kind: 'long' },
  int64: { kind: 'long' },
  sint64: { kind: 'long' },
  sfixed64: { kind: 'long' },
  // Up to 2^64 - 1.
  uint64: { kind: 'decimal', precision: 20, scale: 0 },
  fixed64: { kind: 'decimal', precision: 20, scale: 0 },
  bool: { kind: 'boolean' },
  string: { kind: 'string' },
  bytes: { kind: 'binary' },
};

const known: Readonly<Record<string, DataType>> = {
  'google.protobuf.Timestamp': { kind: 'timestamp' },
  'google.protobuf.Duration': { kind: 'string' },
  'google.protobuf.Struct': { kind: 'string' },
  'google.protobuf.Value': { kind: 'string' },
  'google.protobuf.ListValue': { kind: 'string' },
  'google.protobuf.DoubleValue': { kind: 'double' },
  'google.protobuf.FloatValue': { kind: 'float' },
  'google.protobuf.Int64Value': { kind: 'long' },
  'google.protobuf.UInt64Value': { kind: 'decimal', precision: 20, scale: 0 },
  'google.protobuf.Int32Value': { kind: 'integer' },
  'google.protobuf.UInt32Value': { kind: 'long' },
  'google.protobuf.BoolValue': { kind: 'boolean' },
  'google.protobuf.StringValue': { kind: 'string' },
  'google.protobuf.BytesValue': { kind: 'binary' },
  'google.type.Date': { kind: 'date' },
};

/** Columns for the fields of a Protobuf message, by docs/spec/protobuf-decoding.md. */
export function rowOfProtobuf(message: ProtoMessage, limits: ColumnLimits): FoundRow {
  return rowOf(membersOf(message, limits, [message.name]));
}

type Within = readonly string[];

function membersOf(message: ProtoMessage, limits: ColumnLimits, within: Within): readonly (readonly [string, FoundType])[] {
  return message.fields().map((field) => [field.name, typeOfField(field, limits, within)]);
}

function typeOfField({ type, shape, group }: ProtoField, limits: ColumnLimits, within: Within): FoundType {
  if (group) return { why: 'a group' };
  const found = typeOf(type, limits, within);
  if (shape === 'one' || 'why' in found) return found;
  if (shape === 'list') return listOf(found);
  return { ...found, type: { kind: 'map', key: scalars[shape.mapFrom], value: found.type, valueNullable: true } };
}

function typeOf(type: ProtoType, limits: ColumnLimits, within: Within): FoundType {
  if (type.kind === 'scalar') return { type: scalars[type.scalar] };
  if (type.kind === 'enum') return { type: { kind: 'string' } };
  const meaning = known[type.name];
  if (meaning !== undefined) return { type: meaning };
  if (type.name === 'confluent.type.Decimal') return wideDecimal(undefined);
  if (type.name === 'google.type.TimeOfDay' && limits.timesOfDay) return { type: { kind: 'time' } };
  if (within.includes(type.name)) return { why: `${type.name} holds itself: write a struct as deep as you want it` };
  return structOf(membersOf(type, limits, [...within, type.name]), limits);
}
