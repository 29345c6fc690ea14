import { type ServiceError, serviceError } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { RouteSettings } from '../../ingest/settings.ts';
import type { Components } from '../components.ts';
import { routeSources } from '../route-sources.ts';

/** A table and the route of what is in it; of a twin that of its leader. */
export interface FedTable {
  readonly table: string;
  readonly route: RouteSettings;
}

/**
 * Every table that has records of the topic: by its name or a pattern, of a divided route each part, and twins behind their leaders.
 *
 * @throws ServiceError `FRESHNESS_NOT_FED` (not-found).
 */
export function fedTables({ config, tables }: Pick<Components, 'config' | 'tables'>, topic: string, only?: string): readonly FedTable[] {
  const { replayTopic } = config.ingest.deadLetters;
  const routed = tables.routes.filter((route) => {
    const { topics, quietTopics = [], matching } = routeSources(config, route, replayTopic);
    return topics.includes(topic) || quietTopics.includes(topic) || matching?.test(topic) === true;
  });
  const twins = routed.flatMap((route) =>
    config.tables.filter(({ twinOf }) => twinOf === route.table).map(({ name }) => ({ table: name, route })),
  );
  const fed = [...routed.map((route) => ({ table: route.table, route })), ...twins];
  const meant = only === undefined ? fed : fed.filter(({ table }) => table === only);
  if (meant.length === 0) throw notFed(config, topic, only);
  return meant;
}

function notFed({ pipeline, ingest }: Components['config'], topic: string, only: string | undefined): ServiceError {
  const topics = [...new Set(ingest.routes.flatMap((route) => route.topics))];
  const near = nearestName(topic, topics);
  const reader = only === undefined ? `no table of pipeline "${pipeline}" is` : `table "${only}" is not`;
  return serviceError.notFound('FRESHNESS_NOT_FED', `${reader} fed by topic "${topic}"`, {
    hint: near === undefined ? 'ingest.routes has the topics of every table' : `did you mean "${near}"?`,
    context: { topic },
  });
}
