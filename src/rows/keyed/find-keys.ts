import { present } from '../../base/assert.ts';
import type { HeldRelation } from '../../engine/engine.ts';
import { conjunction, type Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { countOnes } from '../../schema/bitmap.ts';
import { fieldOf } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { countLiveRows } from '../change/delete-rows.ts';
import { countRows } from '../change/engine-counts.ts';
import { type HiddenNames, hiddenNames } from '../change/hidden-names.ts';
import { RowScope } from '../change/row-scope.ts';
import { fileIndexSql, rowPositionSql } from '../change/target-scan.ts';
import { countTouched, type TouchedRows } from '../merge/merge-touched-rows.ts';
import { matchableRows } from '../merge/source-key-filter.ts';
import type { RowTable } from '../row-table.ts';
import type { RowWork } from '../row-work.ts';
import { candidateRows } from './candidate-rows.ts';
import { type DeadKeys, deadKeys } from './dead-keys.ts';
import { deletedSql, hasKey, keyName, laterThan, namedKeys } from './key-sql.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';

/** What becomes of a row whose key is in the batch: it ends, it ends and a staged row takes its place, or it stays since it is later. */
export const clauseOf = { end: 0, replace: 1, late: 2 } as const;

/** The rows of a version that have the keys of a batch. */
export interface FoundKeys<File> {
  readonly hidden: HiddenNames;
  readonly keyColumns: readonly string[];
  /** Where they are, which clause concerns them, and their keys as `hidden.value`; `undefined`: there are none. */
  readonly rows: Relation | undefined;
  readonly touched: TouchedRows<File> | undefined;
  /** Keys of which the table has a later row, or a later delete is remembered, as `hidden.value`: nothing becomes of their staged rows. `undefined`: there are none. */
  readonly late: Relation | undefined;
  readonly lateKeys: number;
  /** Of them those that have a staged row. */
  readonly lateUpserts: number;
  /** Keys that have a staged row which counts. */
  readonly upserts: number;
  readonly updatedRows: number;
  readonly deletedRows: number;
  readonly filesLookedAt: number;
}

/** What an upsert finds that empties the table first: all rows end with their files. */
export async function endAllRows<File>(table: RowTable<File>, { keyColumns, keys }: KeyedRows): Promise<FoundKeys<File>> {
  const files = await table.filesFor(undefined);
  const deletedRows = Number(await countLiveRows(table, files));
  table.end(files);
  return { ...nothingFound(table.schema, keyColumns), upserts: upsertsAmong(keys), deletedRows };
}

/** Keys that are not deleted. */
function upsertsAmong({ columns, rowCount }: KeyedRows['keys']): number {
  const deleted = columns.at(-1);
  return deleted?.layout === 'boolean' ? rowCount - countOnes(deleted.bits, rowCount) : 0;
}

function nothingFound(
  schema: StructType,
  keyColumns: readonly string[],
): FoundKeys<never> & { readonly rows: undefined; readonly touched: undefined } {
  return {
    hidden: hiddenNames([schema]),
    keyColumns,
    rows: undefined,
    touched: undefined,
    late: undefined,
    lateKeys: 0,
    lateUpserts: 0,
    upserts: 0,
    updatedRows: 0,
    deletedRows: 0,
    filesLookedAt: 0,
  };
}

/**
 * Reads the keys of the files that may hold some of the batch's. Of several rows of one key, which others must have written, one is replaced and
 * the others end.
 */
export async function findKeys<File>(table: KeyedRowTable<File>, keyed: KeyedRows): Promise<FoundKeys<File>> {
  const { work, schema } = table;
  const { keyColumns } = keyed;
  const found = nothingFound(schema, keyColumns);
  const { hidden } = found;
  const given = await holdKeys(table, keyed);
  const condition = await keyCondition(table, keyed, given);
  const dead = await deadKeys(work, keyed, { given, condition, hidden });
  const source = dead === undefined ? given : dead.source;
  const upserts = upsertsAmong(keyed.keys) - (dead?.count ?? 0);
  const files = await table.filesFor(condition);
  const nothing = { ...found, upserts };
  const rows = files.length === 0 ? nothing : await findRows(table, keyed, { nothing, files, given, source });
  return dead === undefined ? rows : withDead(work, rows, dead);
}

async function findRows<File>(
  table: KeyedRowTable<File>,
  keyed: KeyedRows,
  {
    nothing,
    files,
    given,
    source,
  }: {
    readonly nothing: ReturnType<typeof nothingFound>;
    readonly files: readonly File[];
    readonly given: Relation;
    readonly source: Relation;
  },
): Promise<FoundKeys<File>> {
  const { work, schema } = table;
  const { hidden, upserts } = nothing;
  const { keyColumns, orderColumns } = keyed;
  const { rows: scan, filesLookedAt } = await candidateRows(table, keyed, { files, given });
  const matched = matches(schema, { keyColumns, orderColumns, hidden, scan, source });
  const all = await work.holding(work.engine.materialize(matched, work.signal));
  const seen = {
    ...nothing,
    filesLookedAt,
    ...(orderColumns.length === 0 ? {} : await lateOf(work, { all, hidden, keyColumns, upserts })),
  };
  // Of a key that the table has a later row of, no row ends.
  const rows = { sql: `SELECT * FROM (${all.sql}) WHERE ${quoteName(hidden.clause)} <> ${clauseOf.late}`, schema: all.schema };
  const ends = { kind: 'delete' } as const;
  const touched = await countTouched(work, { rows, files, hidden, clauses: [ends, ends], carried: [] });
  if (touched === undefined) return seen;
  const [deletedRows = 0n, updatedRows = 0n] = touched.rowsByClause;
  return { ...seen, rows, touched, updatedRows: Number(updatedRows), deletedRows: Number(deletedRows) };
}

/** What was found with the keys taken as deleted, and that their staged rows are late. */
async function withDead<File>(work: RowWork, found: FoundKeys<File>, { keys, count }: DeadKeys): Promise<FoundKeys<File>> {
  const lateUpserts = found.lateUpserts + count;
  if (found.late === undefined) return { ...found, late: keys, lateKeys: count, lateUpserts };
  const late = { sql: `SELECT * FROM (${found.late.sql}) UNION SELECT * FROM (${keys.sql})`, schema: keys.schema };
  return { ...found, late, lateKeys: Number(await countRows(work, late)), lateUpserts };
}

/** The keys of which the table has a later row. */
async function lateOf(
  work: RowWork,
  {
    all,
    hidden,
    keyColumns,
    upserts,
  }: { readonly all: Relation; readonly hidden: HiddenNames; readonly keyColumns: readonly string[]; readonly upserts: number },
): Promise<Pick<FoundKeys<never>, 'late' | 'lateKeys' | 'lateUpserts' | 'upserts'>> {
  const keys = keyColumns.map((_, index) => quoteName(hidden.value(index))).join(', ');
  const schema: StructType = { kind: 'struct', fields: all.schema.fields.slice(-keyColumns.length) };
  const isLate = `${quoteName(hidden.clause)} = ${clauseOf.late}`;
  const late = { sql: `SELECT DISTINCT ${keys} FROM (${all.sql}) WHERE ${isLate}`, schema };
  const lateKeys = Number(await countRows(work, late));
  if (lateKeys === 0) return { late: undefined, lateKeys: 0, lateUpserts: 0, upserts };
  const deletes = {
    sql: `SELECT DISTINCT ${keys} FROM (${all.sql}) WHERE ${isLate} AND ${quoteName(hidden.value(keyColumns.length))}`,
    schema,
  };
  const lateUpserts = lateKeys - Number(await countRows(work, deletes));
  return { late, lateKeys, lateUpserts, upserts: upserts - lateUpserts };
}

function holdKeys<File>({ work }: RowTable<File>, keyed: KeyedRows): Promise<HeldRelation> {
  const keys = namedKeys(keyed);
  return work.holding(work.engine.hold(keys.schema, [keys], work.signal));
}

/** What the keys' bounds, or the keys where they are few, say of the rows of the table that have them. */
async function keyCondition<File>(
  { work, schema }: RowTable<File>,
  { keyColumns, keys }: KeyedRows,
  rows: HeldRelation,
): Promise<Expression | undefined> {
  const target = { alias: 't', schema, columnSql: (name: string) => `t.${quoteName(name)}` };
  const source = { alias: 's', schema: rows.schema, columnSql: (name: string) => `s.${quoteName(name)}` };
  const scope = new RowScope([target, source], work.now);
  const equal = keyColumns.map((name, index): Expression => {
    const left: Expression = { kind: 'column', path: [name], qualifier: 't' };
    return { kind: 'binary', operator: '=', left, right: { kind: 'column', path: [keyName(index)], qualifier: 's' } };
  });
  const bound = present(conjunction(equal), 'a key has columns');
  return conjunction(
    await matchableRows(
      work,
      { scope, target, source, sourceRows: rows, ...(keyColumns.length === 1 ? { distinctKeys: keys.rowCount } : {}) },
      bound,
    ),
  );
}

function matches(
  schema: StructType,
  search: {
    readonly keyColumns: readonly string[];
    readonly orderColumns: readonly string[];
    readonly hidden: HiddenNames;
    readonly scan: Relation;
    readonly source: Relation;
  },
): Relation {
  const { keyColumns, orderColumns, hidden, scan, source } = search;
  const keys = keyColumns.map((_, index) => `s.${quoteName(keyName(index))}`);
  const nth = `row_number() OVER (PARTITION BY ${keys.join(', ')} ORDER BY t.${fileIndexSql}, t.${rowPositionSql})`;
  const columns = [
    `t.${fileIndexSql} AS ${quoteName(hidden.file)}`,
    `t.${rowPositionSql} AS ${quoteName(hidden.position)}`,
    `CASE ${orderColumns.length === 0 ? '' : `WHEN bool_or(coalesce(${laterThan(search)}, FALSE)) OVER (PARTITION BY ${keys.join(', ')}) THEN ${clauseOf.late} `}WHEN s.${deletedSql} OR ${nth} > 1 THEN ${clauseOf.end} ELSE ${clauseOf.replace} END AS ${quoteName(hidden.clause)}`,
    `s.${deletedSql} AS ${quoteName(hidden.value(keyColumns.length))}`,
    ...keys.map((key, index) => `${key} AS ${quoteName(hidden.value(index))}`),
  ];
  const long = { type: { kind: 'long' as const }, nullable: false };
  const fields: readonly Field[] = [
    { name: hidden.file, ...long },
    { name: hidden.position, ...long },
    { name: hidden.clause, type: { kind: 'integer' }, nullable: false },
    { name: hidden.value(keyColumns.length), type: { kind: 'boolean' }, nullable: false },
    ...keyColumns.map((name, index): Field => {
      const field = present(fieldOf(schema, name), 'a key column is one of the table');
      return { name: hidden.value(index), type: field.type, nullable: false };
    }),
  ];
  return {
    sql: `SELECT ${columns.join(', ')} FROM (${scan.sql}) t JOIN (${source.sql}) s ON ${hasKey(keyColumns)}`,
    schema: { kind: 'struct', fields },
  };
}
