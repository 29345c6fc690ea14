import type { Expression } from '../../expr/expression.ts';
import type { DeleteRequest, RowOperationResult } from '../../table/row-operations.ts';
import { runRowOperation } from '../row-operation.ts';
import type { RowChange, RowTable } from '../row-table.ts';
import { countRows } from './engine-counts.ts';
import { filesOfPartitions } from './files-of-partitions.ts';
import { copiedRows, findMatchedRows, touchedFiles } from './find-touched-files.ts';
import { hiddenNames } from './hidden-names.ts';
import { planPlaced } from './placed-rows.ts';
import { rewriteFiles } from './rewrite-files.ts';
import { touchedColumn } from './rewrite-sql.ts';
import { RowScope } from './row-scope.ts';
import { withScan } from './target-scan.ts';

/**
 * DELETE; one version, or none when no row matches. Without a condition, or with one that partition values alone decide, files are only
 * removed: nothing is read.
 */
export function deleteRows<File>(table: RowTable<File> | undefined, request: DeleteRequest): Promise<RowOperationResult> {
  return runRowOperation(table, (open) => planDelete(open, request));
}

interface BoundCondition {
  readonly scope: RowScope;
  readonly bound: Expression;
  readonly startedMs: number;
}

async function planDelete<File>(table: RowTable<File>, request: DeleteRequest): Promise<RowChange<File> | undefined> {
  const { condition, alias, places } = request;
  const { work, schema } = table;
  if (places !== undefined) return planPlaced(table, { command: 'delete', places, assignments: [] });
  const startedMs = work.clock.monotonicMs();
  if (condition === undefined) return removal(table, await table.filesFor(undefined), { condition, readFiles: [], startedMs });
  const scope = new RowScope([{ alias, schema, columnSql: touchedColumn }], work.now);
  const bound = await scope.bindCondition(work.engine, condition, work);
  const candidates = await table.filesFor(bound);
  const textsOf: RowTable<File>['partitionTexts'] = (file, fields) => table.partitionTexts(file, fields);
  const whole = await filesOfPartitions(work, candidates, { bound, schema, alias, textsOf });
  if (whole === undefined) return deletion(table, candidates, { scope, bound, startedMs });
  return removal(table, whole, { condition: bound, readFiles: whole, startedMs });
}

/** Whole files, by the metadata alone. */
async function removal<File>(
  table: RowTable<File>,
  files: readonly File[],
  read: Pick<RowChange<File>, 'condition' | 'readFiles' | 'startedMs'>,
): Promise<RowChange<File> | undefined> {
  if (files.length === 0) return undefined;
  const deletedRows = await countLiveRows(table, files);
  table.end(files);
  return { ...read, updatedRows: 0n, deletedRows, insertedRows: 0n, copiedRows: 0n, scannedMs: table.work.clock.monotonicMs() };
}

async function deletion<File>(
  table: RowTable<File>,
  candidates: readonly File[],
  { scope, bound, startedMs }: BoundCondition,
): Promise<RowChange<File> | undefined> {
  const hidden = hiddenNames([table.schema]);
  const matched = await findMatchedRows(table, candidates, { scope, bound, hidden });
  if (matched.matched === 0n) return undefined;
  const scannedMs = table.work.clock.monotonicMs();
  await rewriteFiles(table, {
    shape: { hidden, clauses: [{ kind: 'delete' }], derived: [] },
    files: touchedFiles(matched, 'delete'),
    touched: (scan) => matched.touched(scan),
    positions: () => matched.positions(),
  });
  return {
    condition: bound,
    readFiles: matched.files.map(({ file }) => file),
    updatedRows: 0n,
    deletedRows: matched.matched,
    insertedRows: 0n,
    copiedRows: copiedRows(matched),
    startedMs,
    scannedMs,
  };
}

/** Rows a reader gets: by the metadata, and counted where those do not say. */
export async function countLiveRows<File>(table: RowTable<File>, files: readonly File[]): Promise<bigint> {
  const known = files.map((file) => table.liveRows(file));
  const sum = BigInt(known.reduce<number>((total, rows) => total + (rows ?? 0), 0));
  const uncounted = files.filter((_, index) => known[index] === undefined);
  if (uncounted.length === 0) return sum;
  return withScan(table.scan(uncounted), async (scan) => sum + (await countRows(table.work, scan)));
}
