import { present } from '../base/assert.ts';
import { type EpochMs, toEpochMs } from '../base/clock.ts';
import { isServiceError, ServiceError } from '../base/errors.ts';
import type { StructType } from '../schema/types.ts';
import type { Snapshot } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import {
  type Action,
  type AddFile,
  type CommitInfoAction,
  type DomainMetadataAction,
  fileKey,
  liveRows,
  type MetadataAction,
  type ProtocolAction,
  type RemoveFile,
  type TxnAction,
} from './actions.ts';
import { type MappingMode, mappingModeOf } from './column-mapping/physical-schema.ts';
import { PersistentMap } from './persistent-map.ts';
import { type DeltaProperties, deltaProperties } from './properties.ts';
import { parseSchemaString } from './schema-json.ts';
import { checkReadable } from './table-features.ts';

/** One version as read from the log. */
export interface DeltaCommit {
  readonly version: Version;
  readonly actions: readonly Action[];
  /** When storage says the commit file was written. */
  readonly modifiedMs: number;
}

/** A log's state being replayed; a snapshot once protocol and metadata are known. */
interface ReplayState {
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
}

/**
 * The table at one version, replayed from the log and immutable. `apply` gives the next version at the cost of that version's own
 * actions; both snapshots stay usable.
 */
export class DeltaSnapshot implements Snapshot {
  readonly version: Version;
  /** In-commit timestamp where the table has them, else the commit file's time, moved forward so that it grows with the version. */
  readonly committedAt: EpochMs;
  readonly protocol: ProtocolAction;
  readonly metadata: MetadataAction;
  readonly schema: StructType;
  readonly settings: DeltaProperties;
  /** How files, statistics and partition values name the columns. */
  readonly mapping: MappingMode;
  readonly sizeBytes: number;
  readonly #state: ReplayState;

  private constructor(state: ReplayState, previous: DeltaSnapshot | undefined, name: string) {
    this.#state = state;
    this.version = state.version;
    this.committedAt = state.committedAt;
    this.protocol = state.protocol ?? missing(name, state.version, 'protocol');
    this.metadata = state.metadata ?? missing(name, state.version, 'metaData');
    this.sizeBytes = state.sizeBytes;
    const unchanged = previous !== undefined && previous.metadata === this.metadata;
    this.schema = unchanged ? previous.schema : schemaOf(this.protocol, this.metadata, name);
    this.settings = unchanged ? previous.settings : deltaProperties(this.metadata.configuration, name);
    this.mapping = mappingModeOf(this.protocol, this.metadata);
  }

  /**
   * The first snapshot: `actions` (those of a checkpoint, or of version 0) followed by nothing.
   *
   * @throws ServiceError `DELTA_STATE_RECOVER_ERROR` (kind corrupt) when there is no protocol or no metadata.
   */
  static replay(name: string, base: { readonly version: Version; readonly modifiedMs: number }, actions: Iterable<Action>): DeltaSnapshot {
    const start: ReplayState = {
      version: base.version,
      committedAt: toEpochMs(base.modifiedMs),
      protocol: undefined,
      metadata: undefined,
      files: PersistentMap.empty(),
      tombstones: PersistentMap.empty(),
      txns: PersistentMap.empty(),
      domains: PersistentMap.empty(),
      sizeBytes: 0,
      knownRows: 0,
      filesWithoutRowCount: 0,
    };
    return new DeltaSnapshot(replayed(start, base, actions, undefined), undefined, name);
  }

  /** The snapshot after `commit`, which must be of the next version. */
  apply(commit: DeltaCommit, name: string): DeltaSnapshot {
    const state = replayed(this.#state, commit, commit.actions, this.committedAt);
    return new DeltaSnapshot(state, this, name);
  }

  get tableId(): string {
    return this.metadata.id;
  }

  get partitionColumns(): readonly string[] {
    return this.metadata.partitionColumns;
  }

  get properties(): Readonly<Record<string, string>> {
    return this.metadata.configuration;
  }

  get fileCount(): number {
    return this.#state.files.size;
  }

  get rowCount(): number | undefined {
    return this.#state.filesWithoutRowCount === 0 ? this.#state.knownRows : undefined;
  }

  /** Live files, in no promised order. */
  files(): Iterable<AddFile> {
    return this.#state.files.values();
  }

  /** The live file of that key (`fileKey`), if it is live. */
  file(key: string): AddFile | undefined {
    return this.#state.files.get(key);
  }

  /** Removed files the log still knows, in no promised order. */
  tombstones(): Iterable<RemoveFile> {
    return this.#state.tombstones.values();
  }

  get tombstoneCount(): number {
    return this.#state.tombstones.size;
  }

  txns(): Iterable<TxnAction> {
    return this.#state.txns.values();
  }

  /** Domain metadata in force. */
  domains(): Iterable<DomainMetadataAction> {
    return this.#state.domains.values();
  }

  progressOf(writerId: string): bigint | undefined {
    return this.#state.txns.get(writerId)?.version;
  }

  progressStartingWith(prefix: string): ReadonlyMap<string, bigint> {
    const marks = new Map<string, bigint>();
    for (const [appId, txn] of this.#state.txns) if (appId.startsWith(prefix)) marks.set(appId, txn.version);
    return marks;
  }
}

/** The version's own description, if it has one. */
export function commitInfoOf(actions: Iterable<Action>): CommitInfoAction | undefined {
  for (const action of actions) if (action.kind === 'commitInfo') return action;
  return undefined;
}

/** Mutable while a commit's actions are folded in; the persistent maps inside are shared with the snapshot before. */
type Replaying = { -readonly [Key in keyof ReplayState]: ReplayState[Key] };

function replayed(
  start: ReplayState,
  base: { readonly version: Version; readonly modifiedMs: number },
  actions: Iterable<Action>,
  previousAt: EpochMs | undefined,
): ReplayState {
  const state: Replaying = { ...start, version: toVersion(base.version) };
  let inCommitMs: number | undefined;
  const adds: AddFile[] = [];
  for (const action of actions) {
    switch (action.kind) {
      case 'protocol':
        state.protocol = action;
        break;
      case 'metaData':
        state.metadata = action;
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
  const inCommitTimes = state.metadata?.configuration['delta.enableInCommitTimestamps'] === 'true';
  const ownMs = inCommitTimes && inCommitMs !== undefined ? inCommitMs : base.modifiedMs;
  state.committedAt = toEpochMs(previousAt === undefined ? ownMs : Math.max(ownMs, previousAt + 1));
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
  const file = state.files.get(key);
  if (file === undefined) return;
  state.files = state.files.without(key);
  state.sizeBytes -= file.sizeBytes;
  const rows = liveRows(file);
  if (rows === undefined) state.filesWithoutRowCount -= 1;
  else state.knownRows -= rows;
}

/** A type that is not known here mostly comes with a feature that is not: the feature says more. */
function schemaOf(protocol: ProtocolAction, metadata: MetadataAction, name: string): StructType {
  try {
    return parseSchemaString(metadata.schemaString, `table "${name}"`);
  } catch (error) {
    if (isServiceError(error, 'unsupported')) checkReadable(protocol, metadata, name);
    throw error;
  }
}

function missing(name: string, version: Version, what: string): never {
  throw new ServiceError({
    code: 'DELTA_STATE_RECOVER_ERROR',
    kind: 'corrupt',
    message: `table "${name}": the log up to version ${version} has no ${what} action`,
    hint: 'the first commit or the checkpoint is damaged; restore the log from a copy',
  });
}

/** The snapshot a base of the neutral contract stands for. */
export function asDeltaSnapshot(snapshot: Snapshot): DeltaSnapshot {
  return present(snapshot instanceof DeltaSnapshot ? snapshot : undefined, 'the base must be a snapshot of a Delta table');
}
