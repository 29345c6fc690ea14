import type { RegisteredSchema, ValueEncoding } from './payload-encoding.ts';

/** What of a record says which table it goes to. */
export type DivisionKey =
  /** A member of the value, below the members before it. */
  | { readonly kind: 'member'; readonly path: readonly string[]; readonly type: 'string' | 'long' | 'boolean' }
  /** The last header of that name. */
  | { readonly kind: 'header'; readonly name: string }
  /** The full name of the record that the schema of the value describes. */
  | { readonly kind: 'record-type' }
  /** The name of its topic. */
  | { readonly kind: 'topic' };

/** What one table takes: records whose key is one of `values`, or matches `pattern` as a whole. */
export interface DivisionPart {
  readonly table: string;
  readonly values: readonly string[];
  readonly pattern?: string | undefined;
}

/** How tables are called that are made for keys which no listed table takes. */
export interface DivisionTemplate {
  /** A name with `{key}` in it. */
  readonly table: string;
  /** The table that they are made like; it is the last of the listed parts, and takes no key. */
  readonly like: string;
  /** So many are made at most. */
  readonly max: number;
  /** Names that are taken by other tables. */
  readonly reserved?: readonly string[] | undefined;
  /** There are so many already. */
  readonly isFull?: boolean | undefined;
}

/** A table that was made for a key. */
export interface MadePart {
  readonly table: string;
  readonly key: string;
}

/** How the records of a route are divided among tables. Plain data, sent to worker threads. */
export interface DivisionSpec {
  readonly key: DivisionKey;
  readonly value: ValueEncoding;
  /** The first that fits takes a record. */
  readonly parts: readonly DivisionPart[];
  /** What becomes of records that no part takes. They are read with the first table, or with the one that others are made like. */
  readonly unmatched: 'reject' | 'suspend' | 'skip';
  /** One of the tables has a row for each key, so that a truncation must not be passed over. */
  readonly keyed?: boolean | undefined;
  /** Absent: there are the listed tables only. What it has made stands behind them among the parts. */
  readonly template?: DivisionTemplate | undefined;
}

/** The number of the part that records are read with which no part takes: where tables are made, nobody else waits for it to be known. */
export function unmatchedPart({ parts, template }: Pick<DivisionSpec, 'parts' | 'template'>): number {
  return template === undefined ? 0 : parts.findIndex(({ table }) => table === template.like);
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

/** Records of one source batch that one table takes, as a record batch with the offsets they had; not compressed, where they are not all of it. */
export interface DividedBatch extends BatchSpan {
  /** Number of the source batch. */
  readonly source: number;
  readonly recordCount: number;
  /** No table takes them, or nobody knows which: they are read with the table of `unmatchedPart`, and become no rows there. */
  readonly unmatched: boolean;
  /** It was opened, and its bytes are what the broker's checksum says: it is not compared again, and part of a batch has none. */
  readonly checked: boolean;
}

/** What one table gets, in the order of the source. */
export interface DividedPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly batches: readonly DividedBatch[];
}

export interface DivideResult {
  /** One for each part of the division. */
  readonly parts: readonly DividedPart[];
  /** Keys that a table is to be made for; nobody was given their records. */
  readonly wanted: readonly string[];
}

/** Divides record batches, off the main thread. */
export interface RecordDivider {
  /** @throws ServiceError kind `unavailable` when the thread, or the registry of the schemas, does not answer. */
  divide(task: Omit<DivideTask, 'unopened' | 'schemas'>, signal?: AbortSignal): Promise<DivideResult>;
}
