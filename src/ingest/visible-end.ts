import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaAdmin, OffsetSpan } from '../kafka/client.ts';

const maxHiddenMs = 60_000;
/** A transaction that goes well is shorter. */
const patienceMs = 500;
const hiddenPollMs = 25;

/**
 * Resolves when readers of committed records see the spans to their end: other producers share the topic, and an open transaction of one of them
 * hides what was committed after it began.
 *
 * @param whenStuck called once, with the partitions that are hidden, when it takes longer than a transaction does.
 * @throws ServiceError `DEAD_LETTERS_UNREADABLE` (unavailable) after a minute.
 */
export async function untilVisible(
  { admin, clock }: { readonly admin: Pick<KafkaAdmin, 'offsets'>; readonly clock: Clock },
  topic: string,
  spans: readonly OffsetSpan[],
  signal?: AbortSignal,
  whenStuck?: (partitions: ReadonlySet<number>) => Promise<void>,
): Promise<void> {
  const sinceMs = clock.monotonicMs();
  let isStuck = false;
  for (;;) {
    const stable = new Map((await admin.offsets(topic)).map(({ partition, latest }) => [partition, latest]));
    const hidden = spans.filter(({ partition, from, until }) => from < until && (stable.get(partition) ?? until) < until);
    if (hidden.length === 0) return;
    const hiddenMs = clock.monotonicMs() - sinceMs;
    if (hiddenMs > maxHiddenMs) throw unreadable(topic);
    if (!isStuck && hiddenMs > patienceMs) {
      isStuck = true;
      await whenStuck?.(new Set(hidden.map(({ partition }) => partition)));
    }
    await clock.sleep(hiddenPollMs, signal);
  }
}

function unreadable(topic: string): ServiceError {
  return serviceError.unavailable('DEAD_LETTERS_UNREADABLE', `topic "${topic}": an open transaction hides which dead letters are there`, {
    hint: 'look for a transaction that hangs (kafka-transactions.sh find-hanging) and abort it',
  });
}
