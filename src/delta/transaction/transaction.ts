import type { JsonObject } from '../../base/bigint-json.ts';
import type { Expression } from '../../expr/expression.ts';
import type { AutoCompactSettings, CommitOptions } from '../../table/row-operations.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { Action, AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** What a transaction looked at; decides which commits of others stand against it. */
export interface TransactionReads {
  /** All files, whatever they hold. */
  readonly wholeTable?: boolean | undefined;
  /** Bound conditions whose rows were read (or their absence was relied on). */
  readonly conditions?: readonly Expression[] | undefined;
  /** Whole partitions, by the values their files have in the log. */
  readonly partitions?: readonly PartitionValues[] | undefined;
  readonly files?: readonly AddFile[] | undefined;
  readonly appIds?: readonly string[] | undefined;
}

export interface Transaction extends CommitOptions {
  /** What was read; version -1 for a table that is being created. */
  readonly base: DeltaSnapshot;
  readonly operation: string;
  readonly operationParameters: JsonObject;
  /** All values are text, as other engines write them. */
  readonly operationMetrics: Readonly<Record<string, string>>;
  readonly actions: readonly Action[];
  /** See `OperationCommit`. */
  readonly addsKnownFiles?: boolean | undefined;
  readonly reads: TransactionReads;
  /** Whether small files are compacted after the commit. Default: as the table's properties say. */
  readonly autoCompact?: AutoCompactSettings | undefined;
}
