import type { StructType } from '../schema/types.ts';

/**
 * Rows as a query of the embedded engine: plain data, evaluated when read, as often as it is read. The text is made by `engine/` alone,
 * from quoted names, printed literals and registered relations; nothing a user wrote stands in it as it was written.
 */
export interface Relation {
  /** A whole SELECT, without a closing semicolon; can stand in parentheses. */
  readonly sql: string;
  /** Columns of the query, in order. */
  readonly schema: StructType;
}

/** A relation that holds engine memory (or disk) until it is disposed; its text is invalid afterwards. */
export interface HeldRelation extends Relation {
  dispose(): Promise<void>;
}
