import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { beforeFirstVersion, type Version } from '../../table/version.ts';
import type { Action } from '../actions.ts';
import { readCheckpoint } from '../checkpoint/read-checkpoint.ts';
import { commitInfoOf, DeltaSnapshot } from '../delta-snapshot.ts';
import { type ReplayState, replayed } from '../replay-state.ts';
import type { ParquetRowCodec } from './codec.ts';
import { readCheckpointHint } from './last-checkpoint.ts';
import { type CheckpointFiles, type LogListing, listLog } from './log-listing.ts';
import { readCommit } from './read-commit.ts';

/** Where a log lies and how it is read. */
export interface LogSource {
  readonly name: string;
  readonly store: ObjectStore;
  readonly codec: ParquetRowCodec;
}

/** So many commits before the one wanted take part in moving times forward. */
export const timestampLookBack = 100;
/** Commit files read at the same time. */
const readConcurrency = 8;

/**
 * Replays the log up to `until` (default: its end) from the newest usable checkpoint; `undefined` when there is no log. A hint or a
 * checkpoint that cannot be used costs time, never correctness.
 *
 * @throws ServiceError `DELTA_VERSIONS_NOT_CONTIGUOUS`, `DELTA_TRUNCATED_TRANSACTION_LOG`, `DELTA_LOG_CORRUPT`,
 * `DELTA_STATE_RECOVER_ERROR` (kind corrupt); AnalysisException `DELTA_VERSION_NOT_FOUND` (kind not-found) naming the available range.
 */
export async function loadSnapshot(source: LogSource, until?: Version, signal?: AbortSignal): Promise<DeltaSnapshot | undefined> {
  const hint = await readCheckpointHint(source.store, signal);
  const from = hint === undefined || (until !== undefined && hint > until) ? 0 : Math.max(0, hint - timestampLookBack);
  if (from > 0) {
    const near = await listLog(source.store, from, signal);
    const checkpoint = near.checkpoints.findLast((candidate) => until === undefined || candidate.version <= until);
    const usable = checkpoint !== undefined && (until === undefined || until <= newestOf(near));
    const snapshot = usable ? await replayFrom(source, near, checkpoint, until, signal) : undefined;
    if (snapshot !== undefined) return snapshot;
  }
  return loadFromListing(source, await listLog(source.store, 0, signal), until, signal);
}

async function loadFromListing(
  source: LogSource,
  listing: LogListing,
  until: Version | undefined,
  signal: AbortSignal | undefined,
): Promise<DeltaSnapshot | undefined> {
  if (listing.commits.length === 0 && listing.checkpoints.length === 0) return undefined;
  if (until !== undefined && until < 0) throw versionNotFound(source.name, until, listing);
  const usable = listing.checkpoints.filter((checkpoint) => until === undefined || checkpoint.version <= until);
  const complaints: ServiceError[] = [];
  for (const checkpoint of usable.toReversed()) {
    const snapshot = await replayFrom(source, listing, checkpoint, until, signal, complaints);
    if (snapshot !== undefined) return snapshot;
  }
  if (listing.commits[0]?.version === 0) return replayFrom(source, listing, undefined, until, signal);
  if (until !== undefined && complaints.length === 0) throw versionNotFound(source.name, until, listing);
  const why = complaints[0] === undefined ? '' : ` (${complaints[0].message})`;
  throw serviceError.corrupt(
    'DELTA_TRUNCATED_TRANSACTION_LOG',
    `table "${source.name}": the log starts at version ${listing.commits[0]?.version ?? 'none'} and no checkpoint before it is usable${why}`,
    { hint: 'restore the missing checkpoint or commits from a copy', cause: complaints[0] },
  );
}

/** `undefined`: the checkpoint cannot be used, try another one; `complaints` gets why. */
async function replayFrom(
  source: LogSource,
  listing: LogListing,
  checkpoint: CheckpointFiles | undefined,
  until: Version | undefined,
  signal: AbortSignal | undefined,
  complaints: ServiceError[] = [],
): Promise<DeltaSnapshot | undefined> {
  const start = checkpoint?.version ?? beforeFirstVersion;
  const commits = commitsAfter(source.name, listing, start, until);
  let state: ReplayState | undefined;
  if (checkpoint !== undefined) {
    const actions = await checkpointActions(source, checkpoint, signal, complaints);
    if (actions === undefined) return undefined;
    const commitFile = listing.commits.find((commit) => commit.version === start)?.file;
    const base = { version: start, modifiedMs: timeOf(listing, start), commitFile };
    state = replayed(undefined, base, actions);
    if (state.metadata?.configuration['delta.enableInCommitTimestamps'] === 'true') {
      // A checkpoint does not hold the time its version was given; the commit does, for as long as it is kept.
      const info = commitInfoOf((await readCommit(source.store, start, { forReplay: true }, signal))?.actions ?? []);
      if (info !== undefined) state = replayed(undefined, base, [...actions, info]);
    }
  }
  for (let index = 0; index < commits.length; index += readConcurrency) {
    const reads = commits
      .slice(index, index + readConcurrency)
      .map((commit) => readCommit(source.store, commit.version, { file: commit.file, forReplay: true }, signal));
    for (const commit of await Promise.all(reads)) {
      if (commit === undefined) throw notContiguous(source.name, 'a commit vanished while the log was read');
      state = replayed(state, commit, commit.actions);
    }
  }
  return state === undefined ? undefined : DeltaSnapshot.of(state, source.name);
}

function commitsAfter(name: string, listing: LogListing, start: Version, until: Version | undefined): LogListing['commits'] {
  const commits = listing.commits.filter((commit) => commit.version > start && (until === undefined || commit.version <= until));
  let expected = start + 1;
  for (const commit of commits) {
    if (commit.version !== expected) throw notContiguous(name, `after version ${expected - 1} the next commit is ${commit.version}`);
    expected += 1;
  }
  if (until !== undefined && expected !== until + 1) throw versionNotFound(name, until, listing);
  return commits;
}

/** `undefined` when the checkpoint is damaged or gone. */
async function checkpointActions(
  source: LogSource,
  checkpoint: CheckpointFiles,
  signal: AbortSignal | undefined,
  complaints: ServiceError[],
): Promise<readonly Action[] | undefined> {
  try {
    const actions: Action[] = [];
    for await (const action of readCheckpoint(source.store, source.codec, checkpoint, signal)) actions.push(action);
    return actions;
  } catch (error) {
    if (!isServiceError(error, 'corrupt', 'not-found')) throw error;
    complaints.push(error);
    return undefined;
  }
}

/** The commit's time moved forward past the times of the commits before it. */
function timeOf(listing: LogListing, version: Version): number {
  let time = 0;
  for (const commit of listing.commits) {
    if (commit.version > version) break;
    time = Math.max(commit.modifiedMs, time + 1);
  }
  return time;
}

function notContiguous(name: string, what: string): ServiceError {
  return serviceError.corrupt('DELTA_VERSIONS_NOT_CONTIGUOUS', `table "${name}": ${what}`, {
    hint: 'a commit file was deleted by hand or not copied; restore it',
  });
}

function newestOf(listing: LogListing): number {
  return Math.max(listing.commits.at(-1)?.version ?? -1, listing.checkpoints.at(-1)?.version ?? -1);
}

function versionNotFound(name: string, version: Version, listing: LogListing): AnalysisException {
  const earliest = listing.commits[0]?.version === 0 ? 0 : (listing.checkpoints[0]?.version ?? listing.commits[0]?.version ?? 0);
  const latest = newestOf(listing);
  return new AnalysisException({
    errorClass: 'DELTA_VERSION_NOT_FOUND',
    kind: 'not-found',
    message: `Cannot time travel Delta table to version ${version}. Available versions: [${earliest}, ${latest}].`,
    hint: 'choose a version of the range; older ones were cleaned up with the log',
    parameters: { userVersion: String(version), earliest: String(earliest), latest: String(latest) },
    context: { table: name },
  });
}
