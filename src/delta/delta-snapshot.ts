import { present } from '../base/assert.ts';
import type { EpochMs } from '../base/clock.ts';
import { isServiceError, serviceError } from '../base/errors.ts';
import type { StructType } from '../schema/types.ts';
import type { ObjectInfo } from '../storage/object-store.ts';
import type { Snapshot } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import type {
  Action,
  AddFile,
  CommitInfoAction,
  DomainMetadataAction,
  MetadataAction,
  ProtocolAction,
  RemoveFile,
  TxnAction,
} from './actions.ts';
import { type MappingMode, mappingModeOf } from './column-mapping/physical-schema.ts';
import { type DeltaProperties, deltaProperties } from './properties.ts';
import { type DeltaCommit, type ReplayBase, type ReplayState, replayed } from './replay-state.ts';
import { parseSchemaString } from './schema-json.ts';
import { checkReadable } from './table-features.ts';

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
  /** The version's own commit file as it was seen: another one in its place is another history. `undefined`: it was cleaned up already. */
  readonly commitFile: ObjectInfo | undefined;
  readonly #state: ReplayState;

  private constructor(state: ReplayState, previous: DeltaSnapshot | undefined, name: string) {
    for (const error of state.damage.values()) throw error;
    this.#state = state;
    this.version = state.version;
    this.committedAt = state.committedAt;
    this.protocol = state.protocol ?? missing(name, state.version, 'protocol');
    this.metadata = state.metadata ?? missing(name, state.version, 'metaData');
    this.sizeBytes = state.sizeBytes;
    this.commitFile = state.commitFile;
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
  static replay(name: string, base: ReplayBase, actions: Iterable<Action>): DeltaSnapshot {
    return DeltaSnapshot.of(replayed(undefined, base, actions), name);
  }

  /**
   * The snapshot a replayed state is; `previous` is one before it. Only what is in force there has to be valid.
   *
   * @throws ServiceError `DELTA_LOG_CORRUPT` for damage that nothing superseded, and as `replay`.
   */
  static of(state: ReplayState, name: string, previous?: DeltaSnapshot): DeltaSnapshot {
    return new DeltaSnapshot(state, previous, name);
  }

  /** The snapshot after `commit`, which must be of the next version. */
  apply(commit: DeltaCommit, name: string): DeltaSnapshot {
    return new DeltaSnapshot(replayed(this.#state, commit, commit.actions), this, name);
  }

  /** Where a replay of later commits goes on. */
  get state(): ReplayState {
    return this.#state;
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
  throw serviceError.corrupt('DELTA_STATE_RECOVER_ERROR', `table "${name}": the log up to version ${version} has no ${what} action`, {
    hint: 'the first commit or the checkpoint is damaged; restore the log from a copy',
  });
}

/** The snapshot a base of the neutral contract stands for. */
export function asDeltaSnapshot(snapshot: Snapshot): DeltaSnapshot {
  return present(snapshot instanceof DeltaSnapshot ? snapshot : undefined, 'the base must be a snapshot of a Delta table');
}
