import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { countRows } from '../../rows/change/engine-counts.ts';
import { findMatchedRows, touchedFiles } from '../../rows/change/find-touched-files.ts';
import { hiddenNames } from '../../rows/change/hidden-names.ts';
import { touchedColumn } from '../../rows/change/rewrite-sql.ts';
import { RowScope } from '../../rows/change/row-scope.ts';
import { withScan } from '../../rows/change/target-scan.ts';
import type { DeleteRequest, RowOperationResult } from '../../table/row-operations.ts';
import { type LiveFile, liveFiles } from '../scan/live-files.ts';
import type { TableContext } from '../table-context.ts';
import { filesOfPartitions } from './files-of-partitions.ts';
import { rewriteFiles, withItsDeletes } from './rewrite-files.ts';
import { marksRows, validationFor } from './row-modes.ts';
import { type IcebergRowWork, type PlannedChange, runRowOperation } from './row-work.ts';

/**
 * DELETE; one snapshot, or none when no row matches. Without a condition, or with one that partition values alone decide, files are only
 * removed: nothing is read.
 */
export function deleteRows(context: TableContext, request: DeleteRequest): Promise<RowOperationResult> {
  return runRowOperation(context, request, (work) => planDelete(work, request));
}

async function planDelete(work: IcebergRowWork, { condition, alias }: DeleteRequest): Promise<PlannedChange | undefined> {
  const { context, view, signal } = work;
  if (condition === undefined) {
    const { data } = await liveFiles(context, view, undefined, signal);
    return removal(work, data, true);
  }
  const scope = new RowScope([{ alias, schema: view.schema, columnSql: touchedColumn }], work.nowMicros);
  const bound = await scope.bindCondition(work.engine, condition, signal);
  const { data } = await liveFiles(context, view, bound, signal);
  const columns = columnsOf(bound).map(({ path }) => path);
  const wholly = await filesOfPartitions(work, data, { bound, columns, alias });
  return wholly === undefined ? deletion(work, data, { scope, bound }) : removal(work, wholly, bound);
}

/** Whole files, by the metadata alone. */
async function removal(work: IcebergRowWork, files: readonly LiveFile[], condition: Expression | true): Promise<PlannedChange | undefined> {
  if (files.length === 0) return undefined;
  const deletedRows = await countLiveRows(work, files);
  const paths = files.map(({ entry }) => entry.file.path);
  return {
    change: {
      kind: 'overwrite',
      added: [],
      removed: files.flatMap(withItsDeletes),
      validation: validationFor(work.view, 'delete', { condition, paths, marked: false }),
    },
    updatedRows: 0n,
    deletedRows,
    insertedRows: 0n,
  };
}

async function deletion(
  work: IcebergRowWork,
  candidates: readonly LiveFile[],
  { scope, bound }: { readonly scope: RowScope; readonly bound: Expression },
): Promise<PlannedChange | undefined> {
  const { view } = work;
  const hidden = hiddenNames([view.schema]);
  const marked = marksRows(view, 'delete');
  const matched = await findMatchedRows(work, candidates, { scope, bound, hidden, byPosition: marked });
  if (matched.matched === 0n) return undefined;
  const { added, removed } = await rewriteFiles(work, {
    shape: { schema: view.schema, hidden, clauses: [{ kind: 'delete' }], derived: [] },
    files: touchedFiles(matched, 'delete'),
    marked,
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
  });
  const paths = matched.files.map(({ file }) => file.entry.file.path);
  const validation = validationFor(view, 'delete', { condition: bound, paths, marked });
  return {
    change: { kind: marked ? 'row-delta' : 'overwrite', added, removed, validation },
    updatedRows: 0n,
    deletedRows: matched.matched,
    insertedRows: 0n,
  };
}

/** Rows a reader gets: by the files' counts where nothing was deleted from them. */
export async function countLiveRows(work: IcebergRowWork, files: readonly LiveFile[]): Promise<bigint> {
  const counted = files.filter(({ deletes }) => deletes.length === 0);
  const sum = counted.reduce((total, { entry }) => total + BigInt(entry.file.recordCount), 0n);
  const rest = files.filter(({ deletes }) => deletes.length > 0);
  if (rest.length === 0) return sum;
  return withScan(work.scan(rest), async (scan) => {
    return sum + (await countRows(work, scan));
  });
}
