import { throwIfAborted } from '../../base/abort.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { sidecarsOf } from '../checkpoint/read-checkpoint.ts';
import type { ParquetRowCodec } from './codec.ts';
import { listLog } from './log-listing.ts';
import { sidecarFolder } from './log-names.ts';

/** Younger ones may belong to a checkpoint that is being written. */
const spareMs = 86_400_000;
/** Sidecars deleted in one go; the next run goes on. */
const maxDeletions = 10_000;

/**
 * Deletes sidecars that no checkpoint of the log refers to, once they are a day old. A checkpoint that cannot be read keeps all of them.
 *
 * @throws ServiceError kind `corrupt` naming that checkpoint.
 */
export async function cleanUpSidecars(
  log: { readonly store: ObjectStore; readonly codec: ParquetRowCodec },
  options: { readonly nowMs: number },
  signal?: AbortSignal,
): Promise<number> {
  const old: string[] = [];
  for await (const object of log.store.list({ prefix: sidecarFolder }, signal)) {
    if (object.modifiedMs < options.nowMs - spareMs) old.push(object.path);
  }
  if (old.length === 0) return 0;
  const referenced = new Set<string>();
  for (const checkpoint of (await listLog(log.store, 0, signal)).checkpoints) {
    for (const path of await sidecarsOf(log.store, log.codec, checkpoint, signal)) referenced.add(path);
  }
  const orphans = old.filter((path) => !referenced.has(path)).slice(0, maxDeletions);
  for (const path of orphans) {
    throwIfAborted(signal);
    await log.store.delete(path, signal);
  }
  return orphans.length;
}
