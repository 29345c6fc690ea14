import type { TextPosition } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { ExtentColumn, TableExtent } from '../../table/table-extent.ts';

/** A time: microseconds since the epoch, with the text the user gave for messages. */
interface QueryTime {
  readonly kind: 'timestamp';
  readonly micros: bigint;
  readonly text: string;
}

/** A point in a table's history: a version or snapshot by number, a branch or tag by name, a time. */
export type QueryPoint = { readonly kind: 'version'; readonly version: bigint | string } | QueryTime;

/** An end of a range of changes. */
export type QueryChangePoint = { readonly kind: 'version'; readonly version: number } | QueryTime;

/** A table or view as a query names it; common table expressions and aliases are resolved already. */
export interface QueryReference {
  /** As written: `[t]`, `[db, t]`, `[catalog, db, t]`, `[delta, /path]`. */
  readonly parts: readonly string[];
  readonly at?: QueryPoint | undefined;
  /** The change feed, `table_changes(name, start[, end])`; both ends included. */
  readonly changes?: { readonly start: QueryChangePoint; readonly end?: QueryChangePoint | undefined } | undefined;
  readonly position: TextPosition;
}

/** What a reference means: columns first, rows when the conditions on them are known. Asked for anew for each mention in the text. */
export interface QuerySource {
  readonly schema: StructType;
  /** Columns that may be named, and that no star shows. None has the name of a column. Default: none. */
  readonly hidden?: readonly Field[] | undefined;
  /**
   * The rows, hidden columns last. `filter`, over the columns by their own names and bound to them, holds for every row the query uses of this
   * source: rows that break it may be left out, and need not be.
   */
  relation(filter: Expression | undefined): Promise<Relation>;
  /** What metadata alone tells of all its rows; absent, or `undefined`: only the rows can tell. */
  readonly extent?: ((columns: readonly ExtentColumn[]) => Promise<TableExtent | undefined>) | undefined;
}

/** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND` and what the reference may be refused with. */
export type ResolveReference = (reference: QueryReference) => Promise<QuerySource>;
