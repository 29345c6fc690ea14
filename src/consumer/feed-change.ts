import type { JsonValue } from '../base/bigint-json.ts';

/** A row, or the columns of a key, by name: decimals, dates and times as text, binary as base64, integers beyond 2^53 as bigint. */
export interface FeedRow {
  readonly [column: string]: JsonValue | undefined;
}

/** One change of one row, or of all. */
export interface FeedChange {
  /** `read`: a row of a snapshot, which is there whatever was before. `truncate`: all rows there were are gone; it has no key, `before` or `after`. */
  readonly operation: 'insert' | 'update' | 'delete' | 'read' | 'truncate';
  /** The columns of the feed's key; `undefined`: the feed has none, or it is about all rows. */
  readonly key: FeedRow | undefined;
  /** The same for every record of the key. */
  readonly keyText: string | undefined;
  /** `undefined` where there is none, or where the envelope does not tell it. */
  readonly before: FeedRow | undefined;
  readonly after: FeedRow | undefined;
  /** Version of the table, and number of the row in it. */
  readonly version: bigint;
  readonly ordinal: number;
  /** The row is one of a snapshot of the version. */
  readonly snapshot: boolean;
  readonly committedAt: Date;
  /** `<pipeline>/<table>`. */
  readonly feed: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A record as kafkajs gives it. */
export interface FeedRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers?: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>> | undefined;
}

export type FeedEnvelope = 'debezium' | 'flat' | 'after' | 'cloudevents';
