import type { DataType, StructType } from '../../schema/types.ts';
import type { ValueForms } from './value-forms.ts';

/** What values are, in the terms of Kafka Connect: every schema of an encoding is made from this, and every value is written by it. */
export type EventType = ScalarType | StructShape | ListShape | MapShape;

export type Primitive = 'boolean' | 'int8' | 'int16' | 'int32' | 'int64' | 'float' | 'double' | 'string' | 'bytes';

export interface ScalarType {
  readonly kind: 'scalar';
  readonly primitive: Primitive;
  /** What the value means, by the name that Connect and Debezium have for it; always of version 1. */
  readonly name?: string | undefined;
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

export interface StructShape {
  readonly kind: 'struct';
  /** Dotted; `undefined`: it is named by where it is. */
  readonly name?: string | undefined;
  readonly version?: number | undefined;
  readonly fields: readonly EventField[];
}

export interface ListShape {
  readonly kind: 'list';
  readonly element: EventType;
  readonly elementOptional: boolean;
}

/** Keys are text. */
export interface MapShape {
  readonly kind: 'map';
  readonly value: EventType;
  readonly valueOptional: boolean;
}

export interface EventField {
  readonly name: string;
  readonly type: EventType;
  readonly optional: boolean;
  /** Number of the field where fields have numbers: the column's id, which stays when columns come, go and are renamed; else its place. */
  readonly number: number;
}

/** The fields of a row. */
export function rowFields({ fields }: StructType, forms: ValueForms): readonly EventField[] {
  const haveIds = fields.every(({ id }) => id !== undefined && id > 0);
  return fields.map(({ name, type, nullable, id }, position) => ({
    name,
    type: eventType(type, forms),
    optional: nullable,
    number: fieldNumber(haveIds && id !== undefined ? id : position + 1),
  }));
}

/** Protobuf keeps the numbers 19000 to 19999 for itself. */
function fieldNumber(number: number): number {
  return number < 19_000 ? number : number + 1_000;
}

function eventType(type: DataType, forms: ValueForms): EventType {
  switch (type.kind) {
    case 'struct':
      return { kind: 'struct', fields: rowFields(type, forms) };
    case 'list':
      return { kind: 'list', element: eventType(type.element, forms), elementOptional: type.elementNullable };
    case 'map': {
      const value = eventType(type.value, forms);
      if (isTextMap(type, forms)) return { kind: 'map', value, valueOptional: type.valueNullable };
      const entry: readonly EventField[] = [
        { name: 'key', type: eventType(type.key, forms), optional: false, number: 1 },
        { name: 'value', type: value, optional: type.valueNullable, number: 2 },
      ];
      return { kind: 'list', element: { kind: 'struct', fields: entry }, elementOptional: false };
    }
    default:
      return scalarType(type, forms);
  }
}

/** Whether the map's keys are names; else it is a list of entries. */
function isTextMap({ key }: Extract<DataType, { kind: 'map' }>, { textMaps }: ValueForms): boolean {
  if (textMaps === 'none') return false;
  return textMaps === 'of-text' ? key.kind === 'string' : !['struct', 'list', 'map', 'variant'].includes(key.kind);
}

const named = (primitive: Primitive, name: string): ScalarType => ({ kind: 'scalar', primitive, name });
const plain = (primitive: Primitive): ScalarType => ({ kind: 'scalar', primitive });

const plainTypes = {
  boolean: plain('boolean'),
  byte: plain('int8'),
  short: plain('int16'),
  integer: plain('int32'),
  long: plain('int64'),
  float: plain('float'),
  double: plain('double'),
  string: plain('string'),
  void: plain('string'),
  // Instants have a zone, whatever becomes of local times.
  timestamp: named('string', 'io.debezium.time.ZonedTimestamp'),
  timestamp_ns: named('string', 'io.debezium.time.ZonedTimestamp'),
  variant: named('string', 'io.debezium.data.Json'),
} as const;

type TimeKind = 'date' | 'time' | 'timestamp_ntz' | 'timestamp_ntz_ns';

const timeTypes: Readonly<Record<ValueForms['times'], Readonly<Record<TimeKind, ScalarType>>>> = {
  text: { date: plain('string'), time: plain('string'), timestamp_ntz: plain('string'), timestamp_ntz_ns: plain('string') },
  isostring: {
    date: named('string', 'io.debezium.time.IsoDate'),
    time: named('string', 'io.debezium.time.IsoTime'),
    timestamp_ntz: named('string', 'io.debezium.time.IsoTimestamp'),
    timestamp_ntz_ns: named('string', 'io.debezium.time.IsoTimestamp'),
  },
  adaptive: {
    date: named('int32', 'io.debezium.time.Date'),
    time: named('int64', 'io.debezium.time.MicroTime'),
    timestamp_ntz: named('int64', 'io.debezium.time.MicroTimestamp'),
    timestamp_ntz_ns: named('int64', 'io.debezium.time.NanoTimestamp'),
  },
  connect: {
    date: named('int32', 'org.apache.kafka.connect.data.Date'),
    time: named('int32', 'org.apache.kafka.connect.data.Time'),
    timestamp_ntz: named('int64', 'org.apache.kafka.connect.data.Timestamp'),
    timestamp_ntz_ns: named('int64', 'org.apache.kafka.connect.data.Timestamp'),
  },
};

function scalarType(type: Exclude<DataType, { kind: 'struct' | 'list' | 'map' }>, forms: ValueForms): ScalarType {
  switch (type.kind) {
    case 'decimal':
      return decimalType(type, forms);
    case 'binary':
      return plain(forms.binary === 'bytes' ? 'bytes' : 'string');
    case 'date':
    case 'time':
    case 'timestamp_ntz':
    case 'timestamp_ntz_ns':
      return timeTypes[forms.times][type.kind];
    default:
      return plainTypes[type.kind];
  }
}

function decimalType({ precision, scale }: { readonly precision: number; readonly scale: number }, { decimals }: ValueForms): ScalarType {
  if (decimals !== 'precise') return plain(decimals === 'double' ? 'double' : 'string');
  const parameters = { scale: String(scale), 'connect.decimal.precision': String(precision) };
  return { kind: 'scalar', primitive: 'bytes', name: decimalName, parameters };
}

export const decimalName: string = 'org.apache.kafka.connect.data.Decimal';
