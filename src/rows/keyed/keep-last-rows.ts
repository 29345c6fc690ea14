import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { RowOperationResult } from '../../table/row-operations.ts';
import { type HiddenNames, hiddenNames } from '../change/hidden-names.ts';
import { rewriteFiles } from '../change/rewrite-files.ts';
import type { RowClause } from '../change/rewrite-sql.ts';
import { fileIndexSql, holdTarget, rowPositionSql } from '../change/target-scan.ts';
import { countTouched } from '../merge/merge-touched-rows.ts';
import { runRowOperation } from '../row-operation.ts';
import type { RowChange, RowTable } from '../row-table.ts';

/** What tells the rows of a table apart, and which of two is the later one. */
interface KeyAndOrder {
  readonly keyColumns: readonly string[];
  readonly orderColumns: readonly string[];
}

/**
 * Deletes all rows of each key but the last: by the order columns, a row without a value before all others; of equal rows the one in the file that was
 * added last, and there the one furthest back. Rows without a key stay. One version. Where the table records changes, the last row is told as updated,
 * behind the deletes: who follows the changes by key would have no row of it otherwise.
 *
 * @throws what the table's commit throws: any row that others add meanwhile stands against it.
 */
export function keepLastRows<File>(table: RowTable<File> | undefined, by: KeyAndOrder): Promise<RowOperationResult> {
  return runRowOperation(table, (open) => planLastRows(open, by));
}

async function planLastRows<File>(table: RowTable<File>, by: KeyAndOrder): Promise<RowChange<File> | undefined> {
  const { work, schema } = table;
  const startedMs = work.clock.monotonicMs();
  const hidden = hiddenNames([schema]);
  const files = await table.filesFor(undefined);
  if (files.length === 0) return undefined;
  const scan = await holdTarget(table, files, { withPositions: true });
  const sql = rowsOfRepeatedKeys(scan.sql, { ...by, hidden, ranks: ranksOf(table, files), tellsLast: table.recordsChanges });
  const long = { type: { kind: 'long' as const }, nullable: false };
  const fields = [hidden.file, hidden.position, hidden.clause].map((name) => ({ name, ...long }));
  const rows = await work.holding(work.engine.materialize({ sql, schema: { kind: 'struct', fields } }, work.signal));
  const clauses: readonly RowClause[] = [{ kind: 'delete' }, { kind: 'update', values: new Map(), checks: [] }];
  const touched = await countTouched(work, { rows, files, hidden, clauses, carried: [] });
  if (touched === undefined) return undefined;
  const scannedMs = work.clock.monotonicMs();
  await rewriteFiles(table, {
    shape: { hidden, clauses, derived: [] },
    files: touched.files,
    withPositions: true,
    touched: (part, group) => touched.among(part, group),
    positions: () => touched.positions(),
  });
  return {
    condition: undefined,
    readFiles: files,
    updatedRows: touched.rowsByClause[1] ?? 0n,
    deletedRows: touched.rowsByClause[0] ?? 0n,
    insertedRows: 0n,
    copiedRows: 0n,
    startedMs,
    scannedMs,
  };
}

/** The place of each file in the order in which they were added. */
function ranksOf<File>(table: RowTable<File>, files: readonly File[]): readonly number[] {
  const places = files.map((file, index) => ({ index, added: table.addedOrder(file), path: table.placeOf(file).path }));
  const ranks = new Array<number>(files.length).fill(0);
  places.sort((a, b) => a.added - b.added || (a.path < b.path ? -1 : 1)).forEach(({ index }, rank) => (ranks[index] = rank));
  return ranks;
}

/** All but the last row of each key as clause 0, the last one as clause 1. Keys of one row are left out first: ordering is for the few that have several. */
function rowsOfRepeatedKeys(
  scan: string,
  {
    keyColumns,
    orderColumns,
    hidden,
    ranks,
    tellsLast,
  }: KeyAndOrder & { readonly hidden: HiddenNames; readonly ranks: readonly number[]; readonly tellsLast: boolean },
): string {
  const keys = keyColumns.map(quoteName).join(', ');
  const same = keyColumns.map((name) => `t.${quoteName(name)} = k.${quoteName(name)}`).join(' AND ');
  const repeated = `SELECT ${keys} FROM (${scan}) GROUP BY ${keys} HAVING count(*) > 1`;
  const order = [
    ...orderColumns.map((name) => `t.${quoteName(name)} DESC NULLS LAST`),
    `[${ranks.join(', ')}][t.${fileIndexSql} + 1] DESC`,
    `t.${rowPositionSql} DESC`,
  ];
  const ofKey = keyColumns.map((name) => `t.${quoteName(name)}`).join(', ');
  const place = `row_number() OVER (PARTITION BY ${ofKey} ORDER BY ${order.join(', ')})`;
  const columns = [
    `t.${fileIndexSql}::BIGINT AS ${quoteName(hidden.file)}`,
    `t.${rowPositionSql}::BIGINT AS ${quoteName(hidden.position)}`,
    `CASE WHEN ${place} > 1 THEN 0 ELSE 1 END::BIGINT AS ${quoteName(hidden.clause)}`,
  ];
  return `SELECT ${columns.join(', ')} FROM (${scan}) t JOIN (${repeated}) k ON ${same}${tellsLast ? '' : ` QUALIFY ${place} > 1`}`;
}
