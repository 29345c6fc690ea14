import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { KafkaClient } from '../kafka/client.ts';
import type { ChangeEncoder, FeedPosition } from '../protocol/change-event.ts';
import type { SchemaSubjects } from '../protocol/schema-subjects.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import type { ReadableTable } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import type { FeedObserver } from './feed-observer.ts';
import type { FeedSpec } from './feed-spec.ts';
import type { FeedState } from './feed-state.ts';
import type { FeedPartitions } from './feed-topics.ts';
import type { SnapshotProgress } from './snapshot-progress.ts';

/** Everything a feed works with. */
export interface FeedParts {
  readonly spec: FeedSpec;
  readonly table: ReadableTable;
  readonly client: KafkaClient;
  readonly encoder: ChangeEncoder;
  /** Of the registry, where there is one. */
  readonly subjects?: SchemaSubjects | undefined;
  readonly events: TableEvents;
  readonly observer: FeedObserver;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
}

export interface FeedStatus {
  readonly feedId: string;
  readonly name: string;
  readonly table: string;
  readonly topic: string;
  readonly state: FeedState;
  /** Over how many the feed's records are spread, and how many its topic has; `undefined` until it was opened. */
  readonly partitions: FeedPartitions | undefined;
  /** What is published; `undefined` until it was read or when nothing was ever published. */
  readonly position: FeedPosition | undefined;
  /** ISO 8601; `undefined`: it is not paused. */
  readonly pausedSince: string | undefined;
  /** Of the snapshot that is being published. */
  readonly snapshot: SnapshotProgress | undefined;
  readonly latestVersion: Version | undefined;
  readonly lagVersions: number | undefined;
  /** Why the feed ended, or what it is retrying. */
  readonly error: unknown;
}
