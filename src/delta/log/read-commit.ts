import { isServiceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { Version } from '../../table/version.ts';
import { parseCommit } from '../action-json.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { commitPath } from './log-names.ts';

/**
 * One commit, or `undefined` when the log has no such version. `modifiedMs` saves a request when a listing told it. For a replay, which
 * knows what is superseded later, actions may be `damaged`; whoever asks for the commit itself gets it whole or not at all.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt), and the store's own.
 */
export async function readCommit(
  store: ObjectStore,
  version: Version,
  options: { readonly modifiedMs?: number | undefined; readonly forReplay?: boolean | undefined } = {},
  signal?: AbortSignal,
): Promise<DeltaCommit | undefined> {
  const path = commitPath(version);
  try {
    const bytes = await store.read(path, signal);
    const modifiedMs = options.modifiedMs ?? (await store.head(path, signal))?.modifiedMs;
    if (modifiedMs === undefined) return undefined;
    const { actions, damaged } = parseCommit(bytes, { file: path, root: store.root });
    if (options.forReplay !== true) for (const { error } of damaged) throw error;
    return { version, modifiedMs, actions, damaged };
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}
