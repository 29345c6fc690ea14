import type { ObjectInfo, ObjectStore } from '../../storage/object-store.ts';
import type { Version } from '../../table/version.ts';
import { logCorrupt } from '../action-reader.ts';
import { logFolder, parseLogName, pathBefore } from './log-names.ts';

/** A complete checkpoint: all its parts are there. */
export interface CheckpointFiles {
  readonly version: Version;
  readonly kind: 'classic' | 'v2';
  /** In the order of the parts. */
  readonly paths: readonly string[];
}

export interface ListedCommit {
  readonly version: Version;
  readonly modifiedMs: number;
  readonly file: ObjectInfo;
}

/** What a listing of the log folder found, ascending. */
export interface LogListing {
  readonly commits: readonly ListedCommit[];
  readonly checkpoints: readonly CheckpointFiles[];
  /** All objects that belong to one version and can be cleaned up. */
  readonly objects: readonly { readonly path: string; readonly version: Version; readonly kind: string }[];
}

/**
 * Lists the log from `fromVersion` on. The folder `_sidecars` is not looked into.
 *
 * @throws ServiceError `DELTA_LOG_CORRUPT` (corrupt) for a commit or checkpoint of a version past 2^53, behind which a gap would go unseen.
 */
export async function listLog(store: ObjectStore, fromVersion: number, signal?: AbortSignal): Promise<LogListing> {
  const commits: ListedCommit[] = [];
  const objects: { path: string; version: Version; kind: string }[] = [];
  const parts = new Map<string, { version: Version; parts: number; paths: Map<number, string> }>();
  const checkpoints: CheckpointFiles[] = [];
  for await (const object of store.list({ prefix: logFolder, startAfter: pathBefore(fromVersion), links: true }, signal)) {
    // Digits sort before underscores: everything from here on is hints and sidecars.
    if (object.path.startsWith(`${logFolder}_`)) break;
    const name = parseLogName(object.path);
    if (name === undefined) continue;
    if (name.kind === 'out-of-range') throw logCorrupt(object.path, 'no log reaches this version: the versions before it are missing');
    objects.push({ path: object.path, version: name.version, kind: name.kind });
    if (name.kind === 'commit') commits.push({ version: name.version, modifiedMs: object.modifiedMs, file: object });
    if (name.kind === 'checkpoint') checkpoints.push({ version: name.version, kind: 'classic', paths: [object.path] });
    if (name.kind === 'checkpoint-v2') checkpoints.push({ version: name.version, kind: 'v2', paths: [object.path] });
    if (name.kind !== 'checkpoint-part') continue;
    const key = `${name.version}/${name.parts}`;
    const group = parts.get(key) ?? { version: name.version, parts: name.parts, paths: new Map<number, string>() };
    group.paths.set(name.part, object.path);
    parts.set(key, group);
  }
  for (const group of parts.values()) {
    const paths = Array.from({ length: Math.min(group.parts, group.paths.size) }, (_, index) => group.paths.get(index + 1));
    const complete = paths.filter((path) => path !== undefined);
    if (complete.length === group.parts) checkpoints.push({ version: group.version, kind: 'classic', paths: complete });
  }
  checkpoints.sort((left, right) => left.version - right.version);
  return { commits, checkpoints, objects };
}
