import { isValidAt } from '../../schema/bitmap.ts';
import type { BytesColumn, Column, ColumnBatch } from '../../schema/columns.ts';
import { takeColumn, takeRows } from '../../schema/take.ts';
import { groupRows } from '../group-rows.ts';
import { AbsentBits, type AbsentColumn } from './absent-bits.ts';
import { rowOrder } from './row-order.ts';

export interface RowsOfKeys {
  readonly batch: ColumnBatch;
  readonly keys: readonly Column[];
  /** None: the order of the batch. */
  readonly order: readonly Column[];
  /** Bits of the rows that delete their key; asked for where some row is not whole. */
  readonly deleted: () => Uint8Array;
  /** What rows leave as it is; `undefined`: they are whole. */
  readonly absent: AbsentColumn | undefined;
  /** No key has a row elsewhere: what is left as it is, is null. */
  readonly onNothing: boolean;
}

/** What a row that leaves columns as they are goes on from, where it is not another row of the batch. */
const [elsewhere, nothing] = [-1, -2];

/**
 * The last row of each key by the order, of rows of one order the last that came, in the order of the batch; keys are equal when the bits of all their
 * columns are. A row that leaves columns as they are has them from the row before it; what that one leaves too stays left.
 */
export function lastRows(rows: RowsOfKeys): ColumnBatch {
  const { batch, absent } = rows;
  const { rowCount } = batch;
  const bits = absent === undefined ? undefined : new AbsentBits(batch.columns[absent.index] as BytesColumn);
  const parts = bits?.any === true ? { before: new Int32Array(rowCount), deleted: rows.deleted() } : undefined;
  const { codes, count } = groupRows(rows.keys, rowCount, () => undefined);
  const last = new Int32Array(count).fill(-1);
  const compare = rowOrder(rows.order);
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] ?? 0;
    const known = last[code] ?? -1;
    if (known >= 0 && compare(row, known) < 0) continue;
    if (parts !== undefined) {
      const { before, deleted } = parts;
      const isAlone = isValidAt(deleted, row) || (known < 0 ? rows.onNothing : isValidAt(deleted, known));
      before[row] = isAlone ? nothing : known < 0 ? elsewhere : known;
    }
    last[code] = row;
  }
  const kept = new Int32Array(count);
  let at = 0;
  for (let row = 0; row < rowCount; row++) if (last[codes[row] ?? 0] === row) kept[at++] = row;
  if (parts !== undefined && bits !== undefined && absent !== undefined)
    return mergedRows(batch, kept, { absent, bits, before: parts.before });
  return count === rowCount ? batch : takeRows(batch, kept);
}

function mergedRows(
  batch: ColumnBatch,
  last: Int32Array,
  { absent, bits, before }: { readonly absent: AbsentColumn; readonly bits: AbsentBits; readonly before: Int32Array },
): ColumnBatch {
  const left = AbsentBits.empty(last.length, absent.columns.length);
  const columns = batch.columns.map((column) => column);
  const isMerged = new Set([absent.index]);
  absent.columns.forEach((index, bit) => {
    const places = Int32Array.from(last, (row, at) => {
      let place = row;
      for (;;) {
        const next = before[place] ?? nothing;
        if (!bits.has(place, bit) || next === nothing) return place;
        if (next === elsewhere) {
          left.set(at, bit);
          return place;
        }
        place = next;
      }
    });
    isMerged.add(index);
    columns[index] = takeColumn(batch.columns[index] as Column, places);
  });
  columns.forEach((column, index) => {
    if (!isMerged.has(index)) columns[index] = takeColumn(column, last);
  });
  columns[absent.index] = left.column();
  return { schema: batch.schema, rowCount: last.length, columns };
}
