import { throwIfAborted } from '../../base/abort.ts';
import { present } from '../../base/assert.ts';
import type { Column } from '../../schema/columns.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowWork } from '../row-work.ts';
import { joinedPositions } from './merged-positions.ts';

/** Collects the ordered pairs of a relation into one list for each file. */
export async function* positionsByFile(
  work: RowWork,
  relation: Relation,
): AsyncGenerator<{ readonly index: number; readonly positions: BigInt64Array }> {
  let current: { readonly index: number; readonly chunks: BigInt64Array[] } | undefined;
  for await (const batch of work.engine.read(relation, work.signal)) {
    throwIfAborted(work.signal);
    const indexes = longs(batch.columns[0]);
    const positions = longs(batch.columns[1]);
    for (let from = 0; from < batch.rowCount; ) {
      const value = indexes[from] ?? 0n;
      let until = from + 1;
      while (until < batch.rowCount && indexes[until] === value) until += 1;
      const index = Number(value);
      if (current !== undefined && current.index !== index) {
        yield { index: current.index, positions: joinedPositions(current.chunks) };
        current = undefined;
      }
      current ??= { index, chunks: [] };
      // A batch may be a view of memory that is used again.
      current.chunks.push(positions.slice(from, until));
      from = until;
    }
  }
  if (current !== undefined) yield { index: current.index, positions: joinedPositions(current.chunks) };
}

function longs(column: Column | undefined): BigInt64Array {
  const values = column?.layout === 'fixed' && column.nullCount === 0 ? column.values : undefined;
  return present(values instanceof BigInt64Array ? values : undefined, 'positions must be 64-bit numbers without nulls');
}
