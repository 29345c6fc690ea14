import { serviceError } from '../base/errors.ts';
import type { Column } from '../schema/columns.ts';
import { type Grouping, groupRows } from './group-rows.ts';

/** More partitions than this in one batch are a mistake in the choice of the partition columns, and would be as many tiny files. */
export const maxPartitionsPerBatch = 10_000;

/**
 * Groups rows by equal values of the partition columns: row numbers ascending within a group, groups in order of their first row.
 * Values are equal when their bits are; null is a value of its own.
 *
 * @throws ServiceError `TOO_MANY_PARTITIONS` (kind invalid) beyond `maxPartitionsPerBatch`.
 */
export function splitByPartition(columns: readonly Column[], rowCount: number): readonly Int32Array[] {
  return collect(groupRows(columns, rowCount, refuseTooMany), rowCount);
}

function collect(groups: Grouping, rowCount: number): readonly Int32Array[] {
  const sizes = new Int32Array(groups.count);
  for (let row = 0; row < rowCount; row++) {
    const code = groups.codes[row] ?? 0;
    sizes[code] = (sizes[code] ?? 0) + 1;
  }
  const rows = Array.from(sizes, (size) => new Int32Array(size));
  const filled = new Int32Array(groups.count);
  for (let row = 0; row < rowCount; row++) {
    const code = groups.codes[row] ?? 0;
    const at = filled[code] ?? 0;
    const group = rows[code];
    if (group !== undefined) group[at] = row;
    filled[code] = at + 1;
  }
  return rows;
}

function refuseTooMany(count: number): void {
  if (count <= maxPartitionsPerBatch) return;
  throw serviceError.invalid('TOO_MANY_PARTITIONS', `one batch has rows of more than ${maxPartitionsPerBatch} partitions`, {
    hint: 'partition the table by columns with fewer values',
  });
}
