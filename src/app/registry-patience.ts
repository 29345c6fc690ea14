import type { Clock } from '../base/clock.ts';
import { waitsForRegistry } from '../cdf/feed-outcomes.ts';
import type { FeedStatus } from '../cdf/feed-parts.ts';
import { type FeedState, standstills } from '../cdf/feed-state.ts';
import { registryFailures } from '../registry/registry-errors.ts';
import type { AskedSubjects } from './asked-subjects.ts';

const endStates: readonly FeedState[] = [...standstills, 'paused', 'fenced', 'stopped'];

/** So long a process that ends waits for a registry that does not answer, or take a schema. */
const patienceMs = 5_000;
const lookMs = 250;

/**
 * Rejects when the feed has waited for the registry for so long that it is not worth the rest of the drain, whether that said something or nothing at
 * all; resolves never before the feed has ended.
 */
export async function untilRegistryIsSilent(
  feed: { status(): Pick<FeedStatus, 'state' | 'error'> },
  { clock, subjects }: { readonly clock: Clock; readonly subjects: Pick<AskedSubjects, 'awaitsAnswer'> | undefined },
): Promise<void> {
  let sinceMs = clock.monotonicMs();
  for (;;) {
    const { state, error } = feed.status();
    if (endStates.includes(state)) return;
    const refused = waitsForRegistry(error);
    if (!refused && subjects?.awaitsAnswer !== true) sinceMs = clock.monotonicMs();
    else if (clock.monotonicMs() - sinceMs >= patienceMs)
      throw refused ? error : registryFailures.unavailable(`no answer in ${patienceMs} ms`, undefined);
    await clock.sleep(lookMs);
  }
}
