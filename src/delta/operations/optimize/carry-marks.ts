import type { Engine } from '../../../engine/engine.ts';
import { statementTime } from '../../../expr/time-zone.ts';
import { deletedCopies } from '../../../rows/keyed/deleted-copies.ts';
import { RowWork } from '../../../rows/row-work.ts';
import { keyColumnsOf } from '../../../table/keyed.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { markDeletedRows } from '../../row-level/mark-deleted-rows.ts';
import { deltaRowTarget } from '../../row-level/row-target.ts';
import { fileScanOf } from '../../scan/file-scan.ts';
import type { OperationContext } from '../operation-context.ts';
import type { CarryMarks, RewrittenBin } from './rewrite-bins.ts';

/**
 * Follows the rows of a keyed table that are deleted while they are copied: what is left of the inputs is replaced, and copies of rows that are not among
 * it are marked as deleted, wherever those went. Only for tables that mark rows.
 */
export function marksByKey(context: OperationContext, engine: Engine): CarryMarks {
  return async (bin, fresh, signal) => {
    const keyColumns = keyColumnsOf(fresh);
    const paths = new Set(bin.inputs.map(({ storedPath }) => storedPath));
    const inputs = [...fresh.files()].filter(({ storedPath }) => paths.has(storedPath));
    if (keyColumns.length === 0 || inputs.length === 0 || !marksRows(fresh)) return undefined;
    const work = new RowWork({ target: deltaRowTarget(context.name), engine, signal, now: statementTime(context), clock: context.clock });
    try {
      const copies = await work.holding(engine.scan(fileScanOf(context, fresh, bin.written), { withPositions: true }, signal));
      const live = await work.holding(engine.scan(fileScanOf(context, fresh, inputs), undefined, signal));
      const positions = await deletedCopies(work, { copies, live, keyColumns });
      if (positions === undefined) return undefined;
      const vectors: { readonly storedPath: string }[] = [];
      const table = { work, scan: (files: RewrittenBin['written']) => engine.scan(fileScanOf(context, fresh, files), undefined, signal) };
      const deleted = { files: bin.written, positions };
      const { marked, removed } = await markDeletedRows(context, table, deleted, (storedPath) => vectors.push({ storedPath }));
      const marks = new Map(marked.map(({ before, after }) => [before, { ...after, dataChange: false }]));
      const outputs = bin.written.filter((file) => !removed.includes(file)).map((file) => marks.get(file) ?? file);
      return { inputs, written: bin.written, outputs, vectors };
    } finally {
      await work.release();
    }
  };
}

function marksRows({ settings, protocol }: DeltaSnapshot): boolean {
  return settings.deletionVectors && protocol.writerFeatures?.includes('deletionVectors') === true;
}
