import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaClient, KafkaRecord, PartitionOffsets } from '../kafka/client.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { toVersion } from '../table/version.ts';
import { feedHeaderOf } from './event-headers.ts';
import { type FeedSpec, feedIdOf, rowOrderOf } from './feed-spec.ts';
import { cleanupPolicyOf } from './feed-topics.ts';

/** What the records of a feed's topic tell of its position. */
export type PublishedPosition =
  /** The feed never published a row here. */
  | { readonly kind: 'nothing' }
  /** Exactly the rows before this position are published. */
  | { readonly kind: 'found'; readonly position: FeedPosition }
  /** The feed did publish, or may have, and where it stood cannot be told for certain. */
  | { readonly kind: 'unclear'; readonly why: string };

/** Records looked at first, from the end of a partition backwards; then four times as many, and so on. */
const firstStep = 256n;
const openEndPollMs = 50;
// As long as the position store waits for a transaction of another feed.
const maxOpenEndMs = 16 * 60_000;
const farBehind = 1n << 60n;
const openingBrace = 0x7b;
/** Byte 0 and the number of the schema, in front of what is encoded by one. */
const schemaNumberBytes = 5;

/** What one record says about where it stands among the feed's rows. */
interface Mark {
  readonly offset: bigint;
  readonly position: FeedPosition;
}

/** The newest record of the feed in one partition; `unmarked`: written before records named their feed. */
interface Tail {
  readonly range: PartitionOffsets;
  readonly newest: Mark | 'unmarked' | undefined;
}

/**
 * Finds a feed's position in its own topic. Rows and position are one transaction, so the greatest row that is committed is where the feed
 * stood; every partition ends with the newest of its rows. To be called behind the opening of the transactional producer: nothing of an
 * earlier instance is open then.
 *
 * What takes records out of a partition's end without leaving a trace makes the answer unclear instead of wrong: retention that emptied a
 * partition, and compaction, which forgets tombstones.
 */
export async function findPublished(
  parts: { readonly client: KafkaClient; readonly clock: Clock; readonly spec: FeedSpec },
  signal?: AbortSignal,
): Promise<PublishedPosition> {
  const { client, clock, spec } = parts;
  const { topic } = spec;
  const tails: Tail[] = [];
  for (const range of await client.admin.offsets(topic)) {
    if (range.latest === 0n && (await endOf(client, range, signal)) === 0n) continue;
    const settled = await untilSettled(client, clock, range, signal);
    tails.push({ range: settled, newest: await newestOf(client, spec, settled, signal) });
  }
  const policy = tails.length === 0 ? '' : await cleanupPolicyOf(client.admin, topic);
  return judge(spec, tails, policy === undefined || policy.includes('compact'));
}

function judge(spec: FeedSpec, tails: readonly Tail[], compacted: boolean): PublishedPosition {
  const marks = tails.flatMap(({ newest }) => (newest === undefined || newest === 'unmarked' ? [] : [newest.position]));
  const emptied = tails.find(({ range, newest }) => newest === undefined && (range.earliest > 0n || (compacted && range.latest > 0n)));
  if (marks.length === 0 && tails.some(({ newest }) => newest === 'unmarked')) {
    return unclear('its records are of a version of this product whose records do not name their feed');
  }
  if (emptied !== undefined) return unclear(`partition ${emptied.range.partition} held records that retention or compaction removed`);
  const [first] = marks;
  if (first === undefined) return { kind: 'nothing' };
  if (marks.some(({ tableId }) => tableId !== first.tableId)) return unclear('its records are of several tables of one name');
  // Compaction keeps the newest record of every key but a tombstone; a transaction ends with one marker, so that a longer end hides something.
  const gapped = tails.find(({ range, newest }) => typeof newest === 'object' && range.latest - newest.offset > 2n);
  if (compacted && gapped !== undefined) {
    return unclear(`compaction may have removed the newest records of partition ${gapped.range.partition}`);
  }
  const position = marks.reduce((newest, each) => (isAfter(each, newest) ? each : newest));
  const own = rowOrderOf(spec);
  const same = sameColumns(position.order, own);
  return { kind: 'found', position: same ? { ...position, order: own } : position };
}

/** A snapshot of a version follows its changes: it is published because what comes after them is gone. */
function isAfter(left: FeedPosition, right: FeedPosition): boolean {
  if (left.version !== right.version) return left.version > right.version;
  if (left.snapshot !== right.snapshot) return left.snapshot;
  return left.ordinal > right.ordinal;
}

/** Whether everything before `position` may be published when exactly what is before `found` is: versions without rows leave no records. */
export function covers(position: FeedPosition, found: FeedPosition): boolean {
  if (position.tableId !== found.tableId) return false;
  if (position.version !== found.version) return position.version > found.version;
  return position.snapshot === found.snapshot ? position.ordinal >= found.ordinal : position.snapshot;
}

/** The range once no open transaction of another producer hides records below its present end. */
async function untilSettled(
  client: KafkaClient,
  clock: Clock,
  range: PartitionOffsets,
  signal: AbortSignal | undefined,
): Promise<PartitionOffsets> {
  const end = await endOf(client, range, signal);
  const deadlineMs = clock.monotonicMs() + maxOpenEndMs;
  for (let seen = range; ; ) {
    if (seen.latest >= end) return seen;
    if (clock.monotonicMs() > deadlineMs) throw hidden(range);
    await clock.sleep(openEndPollMs, signal);
    seen = (await client.admin.offsets(range.topic)).find(({ partition }) => partition === range.partition) ?? seen;
  }
}

/** Where the partition ends for a reader that sees open transactions, too. */
async function endOf(
  client: KafkaClient,
  { topic, partition, latest }: PartitionOffsets,
  signal: AbortSignal | undefined,
): Promise<bigint> {
  let end = latest;
  const options = { topic, partition, from: latest, until: latest + farBehind, readCommitted: false, signal };
  for await (const { offset } of client.readPartition(options)) end = offset + 1n;
  return end;
}

/** Looks for the newest record of the feed, backwards in growing steps. */
async function newestOf(
  client: KafkaClient,
  spec: FeedSpec,
  { topic, partition, earliest, latest }: PartitionOffsets,
  signal: AbortSignal | undefined,
): Promise<Tail['newest']> {
  let until = latest;
  for (let step = firstStep; until > earliest; step *= 4n) {
    const from = until - step > earliest ? until - step : earliest;
    let newest: Tail['newest'];
    for await (const record of client.readPartition({ topic, partition, from, until, signal })) newest = markOf(spec, record) ?? newest;
    if (newest !== undefined) return newest;
    until = from;
  }
  return undefined;
}

/** `undefined` for records that are not the feed's. */
function markOf(spec: FeedSpec, record: KafkaRecord): Mark | 'unmarked' | undefined {
  const headers = new Map(record.headers.map(([name, value]) => [name, Buffer.from(value).toString()]));
  const [version, ordinal, feed, tableId] = ['version', 'ordinal', 'feed', 'table_id'].map((name) => headers.get(name));
  if (version === undefined || ordinal === undefined || !headers.has('committed_at')) return undefined;
  if (feed === undefined || tableId === undefined) return 'unmarked';
  if (feed !== feedHeaderOf(spec)) return undefined;
  const [link, op] = [headers.get('link'), headers.get('op')];
  const position = {
    version: toVersion(Number(version)),
    ordinal: Number(ordinal) + (op === 't' ? Number(headers.get('rows') ?? 1) : rowsIn(record, op)),
    complete: false,
    snapshot: headers.has('snapshot'),
    tableId,
    // A truncation is about all keys and has none.
    order: (op === 't' ? undefined : orderOf(record)) ?? rowOrderOf(spec),
  };
  return { offset: record.offset, position: link === undefined ? position : { ...position, link } };
}

/** An update that is one event takes the place of two change rows. Older records say what they are in their values alone. */
function rowsIn({ value }: KafkaRecord, operation: string | undefined): number {
  if (operation !== undefined) return operation === 'u' ? 2 : 1;
  const root = value?.[0] === openingBrace ? parseJson(Buffer.from(value).toString(), 'a change event') : undefined;
  return isJsonObject(root) && root['op'] === 'u' && isJsonObject(root['source']) ? 2 : 1;
}

/**
 * The key columns that the rows were ordered by, as far as the record's key tells their order; `undefined`: the key is in an encoding that does
 * not tell names.
 */
function orderOf({ key }: KafkaRecord): string | undefined {
  if (key === undefined) return printJson([]);
  const whole = jsonKeyOf(key);
  // No key column is an object: this one is the schema of the others.
  const root = isJsonObject(whole) && isJsonObject(whole['schema']) ? whole['payload'] : whole;
  return isJsonObject(root) ? printJson(Object.keys(root)) : undefined;
}

/** Keys in JSON, also behind the number of their schema. */
function jsonKeyOf(key: Uint8Array): JsonValue | undefined {
  const json = key[0] === openingBrace ? key : key.subarray(schemaNumberBytes);
  if (json[0] !== openingBrace) return undefined;
  try {
    return parseJson(Buffer.from(json).toString(), 'the key of a change event');
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

function sameColumns(left: string, right: string): boolean {
  const columnsOf = (order: string): string => {
    const root = parseJson(order, 'the key columns of a feed');
    return printJson(Array.isArray(root) ? root.map(String).sort() : root);
  };
  return columnsOf(left) === columnsOf(right);
}

function unclear(why: string): PublishedPosition {
  return { kind: 'unclear', why };
}

function hidden({ topic, partition }: PartitionOffsets): ServiceError {
  return serviceError.unavailable(
    'FEED_POSITION_UNREADABLE',
    `topic "${topic}": an open transaction hides the end of partition ${partition}`,
    { hint: 'look for a transaction that hangs (kafka-transactions.sh find-hanging) and abort it' },
  );
}

/** The state of a feed whose position is gone. `found` says what the topic's records tell. */
export function positionLost(spec: FeedSpec, found: Exclude<PublishedPosition, { readonly kind: 'nothing' }>, held: string): ServiceError {
  const id = feedIdOf(spec);
  const told =
    found.kind === 'unclear'
      ? `where the feed stood cannot be told from topic "${spec.topic}": ${found.why}`
      : `topic "${spec.topic}" holds rows up to ${found.position.ordinal} of version ${found.position.version}`;
  const recover = found.kind === 'found' ? '"onLostPosition: recover" goes on behind those rows, ' : '';
  return serviceError.discontinuity('FEED_POSITION_LOST', `feed "${id}": topic "${spec.positionsTopic}" ${held}; ${told}`, {
    hint: `choose how the feed goes on: ${recover}"onLostPosition: resnapshot" publishes the current rows again; starting from the beginning would publish rows twice`,
  });
}
