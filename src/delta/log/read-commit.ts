import { createHash } from 'node:crypto';
import { isServiceError } from '../../base/errors.ts';
import type { ObjectInfo, ObjectStore } from '../../storage/object-store.ts';
import type { Version } from '../../table/version.ts';
import { parseCommit } from '../action-json.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { commitPath } from './log-names.ts';

/**
 * One commit, or `undefined` when the log has no such version. `file` saves a request when a listing told it. For a replay, which
 * knows what is superseded later, actions may be `damaged`; whoever asks for the commit itself gets it whole or not at all.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (kind corrupt), and the store's own.
 */
export async function readCommit(
  store: ObjectStore,
  version: Version,
  options: { readonly file?: ObjectInfo | undefined; readonly forReplay?: boolean | undefined } = {},
  signal?: AbortSignal,
): Promise<DeltaCommit | undefined> {
  const path = commitPath(version);
  try {
    // Looked at before it is read: a file that is replaced in between is taken for the old one, which the next look finds out.
    const file = options.file ?? (await store.head(path, signal));
    if (file === undefined) return undefined;
    const bytes = await store.read(path, signal);
    const { actions, damaged } = parseCommit(bytes, { file: path, root: store.root });
    if (options.forReplay !== true) for (const { error } of damaged) throw error;
    const digest = options.forReplay === true ? undefined : digestOf(bytes);
    return { version, modifiedMs: file.modifiedMs, commitFile: file, digest, actions, damaged };
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

/** The `digest` of a commit; `undefined` when the log has no such version. */
export async function commitDigest(store: ObjectStore, version: Version, signal?: AbortSignal): Promise<string | undefined> {
  try {
    return digestOf(await store.read(commitPath(version), signal));
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32);
}
