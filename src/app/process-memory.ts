import { totalmem } from 'node:os';
import type { Config } from '../config/settings.ts';
import { defaultMemory, leastMemoryBytes, type MemoryNeeds, type MemoryPlan, planMemory } from '../ingest/memory/memory-plan.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';

/** What the budget of a process is, and why. */
export interface ProcessMemory {
  readonly bytes: number;
  /** `undefined`: the configuration says it. */
  readonly of: string | undefined;
  readonly plan: MemoryPlan;
}

/**
 * The memory of a process that reads topics; `undefined` for one that does not.
 *
 * @throws ServiceError `MEMORY_TOO_SMALL` (kind invalid).
 */
export function processMemory({ ingest, maintenance }: Config, role: string): ProcessMemory | undefined {
  if (role !== 'all' && role !== 'ingest') return undefined;
  const needs: MemoryNeeds = {
    workers: ingest.workers,
    hasTransforms: ingest.routes.some(isTransform),
    engineLimitBytes: role === 'all' && maintenance.enabled ? maintenance.engine.memoryLimitBytes : undefined,
    maxUnpackedBytes: ingest.maxUnpackedBytes,
    maxFetchBytes: ingest.maxFetchBytes,
  };
  const machine = { limitBytes: process.constrainedMemory(), totalBytes: totalmem() };
  const { bytes, of } =
    ingest.memory === undefined ? defaultMemory(machine, leastMemoryBytes(needs)) : { bytes: ingest.memory, of: undefined };
  return { bytes, of, plan: planMemory(bytes, needs) };
}
