import type { RegisteredSchema, ValueEncoding } from './payload-encoding.ts';

/** What of a record says which table it goes to. */
export type DivisionKey =
  /** A member of the value, below the members before it. */
  | { readonly kind: 'member'; readonly path: readonly string[]; readonly type: 'string' | 'long' | 'boolean' }
  /** The last header of that name. */
  | { readonly kind: 'header'; readonly name: string }
  /** The full name of the record that the schema of the value describes. */
  | { readonly kind: 'record-type' };

/** What one table takes: records whose key is one of `values`, or matches `pattern` as a whole. */
export interface DivisionPart {
  readonly table: string;
  readonly values: readonly string[];
  readonly pattern?: string | undefined;
}

/** How the records of a route are divided among tables. Plain data, sent to worker threads. */
export interface DivisionSpec {
  readonly key: DivisionKey;
  readonly value: ValueEncoding;
  /** The first that fits takes a record. */
  readonly parts: readonly DivisionPart[];
  /** What becomes of records that no part takes. They are read with the first table. */
  readonly unmatched: 'reject' | 'suspend' | 'skip';
  /** One of the tables has a row for each key, so that a truncation must not be passed over. */
  readonly keyed?: boolean | undefined;
}

/** What a table is one of. */
export interface DivisionOfTable {
  /** One object for all tables of the route. */
  readonly spec: DivisionSpec;
  /** The number of its part. */
  readonly index: number;
}

/** One record batch among the bytes of a task or its result. */
export interface BatchSpan {
  readonly start: number;
  readonly end: number;
}

/** Record batches of one partition that are to be divided. */
export interface DivideTask {
  readonly spec: DivisionSpec;
  readonly topic: string;
  readonly partition: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly batches: readonly BatchSpan[];
  /** Batches, by their numbers, that are not opened: they belong to nobody. */
  readonly unopened: readonly number[];
  /** Schemas that payloads refer to, beside those that the thread was given before. */
  readonly schemas: readonly RegisteredSchema[];
}

/** Records of one source batch that one table takes, as an uncompressed record batch with the offsets they had. */
export interface DividedBatch extends BatchSpan {
  /** Number of the source batch. */
  readonly source: number;
  readonly recordCount: number;
  /** No table takes them, or nobody knows which: they are read with the first table, and become no rows there. */
  readonly unmatched: boolean;
}

/** What one table gets, in the order of the source. */
export interface DividedPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly batches: readonly DividedBatch[];
}

export interface DivideResult {
  /** One for each part of the division. */
  readonly parts: readonly DividedPart[];
}

/** Divides record batches, off the main thread. */
export interface RecordDivider {
  /** @throws ServiceError kind `unavailable` when the thread, or the registry of the schemas, does not answer. */
  divide(task: Omit<DivideTask, 'unopened' | 'schemas'>, signal?: AbortSignal): Promise<DivideResult>;
}
