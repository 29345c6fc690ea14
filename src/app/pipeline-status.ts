import type { FeedStatus, HoldStatus, PartitionStatus, PipelineStatus, QueueStatus, TableStatus } from '../admin/status.ts';
import { describeError, describeFailure, isServiceError } from '../base/errors.ts';
import type { FeedStatus as RunningFeedStatus } from '../cdf/feed-parts.ts';
import type { TableSettings } from '../config/table-settings.ts';
import { isLetterRoute, type RouteSettings } from '../ingest/settings.ts';
import type { IngestStatus } from '../ingest/table-ingest.ts';
import { topicMatch } from '../ingest/topic-pattern.ts';
import type { PartitionOffsets } from '../kafka/client.ts';
import { parseWriterId } from '../protocol/source-offsets.ts';
import type { Snapshot } from '../table/table.ts';
import type { Components } from './components.ts';
import type { FeedRole, FeedStandby } from './feed-role.ts';
import type { IngestRole } from './ingest-role.ts';
import { ingestComponent, ingestSaid } from './ingest-said.ts';
import { productVersion } from './package.ts';
import { topicsOfTable } from './route-sources.ts';
import { storedValidThrough } from './table-times.ts';
import type { TwinRole } from './twin-role.ts';

export interface StatusSources {
  readonly components: Components;
  readonly role: string;
  readonly startedAt: string;
  readonly ingest: IngestRole | undefined;
  readonly feeds: FeedRole | undefined;
  readonly twins: TwinRole | undefined;
  readonly queues: () => readonly QueueStatus[];
  readonly holds: () => readonly HoldStatus[] | undefined;
}

/** How far every table, feed and queue is, from the tables and the broker themselves. */
export async function pipelineStatus(sources: StatusSources, signal: AbortSignal): Promise<PipelineStatus> {
  const { config, tables: known, logger } = sources.components;
  await known.refresh((like, error) => {
    logger.debug('made tables not looked for', { like, detail: describeError(error) });
  }, signal);
  const tables = await Promise.all(known.all.map((table) => tableStatus(sources, table, signal)));
  return {
    pipeline: config.pipeline,
    role: sources.role,
    version: productVersion,
    startedAt: sources.startedAt,
    tables,
    feeds: [...(sources.feeds?.statuses ?? []).map(feedStatus), ...(sources.feeds?.standbys ?? []).map(standbyStatus)],
    twins: (sources.twins?.statuses ?? []).map(({ error, ...twin }) => ({
      ...twin,
      detail: error === undefined ? undefined : describeFailure(error),
    })),
    queues: sources.queues(),
    holds: sources.holds(),
    ...memoryStatus(sources),
  };
}

function memoryStatus({ components, ingest }: StatusSources): Pick<PipelineStatus, 'memory'> {
  const budgetBytes = components.memory?.bytes;
  const held = ingest?.memory;
  return budgetBytes === undefined || held === undefined ? {} : { memory: { budgetBytes, ...held } };
}

function feedStatus(feed: RunningFeedStatus): FeedStatus {
  return {
    name: feed.name,
    table: feed.table,
    topic: feed.topic,
    state: feed.state,
    detail: feed.error === undefined ? partitionsNote(feed.partitions) : describeFailure(feed.error),
    ...(feed.pausedSince === undefined ? {} : { pausedSince: feed.pausedSince }),
    ...(feed.snapshot === undefined ? {} : { snapshot: feed.snapshot }),
    publishedVersion: feed.position?.version,
    ordinal: feed.position?.ordinal,
    lagVersions: feed.lagVersions,
  };
}

function partitionsNote(partitions: RunningFeedStatus['partitions']): string | undefined {
  if (partitions === undefined || partitions.partitions === partitions.ofTopic) return undefined;
  return `keys stay in ${partitions.partitions} of the topic's ${partitions.ofTopic} partitions`;
}

function standbyStatus({ name, table, topic, activeIn }: FeedStandby): FeedStatus {
  const detail = activeIn === undefined ? undefined : `active in ${activeIn}`;
  return { name, table, topic, state: 'standby', detail, publishedVersion: undefined, ordinal: undefined, lagVersions: undefined };
}

async function tableStatus(sources: StatusSources, settings: TableSettings, signal: AbortSignal): Promise<TableStatus> {
  const { name, format, location } = settings;
  const ingest = sources.ingest?.statuses.get(name);
  const said = ingestSaid(ingest, sources.components.health.of(ingestComponent(name)));
  const sinceMs = sources.components.clock.now();
  const { snapshot, lost } = await newestSnapshot(sources, name, signal);
  const partitions = await partitionStatuses(sources.components, name, snapshot, ingest);
  return {
    name,
    format,
    location,
    version: snapshot?.version,
    rowCount: snapshot?.rowCount,
    fileCount: snapshot?.fileCount,
    sizeBytes: snapshot?.sizeBytes,
    ingest: said?.state,
    detail: said?.detail ?? lost,
    drifts: sources.ingest?.driftsOf(name) ?? [],
    validThrough: await validThroughOf(sources, settings, { sinceMs, partitions, hasTable: snapshot !== undefined }, signal),
    partitions,
    keyed: sources.ingest?.keyedStatusOf(name),
  };
}

/** ISO 8601. A table that has all that its topics had is whole through the moment before they were asked. */
async function validThroughOf(
  { components, ingest }: StatusSources,
  { name, twinOf }: TableSettings,
  seen: { readonly sinceMs: number; readonly partitions: readonly PartitionStatus[]; readonly hasTable: boolean },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!seen.hasTable) return undefined;
  const { catalog, config, tables } = components;
  const route = tables.routeOf(name);
  const own = seen.partitions.filter(({ topic }) => topic !== config.ingest.deadLetters.replayTopic);
  const isAsked = route?.topics.every((topic) => own.some((each) => each.topic === topic)) === true && twinOf === undefined;
  const isWhole =
    isAsked && own.every(({ committedOffset, endOffset }) => endOffset !== undefined && (committedOffset ?? -1n) >= endOffset);
  const timeMs = isWhole
    ? seen.sinceMs
    : (ingest?.validThroughOf(name) ?? (await storedValidThrough(await catalog.load(name, signal), config.pipeline, signal)));
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}

/** `lost`: why there is none of a table that was there; the page shows the other tables all the same. */
async function newestSnapshot(
  sources: StatusSources,
  name: string,
  signal: AbortSignal,
): Promise<{ readonly snapshot: Snapshot | undefined; readonly lost?: string }> {
  try {
    return { snapshot: await (await sources.components.catalog.load(name, signal)).refresh(signal) };
  } catch (error) {
    if (isServiceError(error, 'not-found')) return { snapshot: undefined };
    if (isServiceError(error, 'discontinuity')) return { snapshot: undefined, lost: describeFailure(error) };
    throw error;
  }
}

/** Every partition of the topics routed to the table, and of the replay topic behind them: what the table holds of it, and where it ends. */
export async function partitionStatuses(
  components: Components,
  table: string,
  snapshot: Snapshot | undefined,
  ingest: IngestStatus | undefined,
): Promise<readonly PartitionStatus[]> {
  const { config, kafka } = components;
  const route = components.tables.routeOf(table);
  const replays = route === undefined || isLetterRoute(route) ? [] : [config.ingest.deadLetters.replayTopic];
  const marks = snapshot?.progressStartingWith(`${config.pipeline}:`) ?? new Map<string, bigint>();
  const topics = new Set([...readTopics(route, config.pipeline, marks, ingest), ...replays]);
  const perTopic = await Promise.all(
    [...topics].map(async (topic) => {
      const held = await offsetsOrNone(components, topic);
      const topicId = await kafka.admin.topicId(topic).catch(() => undefined);
      return held.map(({ partition, latest }): PartitionStatus => {
        const problem = ingest?.partitions.find((entry) => entry.topic === topic && entry.partition === partition)?.discontinuity;
        return {
          topic,
          partition,
          committedOffset: committedOffset(marks, { pipeline: config.pipeline, topic, partition, topicId }),
          endOffset: latest,
          problem,
        };
      });
    }),
  );
  return perTopic.flat();
}

/** Topics of a table: of its route, those it has marks of, and those that this process reads. */
function readTopics(
  route: RouteSettings | undefined,
  pipeline: string,
  marks: ReadonlyMap<string, bigint>,
  ingest: IngestStatus | undefined,
): ReadonlySet<string> {
  if (route === undefined) return new Set();
  const known = topicsOfTable(route, pipeline, marks);
  if (route.topicPattern === undefined) return known;
  const match = topicMatch(route.topicPattern, new Set());
  return new Set([...known, ...(ingest?.partitions ?? []).map(({ topic }) => topic).filter((topic) => match.test(topic))]);
}

async function offsetsOrNone(components: Components, topic: string): Promise<readonly PartitionOffsets[]> {
  try {
    return await components.kafka.admin.offsets(topic);
  } catch (error) {
    if (isServiceError(error)) return [];
    throw error;
  }
}

function committedOffset(
  marks: ReadonlyMap<string, bigint>,
  wanted: { readonly pipeline: string; readonly topic: string; readonly partition: number; readonly topicId: string | undefined },
): bigint | undefined {
  for (const [writerId, value] of marks) {
    const source = parseWriterId(writerId, wanted.pipeline);
    const matches = source?.topic === wanted.topic && source.partition === wanted.partition;
    if (matches && (wanted.topicId === undefined || source.topicId === wanted.topicId)) return value;
  }
  return undefined;
}
