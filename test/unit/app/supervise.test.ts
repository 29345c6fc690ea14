import { describe, expect, it } from 'vitest';
import { supervise } from '../../../src/app/supervise.ts';
import { abortedError } from '../../../src/base/abort.ts';
import { type ErrorKind, ServiceError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const failure = (kind: ErrorKind): ServiceError => new ServiceError({ code: 'TEST', kind, message: `a ${kind} failure` });

async function run(
  outcomes: readonly (ErrorKind | ServiceError | 'unforeseen' | 'ends' | 'aborted-by-signal')[],
): Promise<{ runs: number; restarts: number[]; givenUp: unknown }> {
  const clock = new SimulatedClock();
  const stop = new AbortController();
  const seen = { runs: 0, restarts: [] as number[], givenUp: undefined as unknown };
  let ended = false;
  const supervised = supervise({
    signal: stop.signal,
    clock,
    random: new SeededRandom(1),
    backoff: { initialMs: 100, maxMs: 400 },
    run: () => {
      const outcome = outcomes[seen.runs];
      seen.runs += 1;
      if (outcome === 'ends' || outcome === undefined) return Promise.resolve();
      if (outcome === 'aborted-by-signal') {
        stop.abort();
        return Promise.reject(abortedError(stop.signal));
      }
      if (outcome instanceof ServiceError) return Promise.reject(outcome);
      return Promise.reject(outcome === 'unforeseen' ? new TypeError('of a driver') : failure(outcome));
    },
    onRestart: (_, waitMs) => {
      seen.restarts.push(waitMs);
    },
    onGivenUp: (error) => {
      seen.givenUp = error;
    },
  }).then(() => {
    ended = true;
  });
  await clock.runUntil(() => ended, 600_000);
  await supervised;
  return seen;
}

describe('supervision of a part of the process', () => {
  it('starts it again after failures that time may cure, with growing waits under the limit', async () => {
    const { runs, restarts, givenUp } = await run(['unavailable', 'unknown-outcome', 'internal', 'conflict', 'unforeseen', 'ends']);
    expect(runs).toBe(6);
    expect(restarts).toHaveLength(5);
    expect(restarts[0]).toBeLessThanOrEqual(100);
    expect(Math.max(...restarts)).toBeLessThanOrEqual(400);
    expect(restarts[3]).toBeGreaterThan(restarts[0] ?? 0);
    expect(givenUp).toBeUndefined();
  });

  it('starts it again slowly when the broker refuses it, until somebody has cured that', async () => {
    const refused = new ServiceError({ code: 'KAFKA_AUTHENTICATION_FAILED', kind: 'invalid', message: 'refused' });
    const { runs, restarts, givenUp } = await run([refused, refused, refused, 'ends']);
    expect([runs, givenUp]).toEqual([4, undefined]);
    expect(Math.min(...restarts)).toBeGreaterThan(400);
    expect(Math.max(...restarts)).toBeLessThanOrEqual(60_000);
  });

  it.each(['invalid', 'unsupported', 'corrupt', 'fenced', 'discontinuity'] as const)('gives it up at once when it is %s', async (kind) => {
    const { runs, givenUp } = await run([kind, 'ends']);
    expect(runs).toBe(1);
    expect(givenUp).toMatchObject({ kind });
  });

  it('takes a cancelled run for an end, not for a failure', async () => {
    const { runs, restarts, givenUp } = await run(['aborted-by-signal', 'ends']);
    expect({ runs, restarts, givenUp }).toEqual({ runs: 1, restarts: [], givenUp: undefined });
  });
});
