import { present } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { KeyedRows, TriedUpsert } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { recordChanges, rewriteFiles } from '../change/rewrite-files.ts';
import { changeTypeField, type RowClause } from '../change/rewrite-sql.ts';
import { unionOf } from '../merge/insert-values.ts';
import type { RowTable } from '../row-table.ts';
import { clauseOf, endAllRows, type FoundKeys, findKeys } from './find-keys.ts';
import { keyEquality, withoutKeys } from './key-sql.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';
import { type PatchedRows, patchedRows } from './patched-rows.ts';
import { joinReplacements } from './replacement-join.ts';

/** One attempt (docs/spec/keyed-apply.md). What it wrote is deleted when it certainly failed. */
export async function upsertRows<File>(table: KeyedRowTable<File>, keyed: KeyedRows, failpoint: Failpoint): Promise<TriedUpsert> {
  const { work } = table;
  try {
    const startedMs = work.clock.monotonicMs();
    const found = await (keyed.empties === true ? endAllRows(table, keyed) : findKeys(table, keyed));
    const lookupMs = work.clock.monotonicMs() - startedMs;
    await failpoint('after-key-lookup');
    const patched = await patchedRows(table, keyed, found);
    const staged = await onTime(table, found, patched);
    await endRows(table, found, { staged, patched });
    if (patched !== undefined && patched.count > 0) await table.write(patched.rows);
    await failpoint('after-key-marks');
    const outcome = await table.tryCommit();
    if (outcome.kind === 'conflicted') await table.discard();
    const { updatedRows, deletedRows, lateKeys, filesLookedAt } = found;
    const insertedRows = found.upserts - updatedRows;
    return { outcome, applied: { insertedRows, updatedRows, deletedRows, lateKeys, filesLookedAt, lookupMs } };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await table.discard();
    throw error;
  } finally {
    await work.release();
  }
}

/** The staged rows that count, written anew without those that are late; `undefined`: all of them do. */
async function onTime<File>(
  table: KeyedRowTable<File>,
  { late, lateUpserts, upserts, hidden, keyColumns }: FoundKeys<File>,
  patched: PatchedRows | undefined,
): Promise<Relation | undefined> {
  if (late === undefined || lateUpserts === 0) return undefined;
  const staged = await table.work.holding(table.stagedRows());
  const rows = {
    sql: withoutKeys(staged.sql, late.sql, { keyColumns, keyOf: (index) => hidden.value(index) }),
    schema: staged.schema,
  };
  await table.replaceStaged(rows, upserts - (patched?.count ?? 0));
  return rows;
}

/** The rows end where they are, whatever takes their place stands in the staged files. */
async function endRows<File>(
  table: KeyedRowTable<File>,
  found: FoundKeys<File>,
  made: { readonly staged: Relation | undefined; readonly patched: PatchedRows | undefined },
): Promise<void> {
  const { touched, hidden } = found;
  if (touched === undefined) return;
  const ends: RowClause = { kind: 'delete' };
  const rewrite = {
    files: touched.files,
    withPositions: true,
    touched: (scan: Relation, files: readonly File[]) => touched.among(scan, files),
    positions: () => touched.positions(),
  };
  await rewriteFiles(table, { ...rewrite, shape: { hidden, clauses: [ends, ends], derived: [] }, recordsApart: true });
  // Rows that only end, by marks, are seen by comparing the marks; what comes beside them, by its files.
  if (!table.recordsChanges || (table.marksRows && found.updatedRows === 0)) return;
  const staged = made.staged ?? (await table.work.holding(table.stagedRows()));
  const rows = made.patched === undefined ? staged : unionOf([staged, made.patched.rows], staged.schema);
  const clauses: RowClause[] = [];
  clauses[clauseOf.end] = ends;
  clauses[clauseOf.replace] = { kind: 'update', values: replacedBy(table, found), checks: [] };
  await recordChanges(table, {
    ...rewrite,
    shape: { hidden, clauses, derived: [] },
    touched: (scan, files) => withReplacements(table, found, { touched: touched.among(scan, files), staged: rows }),
  });
  if (found.upserts > found.updatedRows) await table.record(insertsOf(found, rows));
}

/** Every column of a replaced row is that of the row in its place. */
function replacedBy<File>({ schema }: RowTable<File>, { hidden }: FoundKeys<File>): ReadonlyMap<string, string> {
  return new Map(schema.fields.map(({ name }, index) => [name, quoteName(hidden.source(index))]));
}

function withReplacements<File>(
  { schema }: RowTable<File>,
  { hidden, keyColumns }: FoundKeys<File>,
  { touched, staged }: { readonly touched: string; readonly staged: Relation },
): string {
  const columns = schema.fields.map(({ name }, index) => `s.${quoteName(name)} AS ${quoteName(hidden.source(index))}`);
  const isReplaced = `m.${quoteName(hidden.clause)} = ${clauseOf.replace}`;
  return joinReplacements(touched, staged.sql, { keyColumns, isReplaced, columns });
}

/** Staged rows whose key the table did not have. */
function insertsOf<File>({ rows, hidden, keyColumns }: FoundKeys<File>, staged: Relation): Relation {
  const same = keyEquality(keyColumns, {
    left: (_, index) => `r.${quoteName(hidden.value(index))}`,
    right: (name) => `s.${quoteName(name)}`,
  });
  const replaced = `SELECT 1 FROM (${present(rows, 'there are rows that end').sql}) r WHERE r.${quoteName(hidden.clause)} = ${clauseOf.replace} AND ${same}`;
  const fields: readonly Field[] = [...staged.schema.fields, changeTypeField];
  const columns = staged.schema.fields.map(({ name }) => `s.${quoteName(name)}`);
  return {
    sql: `SELECT ${columns.join(', ')}, ${sqlText('insert')} AS ${quoteName(changeTypeField.name)} FROM (${staged.sql}) s WHERE NOT EXISTS (${replaced})`,
    schema: { kind: 'struct', fields },
  };
}
