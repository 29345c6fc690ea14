import { serviceError } from '../base/errors.ts';
import type { KafkaClient, TopicMatch, TopicPartition } from '../kafka/client.ts';
import type { BatchSink } from '../protocol/batch-sink.ts';
import { parseWriterId, type SourceIdentities } from '../protocol/source-offsets.ts';
import type { DiscontinuityPolicy } from './start-position.ts';
import { planStart, type StartPlan, type StartPlanOptions } from './start-positions.ts';

interface PlanningTable {
  readonly settings: Pick<StartPlanOptions, 'startFrom' | 'startAt' | 'quietTopics'> & {
    readonly pipeline: string;
    readonly table: string;
    readonly matching?: TopicMatch | undefined;
    readonly onOffsetDiscontinuity: DiscontinuityPolicy;
  };
  readonly sink: BatchSink;
  readonly kafka: Pick<KafkaClient, 'admin'>;
  readonly identities: SourceIdentities;
  readonly awaitedTopics: ReadonlySet<string>;
}

/** Plans in a row that another process may overtake. */
const maxPlans = 20;

/**
 * A plan whose decisions are in the table, as far as they would be others when made again. `hadMatches`: the table had marks of topics that match its
 * pattern when its ingest began.
 *
 * @throws ServiceError `INGEST_START_CONTENDED` (kind conflict).
 */
export async function settledPlan(
  { settings, sink, kafka, identities, awaitedTopics }: PlanningTable,
  partitions: readonly TopicPartition[],
  hadMatches: boolean,
): Promise<StartPlan> {
  const awaited = { has: (topic: string) => awaitedTopics.has(topic) || (hadMatches && settings.matching?.test(topic) === true) };
  for (let made = 0; made < maxPlans; made += 1) {
    const plan = await planStart({
      admin: kafka.admin,
      partitions,
      marks: await sink.progressStartingWith(`${settings.pipeline}:`),
      identityOf: (topic) => identities.identityOf(topic),
      policy: settings.onOffsetDiscontinuity,
      startFrom: settings.startFrom,
      startAt: settings.startAt,
      quietTopics: settings.quietTopics,
      awaited,
    });
    if (plan.settleFirst.length === 0) return plan;
    await sink.settle(plan.settleFirst);
  }
  throw serviceError.conflict(
    'INGEST_START_CONTENDED',
    `table "${settings.table}": where to start was decided ${maxPlans} times, and each time the table or the topics had changed meanwhile`,
    { hint: 'the ingest starts again by itself; look for another pipeline of the same name' },
  );
}

/** Whether the table has marks of topics that match. */
export async function hasMatches({ settings: { matching, pipeline }, sink }: Pick<PlanningTable, 'settings' | 'sink'>): Promise<boolean> {
  if (matching === undefined) return false;
  const marks = await sink.progressStartingWith(`${pipeline}:`);
  return [...marks.keys()].some((writerId) => {
    const topic = parseWriterId(writerId, pipeline)?.topic;
    return topic !== undefined && matching.test(topic);
  });
}
