import type { DataType } from '../../schema/types.ts';
import type { ConnectSchema } from '../decode/connect/connect-schema.ts';
import { type ColumnLimits, type FoundRow, type FoundType, listOf, mapOf, rowOf, structOf } from './found-row.ts';
import { timeColumn, wideDecimal } from './stored-type.ts';

const plain: Readonly<Record<string, DataType['kind']>> = {
  boolean: 'boolean',
  int8: 'byte',
  int16: 'short',
  int32: 'integer',
  int64: 'long',
  float: 'float',
  float32: 'float',
  double: 'double',
  float64: 'double',
  string: 'string',
  bytes: 'binary',
};

const instantTexts: ReadonlySet<string> = new Set(['io.debezium.time.ZonedTimestamp', 'io.debezium.time.IsoTimestamp']);

/** Columns for the fields of a struct of Kafka Connect, by docs/spec/debezium-events.md. */
export function rowOfConnect(schema: ConnectSchema, limits: ColumnLimits): FoundRow {
  return rowOf(membersOf(schema, limits));
}

function membersOf({ fields }: ConnectSchema, limits: ColumnLimits): readonly (readonly [string, FoundType])[] {
  return [...fields].map(([name, schema]) => [name, typeOf(schema, limits)]);
}

function typeOf(schema: ConnectSchema, limits: ColumnLimits): FoundType {
  const { type, name, scale, items, values } = schema;
  if (name === 'org.apache.kafka.connect.data.Decimal') return wideDecimal(scale ?? 0);
  if (name === 'io.debezium.data.VariableScaleDecimal') return wideDecimal(undefined);
  if (name !== undefined && instantTexts.has(name)) return { type: { kind: 'timestamp' } };
  if (type === 'struct') return structOf(membersOf(schema, limits), limits);
  if (type === 'array') return items === undefined ? { why: 'a list without the type of its elements' } : listOf(typeOf(items, limits));
  if (type === 'map') return values === undefined ? { why: 'a map without the type of its values' } : mapOf(typeOf(values, limits));
  const kind = plain[type];
  if (kind === undefined) return { why: `the type "${type}" is not known` };
  return timeColumn(name, limits) ?? { type: { kind } as DataType };
}
