import type { Config } from '../config/settings.ts';
import { isLetterRoute, type RouteSettings } from '../ingest/settings.ts';
import type { TableIngestSettings } from '../ingest/table-ingest.ts';
import { topicMatch } from '../ingest/topic-pattern.ts';

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
