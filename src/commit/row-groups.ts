import { assert } from '../base/assert.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import { valueAt } from '../codec/rows.ts';
import { andBits, countOnes } from '../schema/bitmap.ts';
import type { Column, ColumnBatch } from '../schema/columns.ts';
import { parseDecimal } from '../schema/decimal-text.ts';
import type { TransformValue } from '../table/partitioning/apply-transform.ts';
import { dataFileStyles } from '../table/partitioning/data-file-style.ts';
import type { PartitionPart } from '../table/partitioning/partition-path.ts';
import type { Transform } from '../table/partitioning/transform.ts';
import { transformColumn } from '../table/partitioning/transform-column.ts';
import type { StagedFile, WriteSpec } from '../table/staged-file.ts';
import { splitByPartition } from './partition-split.ts';

/** Rows of one partition. */
export interface RowGroup extends Pick<StagedFile, 'partition' | 'partitionValues'> {
  /** Their numbers, ascending. */
  readonly rows: Int32Array;
  /** Path of a file of the partition below the spec's location. */
  readonly pathOf: (fileName: string) => string;
}

/**
 * Rows by the partition their columns say.
 *
 * @throws ServiceError `PARTITION_TRANSFORM_REFUSED` (unsupported), `TOO_MANY_PARTITIONS`, `PARTITION_VALUE_MISSING` (invalid).
 */
export function rowGroups(batch: ColumnBatch, spec: WriteSpec): readonly RowGroup[] {
  const rules = spec.partitioning ?? spec.partitionColumns.map((name) => ({ name, source: [name], transform: identity }));
  const derived = rules.map((rule) => ({ rule, column: transformColumn(columnAt(batch, rule.source), rule.transform) }));
  const columns = derived.map(({ column }) => column);
  return splitByPartition(columns, batch.rowCount).map((rows) => {
    const first = rows[0] ?? 0;
    const parts = derived.map(({ rule, column }): PartitionPart => ({ ...rule, type: column.type, value: valueOf(column, first) }));
    return groupOf(rows, parts, spec);
  });
}

const identity: Transform = { kind: 'identity' };

function groupOf(rows: Int32Array, parts: readonly PartitionPart[], spec: WriteSpec): RowGroup {
  const style = dataFileStyles[spec.partitionPathStyle];
  const partitionValues = Object.fromEntries(parts.map((part) => [part.name, style.text(part)]));
  for (const name of spec.partitionColumns) {
    const required = spec.schema.fields.some((field) => field.name === name && !field.nullable);
    if (required && partitionValues[name] === undefined) throw missingValue(name);
  }
  return {
    rows,
    partition: spec.partitioning && parts.map(({ value }) => value),
    partitionValues,
    pathOf: (fileName) => style.path(spec, parts, partitionValues, fileName),
  };
}

function missingValue(name: string): ServiceError {
  return serviceError.invalid(
    'PARTITION_VALUE_MISSING',
    `partition column "${name}" is required but a row has null or the empty string, which the log cannot tell apart`,
    { hint: 'make the column nullable or keep empty values out of it' },
  );
}

function valueOf(column: Column, row: number): TransformValue {
  const value = valueAt(column, row);
  if (value === null) return undefined;
  if (column.type.kind === 'decimal' && typeof value === 'string') return parseDecimal(value, column.type.precision, column.type.scale);
  assert(typeof value !== 'object' || value instanceof Uint8Array, 'a partition value of a scalar type');
  return value;
}

/** The column at a path of names, null where a struct around it is. */
function columnAt(batch: ColumnBatch, path: readonly string[]): Column {
  const [first, ...rest] = path;
  let column = batch.columns[batch.schema.fields.findIndex(({ name }) => name === first)];
  for (const name of rest) column = memberOf(column, name);
  assert(column !== undefined, `the batch has no column "${path.join('.')}"`);
  return column;
}

function memberOf(column: Column | undefined, name: string): Column | undefined {
  if (column?.layout !== 'struct' || column.type.kind !== 'struct') return undefined;
  const member = column.children[column.type.fields.findIndex((field) => field.name === name)];
  if (member === undefined) return undefined;
  const validity = andBits(column.validity, member.validity, member.length);
  return { ...member, validity, nullCount: validity === undefined ? 0 : member.length - countOnes(validity, member.length) };
}
