import { type EpochMs, toEpochMs } from '../base/clock.ts';
import type { ServiceError } from '../base/errors.ts';
import type { ObjectInfo } from '../storage/object-store.ts';
import { toVersion, type Version } from '../table/version.ts';
import {
  type Action,
  type AddFile,
  type DamagedAction,
  type DomainMetadataAction,
  fileKey,
  liveRows,
  type MetadataAction,
  type ProtocolAction,
  type RemoveFile,
  type TxnAction,
} from './actions.ts';
import { PersistentMap } from './persistent-map.ts';

/** One version as read from the log. */
export interface DeltaCommit {
  readonly version: Version;
  readonly actions: readonly Action[];
  /** When storage says the commit file was written. */
  readonly modifiedMs: number;
  /** The commit file as it was seen, where it was looked at. */
  readonly commitFile?: ObjectInfo | undefined;
  /** What tells it from every other commit that ever has its version. Absent: it was read for a replay. */
  readonly digest?: string | undefined;
  /** What of it cannot be read. Absent: nothing, or whoever read the commit refused to go on. */
  readonly damaged?: readonly DamagedAction[] | undefined;
}

/** Where the replay of a version begins. */
export type ReplayBase = Pick<DeltaCommit, 'version' | 'modifiedMs' | 'commitFile' | 'damaged'>;

/** A log's state being replayed; a snapshot once protocol and metadata are known. */
export interface ReplayState {
  readonly version: Version;
  readonly committedAt: EpochMs;
  readonly protocol: ProtocolAction | undefined;
  readonly metadata: MetadataAction | undefined;
  readonly files: PersistentMap<AddFile>;
  readonly tombstones: PersistentMap<RemoveFile>;
  readonly txns: PersistentMap<TxnAction>;
  readonly domains: PersistentMap<DomainMetadataAction>;
  readonly sizeBytes: number;
  /** Rows of the files that have statistics. */
  readonly knownRows: number;
  readonly filesWithoutRowCount: number;
  /** Damage in actions that nothing superseded yet, by what would. While there is any the state is no snapshot. */
  readonly damage: ReadonlyMap<string, ServiceError>;
  readonly commitFile: ObjectInfo | undefined;
}

/** Before any action of the log. */
const emptyState: Omit<ReplayState, 'version' | 'committedAt' | 'commitFile'> = {
  protocol: undefined,
  metadata: undefined,
  files: PersistentMap.empty(),
  tombstones: PersistentMap.empty(),
  txns: PersistentMap.empty(),
  domains: PersistentMap.empty(),
  sizeBytes: 0,
  knownRows: 0,
  filesWithoutRowCount: 0,
  damage: new Map(),
};

/** Mutable while a commit's actions are folded in; the persistent maps inside are shared with the snapshot before. */
type Replaying = { -readonly [Key in keyof ReplayState]: ReplayState[Key] };

/**
 * The state after a commit's actions; `previous` is the one before, absent for the first (a checkpoint's, or version 0). What is damaged
 * counts only until something supersedes it: the log keeps what nobody needs to understand any more.
 */
export function replayed(previous: ReplayState | undefined, commit: ReplayBase, actions: Iterable<Action>): ReplayState {
  const version = toVersion(commit.version);
  const { commitFile } = commit;
  const state: Replaying = { ...(previous ?? { ...emptyState, committedAt: toEpochMs(commit.modifiedMs) }), version, commitFile };
  let inCommitMs: number | undefined;
  const adds: AddFile[] = [];
  for (const action of actions) {
    switch (action.kind) {
      case 'protocol':
        state.protocol = action;
        mend(state, 'protocol');
        break;
      case 'metaData':
        state.metadata = action;
        mend(state, 'metaData');
        break;
      // A commit may remove a file and add it again under another deletion vector: removes go first.
      case 'add':
        adds.push(action);
        break;
      case 'remove':
        remove(state, action);
        break;
      case 'txn':
        state.txns = state.txns.with(action.appId, action);
        break;
      case 'domainMetadata':
        state.domains = action.removed ? state.domains.without(action.domain) : state.domains.with(action.domain, action);
        break;
      case 'commitInfo': {
        const value = action.body['inCommitTimestamp'];
        if (typeof value === 'number') inCommitMs = value;
        break;
      }
      case 'cdc':
        break;
    }
  }
  for (const file of adds) add(state, file);
  if (commit.damaged !== undefined && commit.damaged.length > 0) {
    state.damage = new Map([...state.damage, ...commit.damaged.map(({ place, error }) => [place, error] as const)]);
  }
  const inCommitTimes = state.metadata?.configuration['delta.enableInCommitTimestamps'] === 'true';
  const ownMs = inCommitTimes && inCommitMs !== undefined ? inCommitMs : commit.modifiedMs;
  state.committedAt = toEpochMs(previous === undefined ? ownMs : Math.max(ownMs, previous.committedAt + 1));
  return state;
}

function add(state: Replaying, file: AddFile): void {
  const key = fileKey(file);
  forget(state, key);
  state.tombstones = state.tombstones.without(key);
  state.files = state.files.with(key, file);
  state.sizeBytes += file.sizeBytes;
  const rows = liveRows(file);
  if (rows === undefined) state.filesWithoutRowCount += 1;
  else state.knownRows += rows;
}

function remove(state: Replaying, file: RemoveFile): void {
  const key = fileKey(file);
  forget(state, key);
  state.tombstones = state.tombstones.with(key, file);
}

function forget(state: Replaying, key: string): void {
  mend(state, key);
  const file = state.files.get(key);
  if (file === undefined) return;
  state.files = state.files.without(key);
  state.sizeBytes -= file.sizeBytes;
  const rows = liveRows(file);
  if (rows === undefined) state.filesWithoutRowCount -= 1;
  else state.knownRows -= rows;
}

function mend(state: Replaying, place: string): void {
  if (state.damage.has(place)) state.damage = new Map([...state.damage].filter(([damaged]) => damaged !== place));
}
