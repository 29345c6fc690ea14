import { isServiceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Version } from '../../table/version.ts';
import { parseActions } from '../action-json.ts';
import type { DeltaCommit } from '../delta-snapshot.ts';
import { commitPath } from './log-names.ts';

/**
 * One commit, or `undefined` when the log has no such version. `modifiedMs` saves a request when a listing told it.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt), and the store's own.
 */
export async function readCommit(
  store: ObjectStore,
  version: Version,
  options: { readonly modifiedMs?: number | undefined } = {},
  signal?: AbortSignal,
): Promise<DeltaCommit | undefined> {
  const path = commitPath(version);
  try {
    const bytes = await store.read(path, signal);
    const modifiedMs = options.modifiedMs ?? (await store.head(path, signal))?.modifiedMs;
    if (modifiedMs === undefined) return undefined;
    return { version, modifiedMs, actions: parseActions(bytes, { file: path, root: store.root }) };
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}
