import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Config } from '../config/settings.ts';
import { consumerGroupOf } from '../ingest/settings.ts';
import type { KafkaClient } from '../kafka/client.ts';
import { routeSources } from './route-sources.ts';

/** A broker that is slower is waited for later, by what needs it. */
const answerTimeoutMs = 3_000;

/**
 * How many partitions the routes read, each as often as there are readers of it; 0 where the broker does not tell in time.
 * Closes the client.
 */
export async function partitionsRead(
  config: Config,
  { kafka, clock }: { readonly kafka: KafkaClient; readonly clock: Clock },
): Promise<number> {
  const done = new AbortController();
  try {
    const late = clock.sleep(answerTimeoutMs, done.signal).then(
      () => new Map<string, number>(),
      () => new Map<string, number>(),
    );
    return countOf(config, await Promise.race([kafka.admin.partitionCounts(), late]));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return 0;
  } finally {
    done.abort();
    // Nothing waits for a broker that is away.
    kafka.close().catch(() => undefined);
  }
}

function countOf(config: Config, counts: ReadonlyMap<string, number>): number {
  const { routes, groupId, deadLetters } = config.ingest;
  // The tables of a divided route have one reader.
  const readers = new Map(routes.map((route) => [consumerGroupOf(groupId, route.divided?.spec ?? route.table), route]));
  let sum = 0;
  for (const route of readers.values()) {
    const { topics, quietTopics = [], matching } = routeSources(config, route, deadLetters.replayTopic);
    const read = new Set([...topics, ...quietTopics, ...[...counts.keys()].filter((topic) => matching?.test(topic) === true)]);
    for (const topic of read) sum += counts.get(topic) ?? 0;
  }
  return sum;
}
