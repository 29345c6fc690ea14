import { isDeepStrictEqual } from 'node:util';
import type { Action, AddFile, MetadataAction, RemoveFile } from '../actions.ts';
import { physicalPartitionColumns, physicalSchema } from '../column-mapping/physical-schema.ts';
import { commitInfoOf, DeltaSnapshot } from '../delta-snapshot.ts';
import { partitionKey } from '../operations/optimize/partition-key.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { selectFiles } from '../scan/select-files.ts';
import {
  ConcurrentAppendException,
  ConcurrentDeleteDeleteException,
  ConcurrentDeleteReadException,
  ConcurrentTransactionException,
  type DeltaConcurrentModificationException,
  MetadataChangedException,
  ProtocolChangedException,
  type WinningCommit,
} from './concurrent-modification.ts';
import { changesIdentityMarksOnly, changesRowTrackingOnly, harmlessUpgrade } from './harmless-changes.ts';
import type { IsolationLevel } from './isolation.ts';
import { rowTrackingDomain } from './row-tracking.ts';
import type { TransactionReads } from './transaction.ts';

/** What a transaction read and wants to do. */
export interface CheckedTransaction {
  readonly reads: TransactionReads;
  readonly actions: readonly Action[];
  readonly isolationLevel: IsolationLevel;
}

/**
 * What stands against putting a transaction behind `winner`, or `undefined`. `before`: the table as the winner found it. The rules in
 * their order: what a table is first, then marks of writers, then rows read, then files removed.
 */
export function conflictBehind(
  table: string,
  transaction: CheckedTransaction,
  winner: DeltaCommit,
  before: DeltaSnapshot,
): DeltaConcurrentModificationException | undefined {
  const named: WinningCommit = { table, version: winner.version, info: commitInfoOf(winner.actions)?.body };
  const summary = summaryOf(winner, before);
  if (protocolConflict(transaction, summary, before)) return new ProtocolChangedException(named);
  if (metadataConflict(transaction, summary, before)) return new MetadataChangedException(named);
  if (sharedDomain(transaction.actions, winner.actions)) return new MetadataChangedException(named);
  if (transaction.reads.appIds?.some((appId) => summary.appIds.has(appId)) === true) return new ConcurrentTransactionException(named);
  if (addsRowsOf(transaction, summary, before)) return new ConcurrentAppendException(named);
  if (removesReadFile(transaction.reads, summary)) return new ConcurrentDeleteReadException(named);
  if (removesSameFile(transaction.actions, summary)) return new ConcurrentDeleteDeleteException(named);
  return undefined;
}

interface WinnerSummary {
  readonly commit: DeltaCommit;
  readonly metadata: MetadataAction | undefined;
  readonly appIds: ReadonlySet<string>;
  /** Files that brought rows: what a rewrite adds held the same rows before. */
  readonly added: readonly AddFile[];
  readonly removedPaths: ReadonlySet<string>;
  readonly blindAppend: boolean;
}

function summaryOf(commit: DeltaCommit, before: DeltaSnapshot): WinnerSummary {
  const { actions } = commit;
  const metadata = actions.findLast((action): action is MetadataAction => action.kind === 'metaData');
  return {
    commit,
    metadata: metadata !== undefined && isDeepStrictEqual(metadata, before.metadata) ? undefined : metadata,
    appIds: new Set(actions.flatMap((action) => (action.kind === 'txn' ? [action.appId] : []))),
    added: actions.filter((action): action is AddFile => action.kind === 'add' && action.dataChange),
    removedPaths: new Set(actions.flatMap((action) => (action.kind === 'remove' ? [action.storedPath] : []))),
    blindAppend: commitInfoOf(actions)?.body['isBlindAppend'] === true,
  };
}

function protocolConflict(transaction: CheckedTransaction, winner: WinnerSummary, before: DeltaSnapshot): boolean {
  const changed = winner.commit.actions.findLast((action) => action.kind === 'protocol');
  if (changed === undefined) return false;
  if (transaction.actions.some((action) => action.kind === 'protocol')) return true;
  return !isDeepStrictEqual(changed, before.protocol) && !harmlessUpgrade(before.protocol, changed);
}

function metadataConflict(transaction: CheckedTransaction, winner: WinnerSummary, before: DeltaSnapshot): boolean {
  if (winner.metadata === undefined) return false;
  if (transaction.actions.some((action) => action.kind === 'metaData')) return true;
  return !changesIdentityMarksOnly(before.metadata, winner.metadata) && !changesRowTrackingOnly(before.metadata, winner.metadata);
}

function sharedDomain(ours: readonly Action[], theirs: readonly Action[]): boolean {
  const domains = (actions: readonly Action[]): readonly string[] =>
    actions.flatMap((action) => (action.kind === 'domainMetadata' && action.domain !== rowTrackingDomain ? [action.domain] : []));
  const taken = new Set(domains(theirs));
  return domains(ours).some((domain) => taken.has(domain));
}

function addsRowsOf(transaction: CheckedTransaction, winner: WinnerSummary, before: DeltaSnapshot): boolean {
  const { isolationLevel, reads, actions } = transaction;
  if (winner.added.length === 0 || isolationLevel === 'SnapshotIsolation') return false;
  const changesMetadata = actions.some((action) => action.kind === 'metaData');
  if (isolationLevel === 'WriteSerializable' && winner.blindAppend && !changesMetadata) return false;
  if (reads.wholeTable === true) return true;
  return touchesPartitions(reads, winner.added, before) || holdsReadRows(reads, winner.added, before);
}

function touchesPartitions(reads: TransactionReads, added: readonly AddFile[], before: DeltaSnapshot): boolean {
  if (reads.partitions === undefined || reads.partitions.length === 0) return false;
  const columns = physicalPartitionColumns(before.schema, before.partitionColumns, before.mapping);
  const schema = physicalSchema(before.schema, before.mapping);
  const read = new Set(reads.partitions.map((values) => partitionKey(values, columns, schema)));
  return added.some((file) => read.has(partitionKey(file.partitionValues, columns, schema)));
}

function holdsReadRows(reads: TransactionReads, added: readonly AddFile[], before: DeltaSnapshot): boolean {
  if (reads.conditions === undefined || reads.conditions.length === 0) return false;
  const base = { version: before.version, modifiedMs: before.committedAt };
  const candidates = DeltaSnapshot.replay('candidates', base, [before.protocol, before.metadata, ...added]);
  return reads.conditions.some((condition) => selectFiles(candidates, condition).length > 0);
}

function removesReadFile(reads: TransactionReads, winner: WinnerSummary): boolean {
  if (winner.removedPaths.size === 0) return false;
  return reads.wholeTable === true || reads.files?.some((file) => winner.removedPaths.has(file.storedPath)) === true;
}

function removesSameFile(actions: readonly Action[], winner: WinnerSummary): boolean {
  return actions.some((action): action is RemoveFile => action.kind === 'remove' && winner.removedPaths.has(action.storedPath));
}
