import type { EncodedRecordBatch, KafkaAdmin } from '../../kafka/client.ts';
import type { FeedPosition } from '../../protocol/change-event.ts';
import type { VersionChanges } from '../../table/changes.ts';

/** Rows of one version that are to be published, or none of a version without. */
export interface VersionStep {
  /** What is published before. */
  readonly from: FeedPosition;
  /** What is with them. */
  readonly until: FeedPosition;
  readonly changes: VersionChanges;
  /** The rows are of a snapshot of the version. */
  readonly snapshot: boolean;
  /** How many events the rows are. */
  readonly events: number;
}

/** Records beside the rows, and what the position holds of them for the next step. */
export interface ToldBeside {
  readonly batches: readonly EncodedRecordBatch[];
  readonly position: Pick<FeedPosition, 'events' | 'schema'>;
}

/**
 * Makes records about versions, in the Kafka transaction of the rows. What was told before is known from the position of the step alone, so that
 * each record is told once whoever publishes the feed and however often it begins again; the same step gives the same records.
 */
export interface VersionRecords {
  /** Before the first step of an opening of the feed: makes what the records need. */
  open(admin: KafkaAdmin): Promise<void>;
  /** `undefined`: nothing is told. */
  of(step: VersionStep, signal?: AbortSignal): Promise<ToldBeside | undefined>;
}
