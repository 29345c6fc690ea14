import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { IngestObserver } from '../../ingest/ingest-observer.ts';
import type { KafkaAdmin, StartPosition } from '../../kafka/client.ts';

export interface StandingLag {
  readonly admin: Pick<KafkaAdmin, 'offsets'>;
  readonly clock: Clock;
  readonly observer: Pick<IngestObserver, 'placed'>;
  /** What the table is known to have last. */
  readonly stored: readonly StartPosition[];
}

const lookEveryMs = 5_000;

/** An ingest that stands still fetches nothing, and its lag grows all the same: it is told until the signal fires. */
export async function tellStandingLag({ admin, clock, observer, stored }: StandingLag, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && stored.length > 0) {
    for (const topic of new Set(stored.map((each) => each.topic))) {
      const ends = await endsOf(admin, topic);
      for (const { partition, offset } of stored.filter((each) => each.topic === topic)) {
        const end = ends.get(partition);
        if (end !== undefined) observer.placed({ topic, partition, lag: end > offset ? end - offset : 0n });
      }
    }
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
}

/** Nothing while the broker does not answer, or has no such topic any more. */
async function endsOf(admin: StandingLag['admin'], topic: string): Promise<ReadonlyMap<number, bigint>> {
  try {
    return new Map((await admin.offsets(topic)).map(({ partition, latest }) => [partition, latest]));
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return new Map();
  }
}
