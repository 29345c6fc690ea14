import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import { withoutNull } from '../../codec/avro/avro-type.ts';
import { type ColumnLimits, type FoundRow, type FoundType, listOf, mapOf, rowOf, structOf } from './found-row.ts';
import { decimalColumn, timeColumn, wideDecimal } from './stored-type.ts';

/** Columns for the fields of an Avro record, by docs/spec/avro-decoding.md. */
export function rowOfAvro(record: AvroRecord, limits: ColumnLimits): FoundRow {
  return rowOf(membersOf(record, limits));
}

function membersOf({ fields }: AvroRecord, limits: ColumnLimits): readonly (readonly [string, FoundType])[] {
  return fields.map(({ name, type }) => [name, typeOf(type, limits)]);
}

function typeOf(given: AvroType, limits: ColumnLimits): FoundType {
  const { type } = withoutNull(given);
  switch (type.kind) {
    case 'record':
      if (type.name === 'io.debezium.data.VariableScaleDecimal') return wideDecimal(undefined);
      return structOf(membersOf(type, limits), limits);
    case 'array':
      return type.map ? mapEntries(type.items, limits) : listOf(typeOf(type.items, limits));
    case 'map':
      return mapOf(typeOf(type.values, limits));
    case 'union':
      return {
        why: `a union of ${type.branches.map(({ kind }) => kind).join(', ')}: give the column the type of the branch that you want`,
      };
    case 'enum':
      return { type: { kind: 'string' } };
    case 'fixed':
    case 'bytes': {
      const { logicalType, precision, scale } = type;
      if (logicalType === 'decimal' && precision !== undefined) return decimalColumn(precision, scale ?? 0);
      return { type: { kind: logicalType === 'uuid' || logicalType === 'duration' ? 'string' : 'binary' } };
    }
    case 'null':
      return { why: 'nothing but null' };
    case 'int':
    case 'long': {
      const time = timeColumn(type.connectName, limits) ?? timeColumn(type.logicalType, limits);
      return time ?? { type: { kind: type.kind === 'int' ? 'integer' : 'long' } };
    }
    default:
      return { type: { kind: type.kind } };
  }
}

/** A list of records of key and value stands for a map. */
function mapEntries(items: AvroType, limits: ColumnLimits): FoundType {
  const value = items.kind === 'record' ? items.fields.find(({ name }) => name === 'value') : undefined;
  const key = items.kind === 'record' ? items.fields.find(({ name }) => name === 'key') : undefined;
  const keyType = key === undefined ? undefined : typeOf(key.type, limits);
  if (value === undefined || keyType === undefined || 'why' in keyType) return { why: 'a map whose keys have no column type' };
  const values = typeOf(value.type, limits);
  if ('why' in values) return values;
  return { ...values, type: { kind: 'map', key: keyType.type, value: values.type, valueNullable: true } };
}
