import type { ServiceError } from '../base/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import type { Version } from '../table/version.ts';
import type { FeedState } from './feed-state.ts';
import type { LostPositionPolicy, TableReplacedPolicy, TopicReplacedPolicy } from './settings.ts';
import type { SnapshotProgress } from './snapshot-progress.ts';

/** What a feed tells about its work; every method has a counterpart among the metrics. */
export interface FeedObserver {
  state(state: FeedState): void;
  /** A transaction is visible to consumers. */
  published(run: {
    readonly version: Version;
    /** No row of the version is left. */
    readonly complete: boolean;
    readonly rowsByOperation: Readonly<Record<string, number>>;
    readonly recordCount: number;
    readonly sizeBytes: number;
  }): void;
  /** Versions that are not completely published. */
  lag(versions: number): void;
  /** How one transaction ended as the broker told it. */
  transaction(result: 'committed' | 'aborted' | 'unknown' | 'fenced' | 'refused', durationMs: number): void;
  /** What the position said about a transaction with an unknown outcome. */
  resolved(as: 'landed' | 'absent'): void;
  /** Versions are missing and the policy was applied. */
  gap(gap: { readonly version: Version; readonly policy: 'fail' | 'resnapshot' | 'skip' }): void;
  /** The stored position is lost and the policy is applied. */
  lost(loss: { readonly policy: LostPositionPolicy; readonly error: ServiceError }): void;
  /** A lost position was found in the records of the feed's topic. */
  recovered(position: FeedPosition): void;
  /** The feed's topic was replaced and the policy is applied. */
  replaced(replacement: { readonly policy: TopicReplacedPolicy; readonly error: ServiceError }): void;
  /** The topic has more partitions than the feed's keys are spread over. */
  partitionsAdded(partitions: { readonly partitions: number; readonly ofTopic: number }): void;
  /** Another table has the name of the one that was published, and the policy is applied. */
  tableReplaced(replacement: { readonly policy: TableReplacedPolicy; readonly error: ServiceError }): void;
  /** A transaction of a snapshot is through; `undefined`: the snapshot is. */
  snapshot(progress: SnapshotProgress | undefined): void;
  /** A step failed and is tried again. */
  retried(error: unknown): void;
}
