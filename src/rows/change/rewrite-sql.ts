import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowTrackingColumns } from '../../table/scan.ts';
import type { RowCheck } from '../values/row-checks.ts';
import type { HiddenNames } from './hidden-names.ts';
import { withRowTrackingFields } from './row-tracking-fields.ts';

/** What happens to a row that a clause concerns. */
export type RowClause =
  | { readonly kind: 'delete' }
  /** SQL of the new values by column, over the touched rows' columns; other columns keep theirs. `checks`: over the same rows, to be ruled out first. */
  | { readonly kind: 'update'; readonly values: ReadonlyMap<string, string>; readonly checks: readonly RowCheck[] };

/** A column that follows from others: SQL of its value, given the SQL of any column. */
export interface DerivedColumn {
  readonly name: string;
  sql(columnSql: (name: string) => string): string;
}

/** Touched rows and what becomes of them. */
export interface RewriteShape {
  readonly schema: StructType;
  readonly hidden: HiddenNames;
  readonly clauses: readonly RowClause[];
  /** Columns recomputed in updated rows whose clause does not assign them. */
  readonly derived: readonly DerivedColumn[];
  /** Columns that the touched rows carry besides, where the table tracks rows: an updated row keeps its id and belongs to the version that updates it. */
  readonly tracked?: RowTrackingColumns | undefined;
}

/** The queries of a rewrite: all of them over rows that carry the schema's columns and the clause. */
export interface RewriteQueries {
  /** Every row that stays, updated where a clause says so; with the `tracked` columns, as `updated`. */
  readonly kept: Relation;
  /** Updated rows alone, as they become. */
  readonly updated: Relation | undefined;
  /** Rows of the change feed, `_change_type` last; the image before an update directly before the one after it. */
  readonly changes: Relation;
  /** Rows whose values must be checked before any of the others is evaluated. */
  readonly unchecked: readonly { readonly rows: Relation; readonly checks: readonly RowCheck[] }[];
}

export const changeTypeField: Field = { name: '_change_type', type: { kind: 'string' }, nullable: false };

/** SQL of a column of the touched rows: no two of them share a name. */
export function touchedColumn(name: string): string {
  return quoteName(name);
}

/** Builds the queries over a SELECT of touched and untouched rows. */
export function rewriteQueries(touched: string, shape: RewriteShape): RewriteQueries {
  const { schema } = shape;
  const clauseSql = touchedColumn(shape.hidden.clause);
  const evaluated = evaluate(touched, shape);
  const after = schema.fields.map((field) => evaluated.after(field.name));
  const before = schema.fields.map((field) => touchedColumn(field.name));
  const updates = indexesOf(shape, 'update');
  const updating = isOneOf(clauseSql, updates);
  const moved = withRowTrackingFields(schema, shape.tracked);
  const columns = [...after, ...trackedAfter(shape.tracked, updating)];
  const rowsWhere = (where: string): Relation => ({
    sql: `SELECT ${named(columns, moved.fields)} FROM (${evaluated.sql}) WHERE ${where}`,
    schema: moved,
  });
  return {
    kept: rowsWhere(`${clauseSql} IS NULL OR ${updating}`),
    updated: updates.length === 0 ? undefined : rowsWhere(updating),
    changes: {
      sql: changesSql({ from: evaluated.sql, clauseSql, before, after, shape }),
      schema: { kind: 'struct', fields: [...schema.fields, changeTypeField] },
    },
    unchecked: shape.clauses.flatMap((clause, place) => {
      if (clause.kind === 'delete' || clause.checks.length === 0) return [];
      return [{ rows: { sql: `SELECT * FROM (${touched}) WHERE ${clauseSql} = ${place}`, schema }, checks: clause.checks }];
    }),
  };
}

function trackedAfter(tracked: RowTrackingColumns | undefined, updating: string): readonly string[] {
  if (tracked === undefined) return [];
  return [touchedColumn(tracked.rowId), `CASE WHEN ${updating} THEN NULL ELSE ${touchedColumn(tracked.commitVersion)} END`];
}

interface Evaluated {
  readonly sql: string;
  /** SQL of a column's value after the rewrite. */
  after(name: string): string;
}

/** Adds the new values as hidden columns: assigned ones first, those that follow from them in a second step. */
function evaluate(touched: string, shape: RewriteShape): Evaluated {
  const { hidden, schema, clauses } = shape;
  const clauseSql = touchedColumn(hidden.clause);
  const places = new Map<string, string>();
  const after = (name: string): string => touchedColumn(places.get(name) ?? name);
  const assigned = schema.fields.flatMap((field, index) => {
    const branches = clauses.flatMap((clause, place) => {
      const value = clause.kind === 'update' ? clause.values.get(field.name) : undefined;
      return value === undefined ? [] : [`WHEN ${place} THEN ${value}`];
    });
    if (branches.length === 0) return [];
    places.set(field.name, hidden.value(index));
    return [`CASE ${clauseSql} ${branches.join(' ')} ELSE ${touchedColumn(field.name)} END AS ${quoteName(hidden.value(index))}`];
  });
  const first = assigned.length === 0 ? touched : `SELECT *, ${assigned.join(', ')} FROM (${touched})`;
  const recomputed = new Map<string, string>();
  const columns = shape.derived.flatMap((column) => {
    const where = clauses.flatMap((clause, place) => (clause.kind === 'update' && !clause.values.has(column.name) ? [place] : []));
    if (where.length === 0) return [];
    const name = hidden.value(schema.fields.length + schema.fields.findIndex((field) => field.name === column.name));
    recomputed.set(column.name, name);
    return [`CASE WHEN ${isOneOf(clauseSql, where)} THEN ${column.sql(after)} ELSE ${after(column.name)} END AS ${quoteName(name)}`];
  });
  if (columns.length === 0) return { sql: first, after };
  return {
    sql: `SELECT *, ${columns.join(', ')} FROM (${first})`,
    after: (name) => {
      const place = recomputed.get(name);
      return place === undefined ? after(name) : touchedColumn(place);
    },
  };
}

interface Changes {
  readonly from: string;
  readonly clauseSql: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly shape: RewriteShape;
}

function changesSql({ from, clauseSql, before, after, shape }: Changes): string {
  const { fields } = shape.schema;
  const typed = [...fields, changeTypeField];
  const deletes = indexesOf(shape, 'delete');
  const updates = indexesOf(shape, 'update');
  if (updates.length === 0) {
    return `SELECT ${named([...before, sqlText('delete')], typed)} FROM (${from}) WHERE ${isOneOf(clauseSql, deletes)}`;
  }
  const row = (values: readonly string[], type: string): string =>
    `struct_pack(${typed.map((field, index) => `${quoteName(field.name)} := ${values[index] ?? sqlText(type)}`).join(', ')})`;
  const images = `[${row(before, 'update_preimage')}, ${row(after, 'update_postimage')}]`;
  const rows =
    deletes.length === 0 ? images : `CASE WHEN ${isOneOf(clauseSql, deletes)} THEN [${row(before, 'delete')}] ELSE ${images} END`;
  const columns = typed.map((field) => `struct_extract(c.change, ${sqlText(field.name)})`);
  // One list for each row keeps both images of an update together.
  const changes = `SELECT unnest(${rows}) AS change FROM (${from}) WHERE ${clauseSql} IS NOT NULL`;
  return `SELECT ${named(columns, typed)} FROM (${changes}) c`;
}

function named(columns: readonly string[], fields: readonly Field[]): string {
  return fields.map((field, index) => `${columns[index] ?? 'NULL'} AS ${quoteName(field.name)}`).join(', ');
}

function indexesOf(shape: RewriteShape, kind: RowClause['kind']): readonly number[] {
  return shape.clauses.flatMap((clause, place) => (clause.kind === kind ? [place] : []));
}

function isOneOf(sql: string, values: readonly number[]): string {
  return values.length === 0 ? 'false' : `coalesce(${sql} IN (${values.join(', ')}), false)`;
}
