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

/** Whether a process of that role has a budget: it reads topics. */
export function readsTopics(role: string): boolean {
  return role === 'all' || role === 'ingest';
}

/**
 * The memory of a process that reads topics of so many partitions; `undefined` for one that reads none.
 *
 * @throws ServiceError `MEMORY_TOO_SMALL` (kind invalid).
 */
export function processMemory({ ingest, maintenance, tables }: Config, role: string, partitions: number): ProcessMemory | undefined {
  if (!readsTopics(role)) return undefined;
  // It also finds the rows of keys.
  const runsEngine = (role === 'all' && maintenance.enabled) || tables.some(({ keyed }) => keyed !== undefined);
  const needs: MemoryNeeds = {
    workers: ingest.workers,
    partitions,
    hasTransforms: ingest.routes.some(isTransform) || tables.some(({ keyed }) => keyed?.deleteWhen?.kind === 'condition'),
    engineLimitBytes: runsEngine ? maintenance.engine.memoryLimitBytes : undefined,
    maxUnpackedBytes: ingest.maxUnpackedBytes,
    maxFetchBytes: ingest.maxFetchBytes,
  };
  const machine = { limitBytes: process.constrainedMemory(), totalBytes: totalmem() };
  const { bytes, of } =
    ingest.memory === undefined ? defaultMemory(machine, leastMemoryBytes(needs)) : { bytes: ingest.memory, of: undefined };
  return { bytes, of, plan: planMemory(bytes, needs) };
}
