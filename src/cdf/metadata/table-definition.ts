import type { JsonObject } from '../../base/bigint-json.ts';
import { declaredTypeKey } from '../../schema/declared-length.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { StructShape } from '../encoding/event-type.ts';
import { listOf, optional, required, shape } from './record-shape.ts';

const columnShape = shape('io.debezium.connector.schema.Column', [
  required('name', 'string'),
  required('jdbcType', 'int32'),
  optional('nativeType', 'int32'),
  required('typeName', 'string'),
  optional('typeExpression', 'string'),
  optional('charsetName', 'string'),
  optional('length', 'int32'),
  optional('scale', 'int32'),
  required('position', 'int32'),
  optional('optional', 'boolean'),
  optional('autoIncremented', 'boolean'),
  optional('generated', 'boolean'),
  optional('comment', 'string'),
  optional('defaultValueExpression', 'string'),
  optional('enumValues', listOf('string')),
]);

/** What Debezium tells of a table, by its names. */
export const tableShape: StructShape = shape('io.debezium.connector.schema.Table', [
  optional('defaultCharsetName', 'string'),
  optional('primaryKeyColumnNames', listOf('string')),
  required('columns', listOf(columnShape)),
  optional('comment', 'string'),
]);

/** The columns that a feed publishes, with its key, as `tableShape`. `typeExpression` is the whole type in SQL. */
export function tableDefinition({ fields }: StructType, keyColumns: readonly string[]): JsonObject {
  return { primaryKeyColumnNames: keyColumns, columns: fields.map(columnOf) };
}

function columnOf(field: Field, index: number): JsonObject {
  const { name, type, nullable, metadata } = field;
  const declared = metadata?.[declaredTypeKey];
  const comment = metadata?.['comment'];
  const whole = typeof declared === 'string' && type.kind === 'string' ? declared.toUpperCase() : sqlTypeName(type);
  return {
    name,
    jdbcType: jdbcTypes[type.kind],
    typeName: whole.replace(/[(<].*$/s, ''),
    typeExpression: whole,
    ...lengthOf(type, whole),
    position: index + 1,
    optional: nullable,
    autoIncremented: false,
    generated: false,
    comment: typeof comment === 'string' ? comment : undefined,
  };
}

function lengthOf(type: DataType, whole: string): JsonObject {
  if (type.kind === 'decimal') return { length: type.precision, scale: type.scale };
  if (type.kind === 'binary') return { length: type.fixedLength };
  const characters = type.kind === 'string' ? /\((\d+)\)$/.exec(whole)?.[1] : undefined;
  return characters === undefined ? {} : { length: Number(characters) };
}

/** `java.sql.Types`. */
const jdbcTypes: Readonly<Record<DataType['kind'], number>> = {
  boolean: 16,
  byte: -6,
  short: 5,
  integer: 4,
  long: -5,
  float: 7,
  double: 8,
  decimal: 3,
  string: 12,
  binary: -3,
  date: 91,
  time: 92,
  timestamp: 2014,
  timestamp_ns: 2014,
  timestamp_ntz: 93,
  timestamp_ntz_ns: 93,
  struct: 2002,
  list: 2003,
  map: 2000,
  variant: 1111,
  void: 0,
};
