/** Text or null: the layout has nothing else. */
export type SqlValue = string | undefined;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * A database that keeps a catalog. Statements have `?` for their values and are each a transaction of their own. Connects at the first
 * statement; connects again after a connection was lost.
 *
 * Guarantees (test/conformance/table-pointer.ts): `execute` changes all of its rows or none, durably, and tells how many; a conditional
 * UPDATE has one winner among racers in any number of processes.
 *
 * Errors, of both: `SQL_CATALOG_UNAVAILABLE` (unavailable: nothing was changed, also when others held locks too long);
 * `SQL_CATALOG_OUTCOME_UNKNOWN` (unknown-outcome: the connection was lost after the statement was sent); `SQL_CATALOG_CONFLICT`
 * (conflict: undone by a deadlock or the like); `SQL_CATALOG_DUPLICATE` (conflict: the row is there already); `SQL_CATALOG_REFUSED` (invalid: the database refuses the statement). None names a password.
 */
export interface SqlConnection {
  readonly dialect: 'sqlite' | 'postgresql';
  /** The database, without credentials, for messages. */
  readonly shown: string;
  query(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<readonly SqlRow[]>;
  /** Rows changed. */
  execute(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<number>;
  close(): Promise<void>;
}
