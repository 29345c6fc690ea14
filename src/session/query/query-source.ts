import type { TextPosition } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';

/** A point in a table's history: microseconds since the epoch, with the text the user gave for messages. */
export type QueryPoint =
  | { readonly kind: 'version'; readonly version: number }
  | { readonly kind: 'timestamp'; readonly micros: bigint; readonly text: string };

/** A table or view as a query names it; common table expressions and aliases are resolved already. */
export interface QueryReference {
  /** As written: `[t]`, `[db, t]`, `[catalog, db, t]`, `[delta, /path]`. */
  readonly parts: readonly string[];
  readonly at?: QueryPoint | undefined;
  /** The change feed, `table_changes(name, start[, end])`; both ends included. */
  readonly changes?: { readonly start: QueryPoint; readonly end?: QueryPoint | undefined } | undefined;
  readonly position: TextPosition;
}

/** What a reference means: columns first, rows when the conditions on them are known. Asked for anew for each mention in the text. */
export interface QuerySource {
  readonly schema: StructType;
  /**
   * The rows. `filter`, over the schema's columns by their own names and bound to it, holds for every row the query uses of this source: rows
   * that break it may be left out, and need not be.
   */
  relation(filter: Expression | undefined): Promise<Relation>;
}

/** @throws AnalysisException `TABLE_OR_VIEW_NOT_FOUND` and what the reference may be refused with. */
export type ResolveReference = (reference: QueryReference) => Promise<QuerySource>;
