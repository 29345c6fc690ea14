import type { Config } from '../config/settings.ts';
import { isLetterRoute, type RouteSettings } from '../ingest/settings.ts';
import type { TableIngestSettings } from '../ingest/table-ingest.ts';
import { topicMatch } from '../ingest/topic-pattern.ts';
import type { ReplayTarget } from '../protocol/replayed-record.ts';
import { parseWriterId } from '../protocol/source-offsets.ts';

/** What a table is filled from. */
export type RouteSources = Pick<TableIngestSettings, 'topics' | 'quietTopics' | 'matching'>;

/** The topics of a route, those that match its pattern but for the pipeline's own, and the one that its dead letters are replayed to. */
export function routeSources(config: Config, route: RouteSettings, replayTopic: string | undefined): RouteSources {
  const { topics, topicPattern } = route;
  if (isLetterRoute(route)) return { topics: [], quietTopics: topics };
  const { deadLetters } = config.ingest;
  const own = new Set([deadLetters.topic, deadLetters.replayTopic, config.positionsTopic, ...config.feeds.map(({ topic }) => topic)]);
  return {
    topics,
    quietTopics: replayTopic === undefined ? [] : [replayTopic],
    ...(topicPattern === undefined ? {} : { matching: topicMatch(topicPattern, own) }),
  };
}

/** The topics of a route, and of those that match its pattern the ones that a table with these marks has read. */
export function topicsOfTable(
  { topics, topicPattern }: RouteSettings,
  pipeline: string,
  marks: ReadonlyMap<string, bigint>,
): ReadonlySet<string> {
  if (topicPattern === undefined) return new Set(topics);
  const match = topicMatch(topicPattern, new Set());
  const marked = [...marks.keys()].flatMap((writerId) => parseWriterId(writerId, pipeline)?.topic ?? []);
  return new Set([...topics, ...marked.filter((topic) => match.test(topic))]);
}

/** Whose replayed records a table takes; of a divided route they may be of any of its listed tables. */
export function replayTarget(
  topic: string,
  { pipeline, tableId, route }: { readonly pipeline: string; readonly tableId: string; readonly route: RouteSettings },
): ReplayTarget {
  const { table, divided, madeFor } = route;
  const together = madeFor === undefined ? divided?.spec.parts.map((part) => part.table) : undefined;
  return { topic, pipeline, table, tableId, together };
}
