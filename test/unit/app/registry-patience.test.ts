import { describe, expect, it } from 'vitest';
import { AskedSubjects } from '../../../src/app/asked-subjects.ts';
import { untilRegistryIsSilent } from '../../../src/app/registry-patience.ts';
import { deferred } from '../../../src/base/deferred.ts';
import { serviceError } from '../../../src/base/errors.ts';
import type { FeedStatus } from '../../../src/cdf/feed-parts.ts';
import { StepClock } from '../../support/step-clock.ts';
import { MemorySubjects } from '../cdf/memory-subjects.ts';

type Told = Pick<FeedStatus, 'state' | 'error'>;

const refusal = serviceError.unavailable('FEED_SCHEMA_REFUSED', 'not compatible');
const schema = { type: 'AVRO', text: '"long"' } as const;

describe('a drain beside a registry', () => {
  /** What the feed says at each look; the last of it forever. */
  function feedThatSays(...told: readonly Told[]): { readonly status: () => Told } {
    let looks = 0;
    return { status: () => told[Math.min(looks++, told.length - 1)] ?? { state: 'following', error: undefined } };
  }

  it('gives up a feed whose question is not answered, before anything has failed', async () => {
    const clock = new StepClock(0);
    const silence = deferred<undefined>();
    const subjects = new AskedSubjects(
      Object.assign(new MemorySubjects(), { register: () => silence.promise.then(() => ({ kind: 'registered', id: 1 }) as const) }),
    );
    const asked = subjects.register('t-value', schema);
    await expect(untilRegistryIsSilent(feedThatSays({ state: 'following', error: undefined }), { clock, subjects })).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      message: 'the schema registry does not answer: no answer in 5000 ms',
    });
    expect(clock.monotonicMs()).toBe(5_000);
    silence.resolve(undefined);
    await asked;
    expect(subjects.awaitsAnswer).toBe(false);
  });

  it('gives up a feed whose schema is refused', async () => {
    const feed = feedThatSays({ state: 'waiting', error: refusal });
    await expect(untilRegistryIsSilent(feed, { clock: new StepClock(0), subjects: undefined })).rejects.toBe(refusal);
  });

  it('waits for a feed that the registry answered, until it ends', async () => {
    const clock = new StepClock(0);
    const subjects = new AskedSubjects(new MemorySubjects());
    await subjects.register('t-value', schema);
    const busy = Array.from({ length: 100 }, (): Told => ({ state: 'publishing', error: undefined }));
    await untilRegistryIsSilent(feedThatSays(...busy, { state: 'stopped', error: undefined }), { clock, subjects });
    expect(clock.monotonicMs()).toBe(25_000);
  });
});
