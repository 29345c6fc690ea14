import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { putLocalFile } from '../../../src/engine/write/write-to-store.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { RetryingObjectStore } from '../../../src/storage/retrying-object-store.ts';
import { listed } from '../../conformance/object-store.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { StepClock } from '../../support/step-clock.ts';

const bytes = new TextEncoder().encode('x');

function bench(): {
  readonly faulty: FaultyObjectStore;
  readonly store: RetryingObjectStore;
  readonly retries: string[];
  readonly clock: StepClock;
} {
  const clock = new StepClock();
  const random = new SeededRandom(7);
  const retries: string[] = [];
  const faulty = new FaultyObjectStore(new MemoryObjectStore({ name: 'test', clock }), { clock, random });
  return {
    faulty,
    retries,
    clock,
    store: new RetryingObjectStore(faulty, { clock, random, onRetry: (operation) => retries.push(operation) }),
  };
}

describe('RetryingObjectStore', () => {
  it('repeats reads, heads, listings and plain puts that failed in passing', async () => {
    const { faulty, store, retries } = bench();
    faulty.failNext('put', 'before');
    faulty.failNext('put', 'after');
    faulty.failNext('read', 'before');
    faulty.failNext('head', 'after');
    faulty.failNext('list', 'before');
    await store.put('a', bytes);
    expect(await store.read('a')).toEqual(bytes);
    expect(await store.head('a')).toMatchObject({ path: 'a' });
    expect(await listed(store, '')).toEqual(['a']);
    expect(retries).toEqual(['put', 'put', 'read', 'head', 'list']);
  });

  it('never repeats putIfAbsent: its second answer would be about its first try', async () => {
    const { faulty, store } = bench();
    faulty.failNext('putIfAbsent', 'before');
    await expect(store.putIfAbsent('a', bytes)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    faulty.failNext('putIfAbsent', 'after');
    await expect(store.putIfAbsent('a', bytes)).rejects.toMatchObject({ code: 'STORAGE_OUTCOME_UNKNOWN', kind: 'unknown-outcome' });
    expect(faulty.calls.get('putIfAbsent')).toBe(2);
    expect(await store.head('a')).toBeDefined();
  });

  it('gives up after its attempts, with the failure itself', async () => {
    const { faulty, store } = bench();
    faulty.rates = { before: 1, after: 0, maxLatencyMs: 0 };
    await expect(store.read('a')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(faulty.calls.get('read')).toBe(6);
  });

  it('does not repeat what will not change', async () => {
    const { faulty, store } = bench();
    await expect(store.read('nothing')).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND' });
    expect(faulty.calls.get('read')).toBe(1);
  });

  it('takes no longer than its deadline when every answer is slow', async () => {
    const { faulty, store, clock } = bench();
    faulty.rates = { before: 1, after: 0, maxLatencyMs: 60_000 };
    const startedMs = clock.monotonicMs();
    await expect(store.read('a')).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(clock.monotonicMs() - startedMs).toBeLessThan(20_000 + 2 * 60_000);
  });

  it('repeats uploads of local files where the store has a way of its own, and has none where it has not', async () => {
    const { store: without, clock } = bench();
    expect(without.putFile).toBeUndefined();
    const memory = new MemoryObjectStore({ name: 'files', clock });
    let calls = 0;
    const putFile = async (path: string, file: string): Promise<void> => {
      calls += 1;
      if (calls === 1) throw new ServiceError({ code: 'STORAGE_OUTCOME_UNKNOWN', kind: 'unknown-outcome', message: 'no answer' });
      await memory.put(path, new TextEncoder().encode(file));
    };
    const store = new RetryingObjectStore(Object.assign(memory, { putFile }), { clock, random: new SeededRandom(1) });
    await putLocalFile(store, 'a', '/local/file');
    expect(calls).toBe(2);
    expect(Buffer.from(await memory.read('a')).toString()).toBe('/local/file');
  });
});
