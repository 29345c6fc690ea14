import type { HeldRelation } from '../../engine/engine.ts';
import type { Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import type { RowScope } from '../change/row-scope.ts';
import { fileIndexSql, rowPositionSql } from '../change/target-scan.ts';
import type { RowWork } from '../row-work.ts';
import type { MergeSource } from './merge-source.ts';
import type { MergeScopes, MergeStatement } from './merge-statement.ts';

/** What a MERGE found out about its rows before it writes any. */
interface MergeMatches {
  /** Rows of the table that a clause concerns: file, position, clause, and the source columns that updates need. Each row once. */
  readonly touched: Relation | undefined;
  /** Source rows for which an insert clause applies, with the clause. */
  readonly unmatched: HeldRelation | undefined;
  /** Indexes of the files with a row that some source row matches, whatever becomes of it. */
  readonly matchedFiles: readonly number[];
}

interface MergeSearch {
  readonly statement: MergeStatement;
  readonly scopes: MergeScopes;
  readonly source: MergeSource;
  readonly hidden: HiddenNames;
  /** The table's rows with their positions, under the alias `t`. */
  readonly scan: Relation;
  /** Names of source columns that updates use. */
  readonly carried: readonly string[];
}

const longField = { type: { kind: 'long' }, nullable: true } as const;

/**
 * Finds the pairs of rows that match and what is to be done with each row, in one pass over the columns that conditions mention.
 *
 * @throws AnalysisException `multipleMatches` of the target's errors.
 */
export async function findMatches(work: RowWork, search: MergeSearch): Promise<MergeMatches> {
  const { statement } = search;
  const changes = statement.matched.length + statement.notMatchedBySource.length;
  if (changes === 0) return { touched: undefined, unmatched: await insertOnly(work, search), matchedFiles: [] };
  const pairs = await holdPairs(work, search);
  const touched = [await touchedPairs(work, search, pairs)];
  if (statement.notMatchedBySource.length > 0) touched.push(await withoutSource(work, search, pairs));
  return {
    touched: { sql: touched.map(({ sql }) => sql).join(' UNION ALL '), schema: touchedSchema(search) },
    unmatched: statement.notMatched.length === 0 ? undefined : await unmatchedBeside(work, search, pairs),
    matchedFiles: await filesOf(work, search, pairs),
  };
}

/** The number of the first clause whose condition holds, counted from `first`; null when none does. */
function clauseSql(clauses: readonly { readonly condition: Expression | undefined }[], scope: RowScope, first: number): string {
  if (clauses.length === 0) return 'CAST(NULL AS INTEGER)';
  const branches = clauses.map(({ condition }, index) => {
    return `WHEN ${condition === undefined ? 'true' : scope.sql(condition)} THEN ${first + index}`;
  });
  return `CASE ${branches.join(' ')} END`;
}

function holdPairs(work: RowWork, search: MergeSearch): Promise<HeldRelation> {
  const { statement, scopes, hidden, source } = search;
  const columns = [
    `t.${fileIndexSql} AS ${quoteName(hidden.file)}`,
    `t.${rowPositionSql} AS ${quoteName(hidden.position)}`,
    `${clauseSql(statement.matched, scopes.both, 0)} AS ${quoteName(hidden.clause)}`,
    `s.${quoteName(hidden.sourceRow)} AS ${quoteName(hidden.sourceRow)}`,
    ...search.carried.map((name) => `s.${quoteName(source.columnOf(name))} AS ${quoteName(source.columnOf(name))}`),
  ];
  // Pairs for which nothing is done still say which rows have a match, and which have several.
  const sql = `SELECT ${columns.join(', ')} FROM (${search.scan.sql}) t JOIN (${source.rows.sql}) s ON ${scopes.both.sql(statement.condition)}`;
  const fields = [...touchedSchema(search).fields];
  fields.splice(3, 0, { name: hidden.sourceRow, ...longField });
  return work.holding(work.engine.materialize({ sql, schema: { kind: 'struct', fields } }, work.signal));
}

function touchedSchema({ hidden, source, carried }: MergeSearch): StructType {
  const fields: readonly Field[] = [
    { name: hidden.file, ...longField },
    { name: hidden.position, ...longField },
    { name: hidden.clause, type: { kind: 'integer' }, nullable: true },
    ...carried.map((name) => source.carriedField(name)),
  ];
  return { kind: 'struct', fields };
}

async function touchedPairs(work: RowWork, search: MergeSearch, pairs: Relation): Promise<Relation> {
  const { hidden, statement } = search;
  const [file, position, clause] = [hidden.file, hidden.position, hidden.clause].map(quoteName);
  const concerned = `FROM (${pairs.sql}) WHERE ${clause} IS NOT NULL`;
  const repeated = await work.engine.rows(
    `SELECT 1 FROM (${pairs.sql}) GROUP BY ${file}, ${position} HAVING count(*) > 1 LIMIT 1`,
    work.signal,
  );
  const schema = touchedSchema(search);
  const columns = schema.fields.map((field) => quoteName(field.name)).join(', ');
  if (repeated.length === 0 || statement.matched.length === 0) return { sql: `SELECT ${columns} ${concerned}`, schema };
  const [only] = statement.matched;
  const deletesOnly = statement.matched.length === 1 && only?.action === 'delete' && only.condition === undefined;
  if (!deletesOnly) throw work.target.errors.multipleMatches();
  // A row deleted twice is deleted; in any other case it could depend on an order what becomes of a row, even where the conditions say it does not.
  const held = await work.holding(work.engine.materialize({ sql: `SELECT DISTINCT ${columns} ${concerned}`, schema }, work.signal));
  return { sql: held.sql, schema };
}

/** Rows of the table that no source row matches and a clause concerns. */
function withoutSource(work: RowWork, search: MergeSearch, pairs: Relation): Promise<HeldRelation> {
  const { hidden, statement, scopes, source, carried } = search;
  const clause = clauseSql(statement.notMatchedBySource, scopes.onlyTarget, statement.matched.length);
  const matched = `SELECT 1 FROM (${pairs.sql}) p WHERE p.${quoteName(hidden.file)} = t.${fileIndexSql} AND p.${quoteName(hidden.position)} = t.${rowPositionSql}`;
  const columns = [
    `t.${fileIndexSql} AS ${quoteName(hidden.file)}`,
    `t.${rowPositionSql} AS ${quoteName(hidden.position)}`,
    `${clause} AS ${quoteName(hidden.clause)}`,
    ...carried.map((name) => `CAST(NULL AS ${source.typeSqlOf(name)}) AS ${quoteName(source.columnOf(name))}`),
  ];
  const rows = `SELECT ${columns.join(', ')} FROM (${search.scan.sql}) t WHERE NOT EXISTS (${matched})`;
  const sql = `SELECT * FROM (${rows}) WHERE ${quoteName(hidden.clause)} IS NOT NULL`;
  return work.holding(work.engine.materialize({ sql, schema: touchedSchema(search) }, work.signal));
}

function unmatchedBeside(work: RowWork, search: MergeSearch, pairs: Relation): Promise<HeldRelation> {
  const row = quoteName(search.hidden.sourceRow);
  return holdUnmatched(work, search, `WHERE NOT EXISTS (SELECT 1 FROM (${pairs.sql}) p WHERE p.${row} = s.${row})`);
}

function insertOnly(work: RowWork, search: MergeSearch): Promise<HeldRelation> {
  return holdUnmatched(work, search, `ANTI JOIN (${search.scan.sql}) t ON ${search.scopes.both.sql(search.statement.condition)}`);
}

function holdUnmatched(work: RowWork, search: MergeSearch, where: string): Promise<HeldRelation> {
  const { hidden, statement, scopes, source } = search;
  const clause = `${clauseSql(statement.notMatched, scopes.onlySource, 0)} AS ${quoteName(hidden.clause)}`;
  const sql = `SELECT * FROM (SELECT s.*, ${clause} FROM (${source.rows.sql}) s ${where}) WHERE ${quoteName(hidden.clause)} IS NOT NULL`;
  const fields: readonly Field[] = [...source.rows.schema.fields, { name: hidden.clause, type: { kind: 'integer' }, nullable: true }];
  return work.holding(work.engine.materialize({ sql, schema: { kind: 'struct', fields } }, work.signal));
}

async function filesOf(work: RowWork, { hidden, statement }: MergeSearch, pairs: Relation): Promise<readonly number[]> {
  const every = statement.notMatched.length > 0 || statement.notMatchedBySource.length > 0;
  const where = every ? '' : ` WHERE ${quoteName(hidden.clause)} IS NOT NULL`;
  const rows = await work.engine.rows(`SELECT DISTINCT ${quoteName(hidden.file)} FROM (${pairs.sql})${where}`, work.signal);
  return rows.map(([index]) => Number(index));
}
