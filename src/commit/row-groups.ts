import { assert } from '../base/assert.ts';
import { valueAt } from '../codec/rows.ts';
import { andBits, countOnes } from '../schema/bitmap.ts';
import type { Column, ColumnBatch } from '../schema/columns.ts';
import { parseDecimal } from '../schema/decimal-text.ts';
import type { TransformValue } from '../table/partitioning/apply-transform.ts';
import { partitionPathOf, partitionValueText } from '../table/partitioning/partition-path.ts';
import { dataFilePath } from '../table/partitioning/spread-path.ts';
import { transformColumn } from '../table/partitioning/transform-column.ts';
import type { PartitionRule, PartitionValues, WriteSpec } from '../table/staged-file.ts';
import { splitByPartition } from './partition-split.ts';

/** Rows of one partition. */
export interface TransformedGroup {
  /** Their numbers, ascending. */
  readonly rows: Int32Array;
  readonly partition: readonly TransformValue[];
  readonly partitionValues: PartitionValues;
  /** Path of a file of the partition below the spec's location. */
  readonly pathOf: (fileName: string) => string;
}

interface DerivedColumn {
  readonly rule: PartitionRule;
  readonly column: Column;
}

/**
 * Rows by the partition their columns say, by a partitioning of transforms.
 *
 * @throws ServiceError `PARTITION_TRANSFORM_REFUSED` (unsupported), `TOO_MANY_PARTITIONS` (invalid).
 */
export function transformedGroups(batch: ColumnBatch, spec: WriteSpec): readonly TransformedGroup[] {
  const derived = (spec.partitioning ?? []).map((rule) => ({
    rule,
    column: transformColumn(columnAt(batch, rule.source), rule.transform),
  }));
  const columns = derived.map(({ column }) => column);
  return splitByPartition(columns, batch.rowCount).map((rows) => groupOf(rows, derived, spec));
}

function groupOf(rows: Int32Array, derived: readonly DerivedColumn[], spec: WriteSpec): TransformedGroup {
  const first = rows[0] ?? 0;
  const parts = derived.map(({ rule, column }) => ({
    name: rule.name,
    transform: rule.transform,
    type: column.type,
    value: transformValue(column, first),
  }));
  const path = partitionPathOf(parts);
  return {
    rows,
    partition: parts.map(({ value }) => value),
    partitionValues: Object.fromEntries(
      parts.map(({ name, transform, type, value }) => [name, value === undefined ? undefined : partitionValueText(transform, type, value)]),
    ),
    pathOf: (fileName) => dataFilePath(spec.spread, path, fileName),
  };
}

function transformValue(column: Column, row: number): TransformValue {
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
