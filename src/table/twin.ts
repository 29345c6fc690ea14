import type { EpochMs } from '../base/clock.ts';
import type { ColumnIds } from '../schema/column-ids.ts';
import type { StructType } from '../schema/types.ts';
import type { StagedFile } from './staged-file.ts';
import type { Version } from './version.ts';

/**
 * Two tables of different formats over the same data files: the leader owns and changes them, the twin says in its own format what the leader has
 * (docs/adr/0021-twins.md).
 */

/** A live data file of a leader. */
export interface LeaderFile extends Pick<StagedFile, 'sizeBytes' | 'rowCount' | 'statistics'> {
  /** Absolute path, or the URI of an object store; nothing in it is percent-encoded. */
  readonly location: string;
  /** One value for each partition column. */
  readonly partition: NonNullable<StagedFile['partition']>;
}

/** What holds of a leader at one version. */
export interface LeaderPoint {
  readonly tableId: string;
  readonly version: Version;
  /** What tells the version from every other one that ever has its number. */
  readonly id: string;
  readonly committedAt: EpochMs;
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  /** The writers' progress marks. */
  readonly marks: ReadonlyMap<string, bigint>;
}

/** What one version did to the files. */
export interface LeaderStep extends LeaderPoint {
  /** `id` of the version before; `undefined`: not known any more. */
  readonly previous: string | undefined;
  /** `replace`: the same rows in other files. `none`: no file changed. */
  readonly kind: 'append' | 'overwrite' | 'replace' | 'none';
  readonly added: readonly LeaderFile[];
  /** Locations of files that were live before. */
  readonly removed: readonly string[];
  readonly userMetadata: string | undefined;
}

/** All of a version: what a twin is made of, and made equal to when single versions do not lead there. */
export interface LeaderState extends LeaderPoint {
  /** Of every live file, without reading any. */
  readonly locations: ReadonlySet<string>;
  describe(locations: ReadonlySet<string>, signal?: AbortSignal): Promise<readonly LeaderFile[]>;
}

/** A table whose files another table can share. */
export interface LeaderTable {
  /**
   * `undefined`: the log no longer has what the version did.
   *
   * @throws ServiceError `TWIN_UNSUPPORTED` (unsupported) for a version that no other format can say with the same files.
   */
  stepAt(version: Version, signal?: AbortSignal): Promise<LeaderStep | undefined>;
  /** @throws as `stepAt`. */
  stateAt(version: Version, signal?: AbortSignal): Promise<LeaderState>;
  /** The twin that the table's properties name, so that whoever opens the table knows of it. */
  twin(): Promise<TwinNote | undefined>;
  /** Notes it; nothing is written when it is noted already. */
  noteTwin(note: TwinNote, signal?: AbortSignal): Promise<void>;
}

/** What a leader remembers of its twin. */
export interface TwinNote {
  /** Where it is, for people. */
  readonly table: string;
  /** Ids that its columns have, for good: a twin that is made again gets the same. */
  readonly columnIds: ColumnIds;
}

/** How far a twin is, by what the table itself says. */
export type TwinPosition =
  /** It has shown no version yet. */
  | { readonly kind: 'new' }
  /** It is a table of its own. */
  | { readonly kind: 'not-a-twin' }
  | { readonly kind: 'at'; readonly tableId: string; readonly version: Version; readonly id: string }
  /** Somebody else changed rows or files since. */
  | { readonly kind: 'changed'; readonly snapshotId: bigint; readonly operation: string; readonly lastOwn: bigint | undefined };

/** How one attempt ended. `nothing`: there is nothing in the step that the twin would show; of an unknown outcome the next position tells. */
export type TwinOutcome = 'committed' | 'nothing' | 'conflicted' | 'unknown';

/** A table that follows a leader. */
export interface TwinTable {
  position(signal?: AbortSignal): Promise<TwinPosition>;
  readonly columnIds: ColumnIds;
  /** Why rows of the leader's columns cannot be read as the twin's; `undefined`: they can. */
  misfit(point: LeaderPoint): string | undefined;
  /**
   * Shows the version after the one it is at. It holds only if the twin is still where the position was read.
   *
   * @throws ServiceError `TWIN_FILES_DIFFER` (corrupt) for files to remove that it does not have; what the storage and the catalog throw: nothing
   * was changed.
   */
  tryStep(step: LeaderStep, signal?: AbortSignal): Promise<TwinOutcome>;
  /** Becomes what the leader is, whatever it is now: one snapshot with what differs. @throws as `tryStep`. */
  tryMatch(state: LeaderState, signal?: AbortSignal): Promise<TwinOutcome>;
  /** The oldest version of the leader that a snapshot still shows; `undefined`: none does. */
  oldestShown(signal?: AbortSignal): Promise<Version | undefined>;
}
