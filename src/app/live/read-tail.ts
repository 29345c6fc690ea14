import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { BatchBuilder } from '../../ingest/batch-builder.ts';
import { ownPart, partOf } from '../../ingest/divide/fetched-part.ts';
import { GrowingDivision } from '../../ingest/divide/growing-division.ts';
import { isLetterRoute, type RouteSettings } from '../../ingest/settings.ts';
import { planStart, type StartPlan, type StartPlanOptions } from '../../ingest/start-positions.ts';
import type { FetchedPartition, TopicPartition } from '../../kafka/client.ts';
import type { DivisionOfTable } from '../../protocol/division.ts';
import type { SealedBatch } from '../../protocol/sealed-batch.ts';
import type { Snapshot } from '../../table/table.ts';
import type { Components } from '../components.ts';
import { routeSources, topicsOfTable } from '../route-sources.ts';
import { TopicIdentities } from '../topic-identities.ts';
import { BatchDivider } from '../workers/batch-divider.ts';
import { withSchemas } from '../workers/with-schemas.ts';

/** What of a topic one read may be of. */
export interface TailLimits {
  /** Bytes as fetched, compressed as the producer sent them. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** What topics hold behind the offsets of a table, up to where they ended at one time. */
export interface Tail {
  /** `undefined`: the table has all. */
  readonly batch: SealedBatch | undefined;
  readonly partitions: readonly (TopicPartition & { readonly from: bigint; readonly until: bigint })[];
  readonly bytes: number;
}

export interface TailRequest {
  readonly route: RouteSettings;
  readonly snapshot: Snapshot;
  readonly limits: TailLimits;
  /** As `StartPlanOptions`. */
  readonly startAt?: StartPlanOptions['startAt'];
}

/**
 * Reads what the table's ingest would read next, from the marks of the snapshot to where the topics ended after it was taken.
 *
 * @throws ServiceError `LIVE_READ_TOPIC_MISSING` (not-found), `LIVE_READ_DISCONTINUITY` (discontinuity), `LIVE_READ_TOO_FAR_BEHIND` (unavailable),
 * what the broker refuses.
 */
export async function readTail(components: Components, request: TailRequest, signal: AbortSignal): Promise<Tail> {
  const { route, limits } = request;
  const { kafka, clock } = components;
  const { positions } = await planTail(components, request);
  const builder = new BatchBuilder(route.table);
  builder.reset(positions);
  const own = await ownRecords(components, route, signal);
  const lag = positions.reduce((sum, position) => sum + position.lag, 0n);
  let bytes = 0;
  try {
    for (const { topic, partition, offset, lag: behind, topicId } of positions) {
      const until = offset + behind;
      if (behind === 0n) continue;
      for await (const fetched of kafka.readBatches({ topic, partition, from: offset, until, topicId, signal })) {
        bytes += fetched.batches.reduce((sum, batch) => sum + batch.bytes.byteLength, 0);
        if (bytes > limits.maxBytes) throw tooFarBehind(route.table, lag, `more than ${limits.maxBytes} bytes (maxBytes)`);
        builder.append(await own(before(fetched, until)), clock.monotonicMs());
      }
    }
  } catch (error) {
    throw tailError(error, { table: route.table, lag, limits, signal });
  }
  const batch = builder.seal('drain');
  const partitions = positions.map(({ topic, partition, offset, lag: behind }) => ({
    topic,
    partition,
    from: offset,
    until: offset + behind,
  }));
  return { batch, partitions, bytes };
}

/** Where the ingest would go on, by the marks and the settings: the same decisions, of which none is stored. */
async function planTail({ config, kafka }: Components, request: Omit<TailRequest, 'limits'>): Promise<StartPlan> {
  const { route, snapshot, startAt } = request;
  const { pipeline, ingest } = config;
  const { replayTopic } = ingest.deadLetters;
  const marks = snapshot.progressStartingWith(`${pipeline}:`);
  const { topics, quietTopics = [], matching } = routeSources(config, route, replayTopic);
  const known = topicsOfTable(route, pipeline, marks);
  const found = matching === undefined ? [] : [...(await kafka.admin.partitionCounts()).keys()].filter((topic) => matching.test(topic));
  const partitions: TopicPartition[] = [];
  for (const topic of new Set([...topics, ...known, ...found, ...quietTopics])) {
    const count = await kafka.admin.partitionCount(topic);
    if (count === undefined && topics.includes(topic)) throw topicMissing(route.table, topic);
    for (let partition = 0; partition < (count ?? 0); partition += 1) partitions.push({ topic, partition });
  }
  const identities = new TopicIdentities({ admin: kafka.admin, pipeline });
  const hadMatches = matching !== undefined && [...known].some((topic) => matching.test(topic));
  const plan = await planStart({
    ...{ admin: kafka.admin, partitions, marks, quietTopics, startAt },
    identityOf: (topic) => identities.identityOf(topic),
    policy: ingest.onOffsetDiscontinuity,
    startFrom: ingest.startFrom,
    awaited: { has: (topic) => hadMatches && matching.test(topic) },
  });
  const [broken] = plan.discontinuities;
  if (broken !== undefined) throw discontinuous(route.table, broken, broken.detail);
  const [absent] = plan.absent;
  if (absent !== undefined) throw topicMissing(route.table, absent.topic);
  return plan;
}

/**
 * Where a table that a template has made begins in partitions that it has no mark of: where the one it is made like stands. To be asked before the
 * table is looked at: what is below that has a mark by then.
 */
export async function beginningOf(
  components: Components,
  { divided, madeFor }: RouteSettings,
  signal: AbortSignal,
): Promise<StartPlanOptions['startAt']> {
  const like = divided?.spec.template?.like;
  const route = like === undefined || madeFor === undefined ? undefined : components.tables.routeOf(like);
  if (route === undefined) return undefined;
  const pattern = await components.catalog.load(route.table, signal);
  const { positions } = await planTail(components, { route, snapshot: await pattern.refresh(signal) });
  return (at, topicId) =>
    positions.find((each) => each.topic === at.topic && each.partition === at.partition && each.topicId === topicId)?.offset;
}

/** The division with the tables that its template has made, and which of them the route is of. */
async function divisionOf(
  { tables }: Components,
  { divided, madeFor, table }: RouteSettings,
  signal: AbortSignal,
): Promise<DivisionOfTable | undefined> {
  const template = divided?.spec.template;
  if (divided === undefined || template === undefined) return divided;
  const growing = new GrowingDivision({ ...divided.spec, template: { ...template, reserved: tables.reserved } });
  growing.add(await tables.known(divided.spec, signal));
  const { spec } = growing;
  return { spec, index: madeFor === undefined ? divided.index : spec.parts.findIndex((part) => part.table === table) };
}

/** Records of a divided route that are the table's, as its reader would hand them on. */
async function ownRecords(
  components: Components,
  route: RouteSettings,
  signal: AbortSignal,
): Promise<(fetched: FetchedPartition) => Promise<FetchedPartition>> {
  const { config, registry } = components;
  const divided = await divisionOf(components, route, signal);
  const { maxNestingDepth, maxUnpackedBytes, deadLetters } = config.ingest;
  if (divided === undefined || isLetterRoute(route)) return (fetched) => Promise.resolve(fetched);
  const divider = new BatchDivider({ maxNestingDepth, maxUnpackedBytes });
  return async (fetched) => {
    if (fetched.topic === deadLetters.replayTopic || fetched.batches.length === 0) return fetched;
    const part = ownPart(fetched);
    const { topic, partition, fetchOffset } = fetched;
    const task = { spec: divided.spec, topic, partition, bytes: part.bytes, batches: part.spans, unopened: [] };
    const result = await withSchemas({ source: registry, signal }, (schemas) => Promise.resolve(divider.divide({ ...task, schemas })));
    return partOf(part, fetchOffset, result.parts[divided.index]);
  };
}

/** Batches never lie across the end that readers of committed records see. */
function before(fetched: FetchedPartition, until: bigint): FetchedPartition {
  if (fetched.untilOffset <= until) return fetched;
  return { ...fetched, untilOffset: until, batches: fetched.batches.filter(({ baseOffset }) => baseOffset < until) };
}

function tailError(
  error: unknown,
  {
    table,
    lag,
    limits,
    signal,
  }: { readonly table: string; readonly lag: bigint; readonly limits: TailLimits; readonly signal: AbortSignal },
): unknown {
  if (!isServiceError(error)) return error;
  if (signal.aborted && signal.reason instanceof TailTimeout) return tooFarBehind(table, lag, `more than ${limits.timeoutMs} ms (timeout)`);
  const { topic, partition } = error.context;
  if (error.kind !== 'discontinuity' || typeof topic !== 'string') return error;
  return discontinuous(table, { topic, partition: Number(partition ?? 0) }, error.message);
}

/** Why reading was given up. */
export class TailTimeout extends Error {}

export function tooFarBehind(table: string, lag: bigint, limit: string): ServiceError {
  return serviceError.unavailable(
    'LIVE_READ_TOO_FAR_BEHIND',
    `table "${table}" is ${lag} offsets behind its topics: reading them takes ${limit}`,
    {
      retryable: true,
      hint: 'run its ingest until it has caught up, read the table itself, or raise the limit that is named',
      context: { table, lag },
    },
  );
}

function discontinuous(table: string, { topic, partition }: TopicPartition, detail: string): ServiceError {
  return serviceError.discontinuity(
    'LIVE_READ_DISCONTINUITY',
    `table "${table}": what lies behind its offset in topic "${topic}" partition ${partition} cannot be read: ${detail}`,
    {
      hint: 'the ingest of the table stands there, too: decide with ingest.onOffsetDiscontinuity; or read the table itself',
      context: { table, topic, partition },
    },
  );
}

function topicMissing(table: string, topic: string): ServiceError {
  return serviceError.notFound('LIVE_READ_TOPIC_MISSING', `table "${table}" is read from topic "${topic}", which is not there`, {
    hint: 'create the topic, correct ingest.routes, or read the table itself',
    context: { table, topic },
  });
}

export function rejectsSuspend(table: string, message: string): ServiceError {
  return serviceError.invalid('LIVE_READ_SUSPENDED', `table "${table}" stops at a record behind its offsets: ${message}`, {
    hint: 'its ingest stands there, too (onReject, oversize or unmatched: suspend): mend the record or the setting; or read the table itself',
    context: { table },
  });
}

export function changesTable(table: string, what: string): ServiceError {
  return serviceError.unavailable('LIVE_READ_TABLE_CHANGES', `records behind the offsets of table "${table}" change its columns: ${what}`, {
    retryable: true,
    hint: 'its ingest makes the change (tables[].evolve): run it, and read again; or read the table itself',
    context: { table },
  });
}
