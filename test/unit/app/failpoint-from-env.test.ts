import { describe, expect, it } from 'vitest';
import { failpointFromEnv } from '../../../src/app/failpoint-from-env.ts';
import { FailpointObjectStore } from '../../../src/app/failpoint-object-store.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

describe('failpoints from the environment', () => {
  it('are inert without a setting', () => {
    expect(failpointFromEnv(undefined)).toBe(inertFailpoint);
    expect(failpointFromEnv('')).toBe(inertFailpoint);
  });

  it('act at the passing they name, once', async () => {
    const failpoint = failpointFromEnv('before-commit:error:2');
    await failpoint('before-commit');
    await failpoint('commit-applied');
    await expect(failpoint('before-commit')).rejects.toMatchObject({ code: 'FAILPOINT', kind: 'unavailable' });
    await failpoint('before-commit');
  });

  it('refuse a setting that names none', () => {
    expect(() => failpointFromEnv('F9:kill')).toThrow(/F9:kill/);
    expect(() => failpointFromEnv('before-commit')).toThrow(/<kill\|pause\|error\|delay>/);
  });

  it('make the answer of an applied conditional put unknown', async () => {
    const inner = new MemoryObjectStore({ name: 'x', clock: new SimulatedClock() });
    const store = new FailpointObjectStore(inner, failpointFromEnv('commit-applied:error'));
    await expect(store.putIfAbsent('a', new Uint8Array(1))).rejects.toMatchObject({ kind: 'unknown-outcome' });
    expect(await inner.head('a')).toBeDefined();
    expect(await store.putIfAbsent('a', new Uint8Array(1))).toBe('exists');
  });
});
