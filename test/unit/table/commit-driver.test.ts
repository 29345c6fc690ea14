import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type CommitSteps, driveCommit, type Seen, type Tried } from '../../../src/table/commit-driver.ts';
import { StepClock } from '../../support/step-clock.ts';

type Steps = CommitSteps<number, string, string>;

const backoff = { initialMs: 10, maxMs: 10 };
const unavailable = new ServiceError({ code: 'STORE_UNAVAILABLE', kind: 'unavailable', message: 'no answer' });

/** A commit whose tries and looks end as listed; what happened, in order. */
function commit(
  tries: readonly (Tried<string, string> | Error)[],
  looks: readonly (Seen<number, string, string> | Error)[],
  more: Partial<Steps> = {},
) {
  const happened: string[] = [];
  const next = <T>(list: (T | Error)[], what: string): Promise<T> => {
    const step = list.shift();
    happened.push(what);
    if (step === undefined) throw new Error(`unexpected ${what}`);
    return step instanceof Error ? Promise.reject(step) : Promise.resolve(step);
  };
  const [triesLeft, looksLeft] = [[...tries], [...looks]];
  const steps: Steps = {
    base: 0,
    retry: () => ({ retries: 3, backoff, totalMs: 1_000 }),
    attempt: (base) => next(triesLeft, `try on ${base}`),
    look: (_base, doubt) => next(looksLeft, doubt === undefined ? 'look' : 'look for it'),
    unknown: (_doubt, cause) => new ServiceError({ code: 'UNKNOWN', kind: 'unknown-outcome', message: 'in doubt', cause }),
    ...more,
  };
  const clock = new StepClock();
  const commitTried = (table: string, result: string): void => {
    happened.push(`${table}: ${result}`);
  };
  const run = (signal?: AbortSignal) => driveCommit({ name: 't', clock, random: new SeededRandom(1), commitTried }, steps, signal);
  return { happened, run };
}

const conflicted = { kind: 'conflicted' } as const;
const unknown = { kind: 'unknown', cause: 'lost' } as const;
const newer = (base: number, mayLand = false): Seen<number, string, string> => ({ kind: 'newer', base, mayLand });

describe('a commit', () => {
  it('is tried on each newer base until it lands, and every try is told', async () => {
    const { run, happened } = commit([conflicted, { kind: 'committed', landed: 'v2' }], [newer(1)]);
    expect(await run()).toEqual({ kind: 'committed', landed: 'v2' });
    expect(happened).toEqual(['try on 0', 't: conflicted', 'look', 'try on 1', 't: committed']);
  });

  it('that finds nothing to commit is not counted', async () => {
    const { run, happened } = commit([{ kind: 'nothing', landed: 'v1' }], []);
    expect(await run()).toEqual({ kind: 'committed', landed: 'v1' });
    expect(happened).toEqual(['try on 0']);
  });

  it('ends at once with what no newer base makes good, and with what stands against it there', async () => {
    const refused = commit([{ kind: 'conflicted', refusal: 'gone' }], []);
    expect(await refused.run()).toMatchObject({ kind: 'conflicted', conflict: 'gone', attempts: 1 });
    const standing = commit([conflicted], [{ kind: 'newer', base: 1, mayLand: false, standing: 'changed' }]);
    expect(await standing.run()).toMatchObject({ kind: 'conflicted', conflict: 'changed', attempts: 1 });
  });

  it('ends when the tries are used up', async () => {
    const { run } = commit([conflicted, conflicted, conflicted, conflicted], [newer(1), newer(2), newer(3), newer(4)]);
    expect(await run()).toMatchObject({ kind: 'conflicted', conflict: undefined, attempts: 4 });
  });

  it('is looked for after an unknown outcome, for as long as the store does not answer', async () => {
    const { run, happened } = commit([unknown, unavailable], [unavailable, { kind: 'committed', landed: 'v1' }]);
    expect(await run()).toEqual({ kind: 'committed', landed: 'v1' });
    expect(happened).toEqual(['try on 0', 't: unknown', 'look for it', 'try on 0', 'look for it']);
  });

  it('is not stopped while it is in doubt', async () => {
    const stop = new AbortController();
    const { run } = commit([unknown, { kind: 'committed', landed: 'v1' }], [newer(0, true)], {
      unknown: () => new Error('not asked'),
    });
    const running = run(stop.signal);
    stop.abort();
    expect(await running).toEqual({ kind: 'committed', landed: 'v1' });
  });

  it('stays in doubt whatever stands against another try, while the place it aimed at is free', async () => {
    const { run } = commit([unknown], [{ kind: 'newer', base: 0, mayLand: true, standing: 'changed' }]);
    await expect(run()).rejects.toMatchObject({ code: 'UNKNOWN', cause: 'lost' });
    const failing = commit([unknown], [new Error('corrupt')]);
    await expect(failing.run()).rejects.toMatchObject({ code: 'UNKNOWN', cause: { message: 'corrupt' } });
  });

  it('is settled first where another try would not be safe', async () => {
    const { run, happened } = commit([unknown, { kind: 'committed', landed: 'v2' }], [newer(1)], {
      settle: () => Promise.resolve(undefined),
    });
    expect(await run()).toEqual({ kind: 'committed', landed: 'v2' });
    expect(happened).toEqual(['try on 0', 't: unknown', 'look', 'try on 1', 't: committed']);
  });
});
