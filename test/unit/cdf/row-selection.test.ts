import { describe, expect, it } from 'vitest';
import { RowSelection } from '../../../src/cdf/row-selection.ts';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { rowsOf } from '../../../src/codec/rows.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { ChangeFile } from '../../../src/table/changes.ts';

const schema = { kind: 'struct', fields: [{ name: 'v', type: { kind: 'string' }, nullable: true }] } as const;
/** Rows a to g in batches of three, one and three. */
const batches = [['a', 'b', 'c'], ['d'], ['e', 'f', 'g']].map((values) =>
  buildBatch(
    schema,
    values.map((v) => ({ v })),
  ),
);
const selected = (rows: Pick<ChangeFile, 'deletedRows' | 'onlyRows'>): readonly ColumnBatch[] => {
  const selection = new RowSelection(rows);
  return batches.map((batch) => selection.of(batch));
};
const changed = (rows: Pick<ChangeFile, 'deletedRows' | 'onlyRows'>): string =>
  Array.from(rowsOf(selected(rows)), (row) => (typeof row['v'] === 'string' ? row['v'] : '?')).join('');
const positions = (...values: readonly number[]): BigInt64Array => BigInt64Array.from(values.map(BigInt));

describe('the rows of a file that are changes', () => {
  it('are all rows of a file without a selection', () => {
    expect(changed({})).toBe('abcdefg');
    expect(selected({})[0]).toBe(batches[0]);
  });

  it('are those not deleted before, counted over all batches', () => {
    expect(changed({ deletedRows: positions(0, 3, 6) })).toBe('bcef');
    expect(changed({ deletedRows: positions(0, 1, 2, 3, 4, 5, 6) })).toBe('');
    expect(changed({ deletedRows: positions() })).toBe('abcdefg');
  });

  it('are the only ones a version concerns', () => {
    expect(changed({ onlyRows: positions(2, 4) })).toBe('ce');
    expect(changed({ onlyRows: positions() })).toBe('');
    expect(changed({ onlyRows: positions(0, 2, 6), deletedRows: positions(2) })).toBe('ag');
  });
});
