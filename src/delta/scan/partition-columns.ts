import { serviceError } from '../../base/errors.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { plainPartitionText } from '../../table/partitioning/partition-text.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { AddFile } from '../actions.ts';
import { physicalName } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** A partition column: its name in the schema, its key in the log's partition values, its type. */
export interface PartitionColumn {
  readonly table: string;
  readonly name: string;
  readonly key: string;
  readonly type: DataType;
}

/** The partition columns of a snapshot, in order. `table` is for messages. */
export function partitionsOf(snapshot: DeltaSnapshot, table: string = snapshot.tableId): readonly PartitionColumn[] {
  return snapshot.partitionColumns.map((column) => {
    const field = fieldOf(snapshot.schema, column);
    if (field === undefined) return { table, name: column, key: column, type: { kind: 'string' } };
    return { table, name: field.name, key: snapshot.mapping === 'none' ? field.name : physicalName(field), type: field.type };
  });
}

/** The values of one file in plain text (`ScanFile.partitionValues`), by the table's names. */
export function partitionTexts(values: PartitionValues, partitions: readonly PartitionColumn[], file: string): PartitionValues {
  return Object.fromEntries(partitions.map((column) => [column.name, partitionValueOf(values, column, file)]));
}

/** The values that all rows of a file have in columns, in their order; `undefined` when one of these is no partition column. */
export function partitionTextsOf(
  snapshot: DeltaSnapshot,
  table: string,
): (file: AddFile, fields: readonly Field[]) => readonly (string | undefined)[] | undefined {
  const columns = new Map(partitionsOf(snapshot, table).map((column) => [column.name, column]));
  return ({ partitionValues, path }, fields) => {
    const asked = fields.map(({ name }) => columns.get(name));
    if (!asked.every((column) => column !== undefined)) return undefined;
    return asked.map((column) => partitionValueOf(partitionValues, column, path));
  };
}

/**
 * One value of one file in plain text; `undefined` is null, which is also what the empty text reads as and a value that the log lacks.
 *
 * @throws ServiceError `DELTA_PARTITION_VALUE_INVALID` (corrupt).
 */
export function partitionValueOf(values: PartitionValues, column: PartitionColumn, file: string): string | undefined {
  const value = rawValue(values, column.key);
  if (value === undefined || value === '') return undefined;
  const text = plainPartitionText(value, column.type);
  if (text !== undefined) return text;
  throw serviceError.corrupt(
    'DELTA_PARTITION_VALUE_INVALID',
    `table "${column.table}": file "${file}" has the value "${value.slice(0, 100)}" for partition column "${column.name}", which is no ${column.type.kind}`,
    { hint: 'the log is damaged or was written by a broken writer; restore the commit from a copy' },
  );
}

/** Some writers spell partition columns in another case than the schema does. */
function fieldOf(schema: StructType, name: string): StructType['fields'][number] | undefined {
  const folded = name.toLowerCase();
  return schema.fields.find((field) => field.name === name) ?? schema.fields.find((field) => field.name.toLowerCase() === folded);
}

function rawValue(values: PartitionValues, key: string): string | undefined {
  if (Object.hasOwn(values, key)) return values[key];
  const folded = key.toLowerCase();
  const spelling = Object.keys(values).find((name) => name.toLowerCase() === folded);
  return spelling === undefined ? undefined : values[spelling];
}
