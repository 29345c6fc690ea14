import { describe, expect, it } from 'vitest';
import { defaultMemory, leastMemoryBytes, type MemoryNeeds, planMemory } from '../../../../src/ingest/memory/memory-plan.ts';

const MiB = 2 ** 20;
const GiB = 2 ** 30;
const plain: MemoryNeeds = {
  workers: 1,
  partitions: 0,
  hasTransforms: false,
  engineLimitBytes: undefined,
  maxUnpackedBytes: 64 * MiB,
  maxFetchBytes: 16 * MiB,
};

describe('the plan of a process’s memory', () => {
  it.each([
    [512 * MiB, plain],
    [GiB, { ...plain, engineLimitBytes: 512 * MiB }],
    [GiB, { ...plain, partitions: 9_000, engineLimitBytes: 512 * MiB }],
    [2 * GiB, { ...plain, workers: 4, hasTransforms: true, engineLimitBytes: 512 * MiB }],
    [64 * GiB, { ...plain, workers: 8, hasTransforms: true, engineLimitBytes: 512 * MiB }],
  ])('gives the parts of %i bytes no more than all of it', (budget, needs) => {
    const plan = planMemory(budget, needs);
    const { bufferBytes, workerHeapBytes, engineBytes = 0, transformBytes } = plan;
    const transforms = needs.hasTransforms ? transformBytes : 0;
    const taken = 192 * MiB + needs.partitions * 42 * 1024;
    expect(taken + needs.workers * (64 * MiB + workerHeapBytes + transforms) + 2 * bufferBytes + engineBytes).toBeLessThanOrEqual(budget);
    expect(plan.decodedBytes * 12).toBeLessThanOrEqual(workerHeapBytes);
    expect(plan.foldedBytes * 4).toBeLessThanOrEqual(workerHeapBytes);
    expect(plan.unpackedBytes * 25).toBeLessThanOrEqual(workerHeapBytes);
  });

  it('leaves settings as caps beneath a large budget', () => {
    const plan = planMemory(64 * GiB, { ...plain, engineLimitBytes: 512 * MiB });
    expect([plan.unpackedBytes, plan.fetchBytes, plan.engineBytes]).toEqual([64 * MiB, 16 * MiB, 512 * MiB]);
  });

  it('takes the least that it names, and refuses less with what is needed', () => {
    const needs = { ...plain, workers: 3, hasTransforms: true, engineLimitBytes: 128 * MiB };
    const least = leastMemoryBytes(needs);
    const plan = planMemory(least, needs);
    expect(Math.min(plan.decodedBytes, plan.unpackedBytes)).toBeGreaterThan(MiB);
    expect(() => planMemory(least - 1, needs)).toThrow('ingest.memory of 864 MiB is too little for 3 workers: 864 MiB are needed');
  });

  it('refuses more partitions than there is room for', () => {
    expect(() => planMemory(512 * MiB, { ...plain, partitions: 9_000 })).toThrow(
      'ingest.memory of 512 MiB is too little for 1 workers and 9000 partitions: 722 MiB are needed, 370 of them for the partitions',
    );
  });

  it.each([
    [{ limitBytes: GiB, totalBytes: 16 * GiB }, 768 * MiB, 'three quarters of the container’s limit'],
    [{ limitBytes: undefined, totalBytes: 16 * GiB }, 4 * GiB, 'a quarter of the machine’s memory'],
    [{ limitBytes: 0, totalBytes: 16 * GiB }, 4 * GiB, 'a quarter of the machine’s memory'],
    [{ limitBytes: 2 ** 64, totalBytes: 16 * GiB }, 4 * GiB, 'a quarter of the machine’s memory'],
    [{ limitBytes: 256 * MiB, totalBytes: 16 * GiB }, 400 * MiB, 'the least that this configuration needs'],
  ])('is by default a part of what there is: %o', (machine, bytes, of) => {
    expect(defaultMemory(machine, 400 * MiB)).toEqual({ bytes, of });
  });
});
