import { AnalysisException } from '../../base/analysis-exception.ts';
import { columnExists } from '../../schema/column-exists.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import { duplicatePath, innerFields } from '../../schema/type-tree.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { changeFields } from '../../table/change-columns.ts';
import { noPartitionColumn } from '../../table/partitioning/partition-errors.ts';
import { visitFields } from '../feature-catalogue.ts';

/** Columns the change feed adds to rows. */
export const feedColumns: readonly string[] = changeFields.map((field) => field.name);

const partitionable: ReadonlySet<DataType['kind']> = new Set([
  'boolean',
  'byte',
  'short',
  'integer',
  'long',
  'float',
  'double',
  'decimal',
  'string',
  'date',
  'timestamp',
  'timestamp_ntz',
]);

export interface SchemaRules {
  readonly partitionColumns: readonly string[];
  /** Names of any kind are fine: files have names of their own. */
  readonly mapped: boolean;
  readonly changeDataFeed: boolean;
}

/**
 * Whether a table can have these columns.
 *
 * @throws AnalysisException `DELTA_EMPTY_SCHEMA`, `COLUMN_ALREADY_EXISTS` (42711), `DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES` (42K05),
 * `DELTA_UNSUPPORTED_DATA_TYPES` (0AKDC), `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS` (42711), `ALL_PARTITION_COLUMNS_NOT_ALLOWED` (KD005), `_LEGACY_ERROR_TEMP_3060` for a partition
 * column that is none, `DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED` (42601), `INVALID_PARTITION_COLUMN_DATA_TYPE` (0A000).
 */
export function checkSchema(schema: StructType, rules: SchemaRules): void {
  if (schema.fields.length === 0) throw emptySchema();
  refuseForeignTypes(schema);
  const twice = duplicatePath(schema);
  if (twice !== undefined) throw twiceNamed([...twice.slice(0, -1), twice.at(-1)?.toLowerCase()].join('.'));
  if (!rules.mapped) checkNames(schema);
  if (rules.changeDataFeed) checkFeedColumns(schema);
  checkPartitionColumns(schema, rules.partitionColumns);
}

/** @throws AnalysisException `DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS`. */
export function checkFeedColumns(schema: StructType): void {
  const reserved = schema.fields.map((field) => field.name).filter((name) => feedColumns.includes(name.toLowerCase()));
  if (reserved.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS',
    message:
      `Unable to enable Change Data Capture on the table. The table already contains reserved columns [${reserved.join(',')}] that will be ` +
      "used internally as metadata for the table's Change Data Feed. To enable Change Data Feed on the table rename/drop these columns.",
    parameters: { columnList: `[${reserved.join(',')}]` },
    hint: 'rename the columns, or leave the change feed off',
  });
}

/** @throws AnalysisException `DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES`. */
export function checkNames(schema: StructType): void {
  const invalid: string[] = [];
  visitFields(schema, ({ name }) => {
    if (name === '' || /[ ,;{}()\n\t=]/.test(name)) invalid.push(name);
  });
  if (invalid.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES',
    message:
      "Found invalid character(s) among ' ,;{}()\\n\\t=' in the column names of your schema. Invalid column names: " +
      `${invalid.join(', ')}. Please use other characters and try again. Alternatively, enable Column Mapping to keep using these characters.`,
    parameters: { invalidColumnNames: invalid.join(', ') },
    hint: "set 'delta.columnMapping.mode' = 'name', or choose other names",
  });
}

function twiceNamed(name: string): AnalysisException {
  return columnExists(name, { alias: 'DELTA_DUPLICATE_COLUMNS_FOUND', hint: 'the case of a name does not count' });
}

/** Types that other formats have. */
const foreignKinds: ReadonlySet<DataType['kind']> = new Set(['time', 'timestamp_ns', 'timestamp_ntz_ns']);

function refuseForeignTypes(schema: StructType): void {
  const found: string[] = [];
  const visit = (type: DataType, path: string): void => {
    if (foreignKinds.has(type.kind)) found.push(`${path}: ${sqlTypeName(type)}`);
    for (const field of innerFields(type)) visit(field.type, path === '' ? field.name : `${path}.${field.name}`);
  };
  visit(schema, '');
  if (found.length === 0) return;
  throw new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_DATA_TYPES',
    message: `Found columns using unsupported data types: [${found.join(', ')}].`,
    parameters: { dataTypeList: `[${found.join(', ')}]` },
    hint: 'cast the columns to TIMESTAMP, BIGINT or STRING, or make an Iceberg table',
  });
}

function checkPartitionColumns(schema: StructType, partitionColumns: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of partitionColumns) {
    const field = schema.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw noPartitionColumn(name, schema);
    if (field.metadata?.['delta.identity.start'] !== undefined) throw partitionedByIdentity(name);
    if (seen.has(name)) throw twiceNamed(name);
    seen.add(name);
    if (!partitionable.has(field.type.kind)) throw unfitPartitionColumn(field.type);
  }
  if (partitionColumns.length < schema.fields.length) return;
  throw new AnalysisException({
    errorClass: 'ALL_PARTITION_COLUMNS_NOT_ALLOWED',
    message: 'Cannot use all columns for partition columns.',
    hint: 'leave at least one column out of the partitioning',
  });
}

function partitionedByIdentity(colName: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED',
    message: `PARTITIONED BY IDENTITY column ${colName} is not supported.`,
    parameters: { colName },
    hint: 'each of its values would be a partition of one row',
  });
}

function unfitPartitionColumn(type: DataType): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_PARTITION_COLUMN_DATA_TYPE',
    message: `Cannot use "${sqlTypeName(type)}" for partition column.`,
    parameters: { type: `"${sqlTypeName(type)}"` },
    hint: 'partition by a column of a plain type; binary values have no safe spelling as partition values',
  });
}

function emptySchema(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_EMPTY_SCHEMA',
    alias: 'DELTA_SCHEMA_NOT_PROVIDED',
    message: 'Table schema is not provided. Please provide the schema (column definition) of the table.',
    hint: 'a table needs at least one column',
  });
}
