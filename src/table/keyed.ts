import type { ColumnBatch } from '../schema/columns.ts';
import type { AppendIntent, CommitOutcome } from './commit.ts';
import type { Snapshot } from './table.ts';

/** What a batch says of the keys in it: of each key what its last record said. */
export interface KeyedRows {
  readonly keyColumns: readonly string[];
  /** A row for each key: the key columns in their order, and whether the key is deleted. Keys that are not have their row in a staged file. */
  readonly keys: ColumnBatch;
}

/** Rows that take the place of those with the same keys, keys whose rows end, and the progress they carry; one table version. */
export interface UpsertIntent extends AppendIntent {
  readonly keyed: KeyedRows;
}

/** What an upsert did, or would have done had it landed. */
export interface AppliedKeys {
  readonly insertedRows: number;
  readonly updatedRows: number;
  readonly deletedRows: number;
  /** Data files whose keys were read, of those that the version has. */
  readonly filesLookedAt: number;
  readonly lookupMs: number;
}

export interface TriedUpsert {
  readonly outcome: CommitOutcome;
  /** `undefined`: it was known before the lookup that it cannot land. */
  readonly applied: AppliedKeys | undefined;
}

/** What a table that has one row for each key needs. */
export interface KeyedTable {
  /**
   * One attempt at the version after `base`, in which each key of the intent has its staged row, or none, and all others have theirs. The rows
   * of the keys are looked up in `base` anew for each attempt. Does not retry, rebase or verify; what a lost attempt wrote is deleted, the staged
   * files stay.
   *
   * @throws what `tryAppend` of the table throws, and the errors of the engine.
   */
  tryUpsert(base: Snapshot, intent: UpsertIntent, signal?: AbortSignal): Promise<TriedUpsert>;
  /** Some keys that more than one row of the snapshot has, as text, at most `limit`. */
  repeatedKeys(snapshot: Snapshot, keyColumns: readonly string[], limit: number, signal?: AbortSignal): Promise<readonly string[]>;
}
