import type { Clock } from '../base/clock.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { KafkaAdmin, OffsetSpan } from '../kafka/client.ts';

const maxHiddenMs = 60_000;
const hiddenPollMs = 25;

/**
 * Resolves when readers of committed records see the spans to their end: other producers share the topic, and an open transaction of one of them
 * hides what was committed after it began.
 *
 * @throws ServiceError `DEAD_LETTERS_UNREADABLE` (unavailable) after a minute.
 */
export async function untilVisible(
  { admin, clock }: { readonly admin: Pick<KafkaAdmin, 'offsets'>; readonly clock: Clock },
  topic: string,
  spans: readonly OffsetSpan[],
  signal?: AbortSignal,
): Promise<void> {
  const deadlineMs = clock.monotonicMs() + maxHiddenMs;
  for (;;) {
    const stable = new Map((await admin.offsets(topic)).map(({ partition, latest }) => [partition, latest]));
    if (spans.every(({ partition, from, until }) => from >= until || (stable.get(partition) ?? until) >= until)) return;
    if (clock.monotonicMs() > deadlineMs) throw unreadable(topic);
    await clock.sleep(hiddenPollMs, signal);
  }
}

function unreadable(topic: string): ServiceError {
  return serviceError.unavailable('DEAD_LETTERS_UNREADABLE', `topic "${topic}": an open transaction hides which dead letters are there`, {
    hint: 'look for a transaction that hangs (kafka-transactions.sh find-hanging) and abort it',
  });
}
