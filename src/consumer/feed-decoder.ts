import { isJsonObject, type JsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import type { FeedChange, FeedEnvelope, FeedRecord, FeedRow } from './feed-change.ts';
import { Payloads, type SchemasById } from './payloads.ts';

/** How a feed's records are read. */
export interface FeedDecoderOptions {
  /** As the feed has it. Default `debezium`. */
  readonly envelope?: FeedEnvelope | undefined;
  /** For feeds of encoding json-schema and avro. */
  readonly registry?: SchemasById | undefined;
  /** Header `feed` of the records to read, where several feeds share a topic. Default: all. */
  readonly feed?: string | undefined;
  /** Passes over records that were read before, as whoever reads uncommitted records, or joins again, sees them. Default false. */
  readonly deduplicate?: boolean | undefined;
}

/** Where a record is in its feed, in ascending order. */
type Place = readonly [version: bigint, snapshot: number, ordinal: number, tombstone: number];

/** Turns the records of a feed into changes, each partition's in order. */
export class FeedDecoder {
  readonly #envelope: FeedEnvelope;
  readonly #payloads: Payloads;
  readonly #feed: string | undefined;
  readonly #deduplicates: boolean;
  /** By partition and feed. */
  #seen = new Map<string, Place>();
  /** Preimages of the flat envelope, by partition and key, until their postimage comes. */
  #preimages = new Map<string, FeedRow>();

  constructor({ envelope = 'debezium', registry, feed, deduplicate = false }: FeedDecoderOptions = {}) {
    this.#envelope = envelope;
    this.#payloads = new Payloads(registry);
    this.#feed = feed;
    this.#deduplicates = deduplicate;
  }

  /**
   * The change that a record tells; `undefined`: none of its own (a tombstone behind a delete, a preimage, a repeat, another feed's).
   *
   * @throws ServiceError `CONSUMER_RECORD_FOREIGN`, `CONSUMER_PAYLOAD_INVALID` (kind invalid) for what no feed wrote, and as `Payloads.read`.
   */
  async decode(record: FeedRecord): Promise<FeedChange | undefined> {
    const headers = headersOf(record);
    if (this.#feed !== undefined && headers.feed !== this.#feed) return undefined;
    if (this.#deduplicates && this.#isRepeat(record, headers)) return undefined;
    const key = record.key === null ? undefined : await this.#payloads.read(record.key);
    const keyText = key === undefined ? undefined : printJson(key);
    const { topic, partition } = record;
    const common = { ...headers, key, keyText, topic, partition, offset: BigInt(record.offset) };
    if (record.value === null)
      return this.#envelope === 'after' ? { ...common, operation: 'delete', before: undefined, after: undefined } : undefined;
    const value = await this.#payloads.read(record.value);
    const told =
      this.#envelope === 'flat' ? this.#flat(value, `${topic}/${partition}/${keyText ?? ''}`) : this.#images(value, headerOf(record, 'op'));
    return told === undefined ? undefined : { ...common, ...told };
  }

  /** Answers what takes the decoder back to here: records that are to be read again are no repeats. */
  checkpoint(): () => void {
    const [seen, preimages] = [new Map(this.#seen), new Map(this.#preimages)];
    return () => {
      this.#seen = seen;
      this.#preimages = preimages;
    };
  }

  #images(value: JsonObject, op: string | undefined): Pick<FeedChange, 'operation' | 'before' | 'after'> {
    const operation = operations[op ?? ''];
    if (operation === undefined) throw foreign(`header op is ${op ?? 'missing'}`);
    if (this.#envelope === 'after') return { operation, before: undefined, after: value };
    const { before, after } = this.#envelope === 'cloudevents' && isJsonObject(value['data']) ? value['data'] : value;
    return { operation, before: rowOf(before), after: rowOf(after) };
  }

  #flat(value: JsonObject, place: string): Pick<FeedChange, 'operation' | 'before' | 'after'> | undefined {
    const { _change_type: type } = value;
    const row = Object.fromEntries(Object.entries(value).filter(([name]) => !ofChange.has(name)));
    switch (type) {
      case 'insert':
        return { operation: 'insert', before: undefined, after: row };
      case 'delete':
        return { operation: 'delete', before: row, after: undefined };
      case 'update_preimage':
        this.#preimages.set(place, row);
        return undefined;
      case 'update_postimage': {
        const before = this.#preimages.get(place);
        this.#preimages.delete(place);
        return { operation: 'update', before, after: row };
      }
      default:
        throw foreign(`_change_type is ${printJson(type ?? null)}`);
    }
  }

  #isRepeat(record: FeedRecord, { feed, version, snapshot, ordinal }: Headers): boolean {
    const place: Place = [version, snapshot ? 1 : 0, ordinal, headerOf(record, 'tombstone') === undefined ? 0 : 1];
    const stream = `${record.topic}/${record.partition}/${feed}`;
    const last = this.#seen.get(stream);
    if (last !== undefined && !isBehind(place, last)) return true;
    this.#seen.set(stream, place);
    return false;
  }
}

/** Members of the flat envelope that are no columns. */
const ofChange: ReadonlySet<string> = new Set(['_change_type', '_commit_version', '_commit_timestamp']);

type Headers = Pick<FeedChange, 'version' | 'ordinal' | 'snapshot' | 'committedAt' | 'feed'>;

const operations: Readonly<Record<string, FeedChange['operation']>> = { c: 'insert', u: 'update', d: 'delete', r: 'read', t: 'truncate' };

function isBehind(place: Place, last: Place): boolean {
  for (const [index, part] of place.entries()) {
    const other = last[index] ?? 0;
    if (part !== other) return part > other;
  }
  return false;
}

function headersOf(record: FeedRecord): Headers {
  const text = (name: string): string => {
    const value = headerOf(record, name);
    if (value === undefined) throw foreign(`it has no header ${name}`);
    return value;
  };
  return {
    version: BigInt(text('version')),
    ordinal: Number(text('ordinal')),
    snapshot: headerOf(record, 'snapshot') === 'true',
    committedAt: new Date(Number(text('committed_at'))),
    feed: text('feed'),
  };
}

function headerOf({ headers }: FeedRecord, name: string): string | undefined {
  const value = headers?.[name];
  const one = Array.isArray(value) ? value[0] : value;
  return one === undefined ? undefined : one.toString();
}

function rowOf(value: JsonValue | undefined): FeedRow | undefined {
  return isJsonObject(value) ? value : undefined;
}

function foreign(what: string): Error {
  return serviceError.invalid('CONSUMER_RECORD_FOREIGN', `a record of the topic was not written by a feed in this envelope: ${what}`, {
    hint: 'give the consumer the topic of a feed and its envelope',
  });
}
