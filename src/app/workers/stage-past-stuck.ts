import { isServiceError, type ServiceError } from '../../base/errors.ts';
import { countRejected, type StageResult, type StageTask } from '../../protocol/sealed-batch.ts';
import { unopened } from './decode-batch.ts';

/** What ends a thread because of the record batch that it is at. */
export const endsThreads: ReadonlySet<string> = new Set(['WORKER_STUCK', 'WORKER_OUT_OF_MEMORY']);

/**
 * Stages a batch although one of its record batches holds every thread that takes it, or takes all of its memory: what lies before it and behind it is staged without it, it
 * alone once more, and then it counts as one that cannot be opened. `run` must leave the bytes of the batch here.
 */
export async function stagePastStuck(task: StageTask, run: (task: StageTask) => Promise<StageResult>): Promise<StageResult> {
  try {
    return await run(task);
  } catch (error) {
    if (!isServiceError(error) || !endsThreads.has(error.code)) throw error;
    return task.batch.recordBatches.length <= 1 ? givenUp(task, error) : inParts(task, Number(error.context['step']), run);
  }
}

async function inParts(task: StageTask, stuckAt: number, run: (task: StageTask) => Promise<StageResult>): Promise<StageResult> {
  const { batch, fileNameStem } = task;
  const all = batch.recordBatches;
  const at = Math.min(Math.max(0, stuckAt), all.length - 1);
  const parts = [all.slice(0, at), all.slice(at, at + 1), all.slice(at + 1)].filter((part) => part.length > 0);
  const results: StageResult[] = [];
  for (const [index, recordBatches] of parts.entries()) {
    const part = { ...task, batch: { ...batch, recordBatches }, fileNameStem: `${fileNameStem}-${index}` };
    results.push(await stagePastStuck(part, run));
  }
  return results.reduce(joined);
}

function givenUp({ batch }: StageTask, cause: ServiceError): StageResult {
  const bytes = new Uint8Array(batch.bytes);
  const rejects = batch.recordBatches.map((packed) => unopened(bytes.subarray(packed.start, packed.end), packed, cause));
  const recordsByTopic = Object.fromEntries(batch.recordBatches.map(({ topic }) => [topic, countRejected(rejects)]));
  const timings = { decodeMs: 0, transformMs: 0, encodeMs: 0, storeMs: 0 };
  return { files: [], rowCount: 0, recordsWithRows: 0, rejects, passedOver: {}, unreadMembers: 0, unmet: {}, recordsByTopic, timings };
}

function joined(left: StageResult, right: StageResult): StageResult {
  return {
    files: [...left.files, ...right.files],
    rowCount: left.rowCount + right.rowCount,
    recordsWithRows: left.recordsWithRows + right.recordsWithRows,
    rejects: [...left.rejects, ...right.rejects],
    replayed: (left.replayed ?? 0) + (right.replayed ?? 0),
    passedOver: added(left.passedOver, right.passedOver),
    unreadMembers: left.unreadMembers + right.unreadMembers,
    unmet: added(left.unmet, right.unmet),
    recordsByTopic: added(left.recordsByTopic, right.recordsByTopic),
    timings: {
      decodeMs: left.timings.decodeMs + right.timings.decodeMs,
      transformMs: left.timings.transformMs + right.timings.transformMs,
      encodeMs: left.timings.encodeMs + right.timings.encodeMs,
      storeMs: left.timings.storeMs + right.timings.storeMs,
    },
    ...(left.needs === undefined && right.needs === undefined ? {} : { needs: [...(left.needs ?? []), ...(right.needs ?? [])] }),
    ...(left.left === undefined && right.left === undefined ? {} : { left: [...(left.left ?? []), ...(right.left ?? [])] }),
  };
}

function added(left: Readonly<Record<string, number>>, right: Readonly<Record<string, number>>): Record<string, number> {
  const counts = new Map(Object.entries(left));
  for (const [name, count] of Object.entries(right)) counts.set(name, (counts.get(name) ?? 0) + count);
  return Object.fromEntries(counts);
}
