import { AnalysisException } from '../../../base/analysis-exception.ts';
import { isJsonObject, parseJson, printJson } from '../../../base/bigint-json.ts';
import { type EpochMs, toEpochMs } from '../../../base/clock.ts';
import { isServiceError } from '../../../base/errors.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import type { ObjectInfo, ObjectStore } from '../../../storage/object-store.ts';
import { toVersion, type Version } from '../../../table/version.ts';
import type { Action } from '../../actions.ts';
import { putPlain } from '../../checkpoint/put-plain.ts';
import { deletionVectorPath } from '../../deletion-vectors/deletion-vector-path.ts';
import { type LogListing, listLog } from '../../log/log-listing.ts';
import { logFolder } from '../../log/log-names.ts';
import type { OperationContext } from '../operation-context.ts';

/** Where vacuum notes how far it came, for engines that look at the log only. */
export const lastVacuumInfoPath: string = `${logFolder}_last_vacuum_info`;
const member = 'latestCommitVersionOutsideOfRetentionWindow';

const readConcurrency = 8;

/**
 * Objects that the log says are not needed any more: removed files, their deletion vectors and recorded changes of the versions that are
 * older than `deleteBefore` and that no vacuum has looked at. What the log never knew stays. Ordered by path; those that are gone already
 * are left out.
 *
 * @throws AnalysisException `DELTA_CANNOT_VACUUM_LITE` when the log does not reach back to where the last vacuum ended.
 */
export async function liteCandidates(
  context: OperationContext,
  deleteBefore: EpochMs,
  signal?: AbortSignal,
): Promise<readonly ObjectInfo[]> {
  const from = ((await lastVacuumed(context, signal)) ?? -1) + 1;
  const listing = await listLog(context.store, 0, signal);
  const first = listing.commits[0]?.version ?? 0;
  if (first > from) throw cannotVacuumLite(context.name);
  const until = newestBefore(listing, deleteBefore);
  const versions = Array.from({ length: Math.max(0, (until ?? -1) - from + 1) }, (_, index) => toVersion(from + index));
  const paths = new Set<string>();
  const read = async (version: Version): Promise<void> => {
    for (const action of (await context.readCommit(version, signal))?.actions ?? []) for (const path of goneWith(action)) paths.add(path);
  };
  await mapBounded(versions, readConcurrency, read, signal);
  const found = new Map<string, ObjectInfo>();
  const look = async (path: string): Promise<void> => {
    const object = await context.store.head(path, signal);
    if (object !== undefined && object.modifiedMs < deleteBefore) found.set(path, object);
  };
  const ordered = [...paths].filter(isInside).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  await mapBounded(ordered, readConcurrency, look, signal);
  return ordered.flatMap((path) => found.get(path) ?? []);
}

/**
 * Notes that a vacuum ended, and, with `deleteBefore`, that all files of older versions were looked at. Best effort: without the note a lite
 * run starts further back, and maintenance runs the next vacuum early.
 */
export async function noteVacuumed(context: OperationContext, deleteBefore: EpochMs | undefined): Promise<void> {
  try {
    const reached = deleteBefore === undefined ? undefined : newestBefore(await listLog(context.store, 0), deleteBefore);
    const version = reached ?? (await lastVacuumed(context, undefined));
    const note = printJson(version === undefined ? {} : { [member]: version });
    await putPlain(context.store, lastVacuumInfoPath, new TextEncoder().encode(`${note}\n`), undefined);
  } catch (error) {
    if (!isServiceError(error)) throw error;
  }
}

/** When a vacuum last ended, by the storage's own time and whichever engine ran it; `undefined` when none left a note. */
export async function lastVacuumAt(store: ObjectStore, signal: AbortSignal | undefined): Promise<EpochMs | undefined> {
  const note = await store.head(lastVacuumInfoPath, signal);
  return note === undefined ? undefined : toEpochMs(note.modifiedMs);
}

/** The version up to which a vacuum has looked; `undefined` when nobody noted one, or the note cannot be read. */
async function lastVacuumed(context: OperationContext, signal: AbortSignal | undefined): Promise<number | undefined> {
  try {
    const text = new TextDecoder().decode(await context.store.read(lastVacuumInfoPath, signal));
    const info = parseJson(text.trim(), lastVacuumInfoPath);
    const version = isJsonObject(info) ? info[member] : undefined;
    return typeof version === 'number' && Number.isSafeInteger(version) && version >= 0 ? version : undefined;
  } catch (error) {
    if (isServiceError(error, 'not-found', 'corrupt')) return undefined;
    throw error;
  }
}

function newestBefore(listing: LogListing, time: EpochMs): Version | undefined {
  // Not beyond the first younger commit: times of storage may go back, and removed files are judged by version.
  const young = listing.commits.findIndex((commit) => commit.modifiedMs >= time);
  return (young < 0 ? listing.commits.at(-1) : listing.commits[young - 1])?.version;
}

function goneWith(action: Action): readonly string[] {
  if (action.kind === 'cdc') return [action.storedPath];
  if (action.kind !== 'remove') return [];
  const vector = action.deletionVector === undefined ? undefined : deletionVectorPath(action.deletionVector);
  return vector === undefined ? [action.storedPath] : [action.storedPath, vector];
}

/** Files of other tables, which shallow clones refer to by absolute paths, are never ours to delete. */
function isInside(path: string): boolean {
  return !/^([a-z][a-z0-9+.-]*:|\/)/i.test(path) && !path.split('/').includes('..');
}

function cannotVacuumLite(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CANNOT_VACUUM_LITE',
    message: 'VACUUM LITE cannot delete all eligible files as some files are not referenced by the Delta log. Please run VACUUM FULL.',
    context: { table },
  });
}
