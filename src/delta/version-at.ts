import { AnalysisException } from '../base/analysis-exception.ts';
import { toVersion, type Version } from '../table/version.ts';
import { commitInfoOf, type DeltaSnapshot } from './delta-snapshot.ts';
import { type LogListing, listLog } from './log/log-listing.ts';
import type { OperationContext } from './operations/operation-context.ts';

/** A version and when it was committed. */
interface VersionTime {
  readonly version: Version;
  readonly timeMs: number;
}

/**
 * The newest version committed at or before `timestampMs`: by in-commit timestamps where the table has them, else by the commit files'
 * times, moved forward so that they grow with the version.
 *
 * @throws AnalysisException `DELTA_TIMESTAMP_GREATER_THAN_COMMIT` after the newest version, `DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION`
 * before the oldest one that can still be read.
 */
export async function versionAt(context: OperationContext, timestampMs: number, signal?: AbortSignal): Promise<Version> {
  const newest = await context.refresh(signal);
  const times = new CommitTimes(context, newest, await listLog(context.store, 0, signal), signal);
  const first = await times.at(0);
  if (timestampMs < first.timeMs) throw tooEarly(timestampMs, first);
  const last = await times.at(times.count - 1);
  if (timestampMs > last.timeMs) throw tooLate(timestampMs, last);
  // Binary search for the last version that is not later: only a few commits are read even where each holds its own time.
  let found = first;
  for (let low = 1, high = times.count - 1; low <= high; ) {
    const middle = Math.floor((low + high) / 2);
    const candidate = await times.at(middle);
    if (candidate.timeMs <= timestampMs) {
      found = candidate;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found.version;
}

/** The times of the versions that can be read, ascending. */
class CommitTimes {
  readonly #context: OperationContext;
  readonly #fileTimes: readonly VersionTime[];
  readonly #newest: DeltaSnapshot;
  readonly #inCommitFrom: number;
  readonly #signal: AbortSignal | undefined;

  constructor(context: OperationContext, newest: DeltaSnapshot, listing: LogListing, signal: AbortSignal | undefined) {
    this.#context = context;
    this.#newest = newest;
    this.#fileTimes = fileTimesOf(listing, newest);
    this.#inCommitFrom = inCommitFrom(newest);
    this.#signal = signal;
  }

  get count(): number {
    return this.#fileTimes.length;
  }

  async at(index: number): Promise<VersionTime> {
    const entry = this.#fileTimes[index] ?? { version: this.#newest.version, timeMs: this.#newest.committedAt };
    if (entry.version === this.#newest.version) return { version: entry.version, timeMs: this.#newest.committedAt };
    if (entry.version < this.#inCommitFrom) return entry;
    const commit = await this.#context.readCommit(entry.version, this.#signal);
    const timeMs = commitInfoOf(commit?.actions ?? [])?.body['inCommitTimestamp'];
    return typeof timeMs === 'number' ? { version: entry.version, timeMs } : entry;
  }
}

/** The versions that can be replayed, with the times of their commit files. */
function fileTimesOf(listing: LogListing, newest: DeltaSnapshot): readonly VersionTime[] {
  const oldest = listing.commits[0]?.version === 0 ? 0 : (listing.checkpoints[0]?.version ?? newest.version);
  const times: VersionTime[] = [];
  let timeMs = 0;
  for (const commit of listing.commits) {
    timeMs = Math.max(commit.modifiedMs, timeMs + 1);
    if (commit.version >= oldest && commit.version <= newest.version) times.push({ version: commit.version, timeMs });
  }
  return times;
}

/** The first version whose own time counts. */
function inCommitFrom(snapshot: DeltaSnapshot): number {
  if (!snapshot.settings.inCommitTimestamps) return Number.POSITIVE_INFINITY;
  const enabled = Number(snapshot.properties['delta.inCommitTimestampEnablementVersion'] ?? 0);
  return Number.isSafeInteger(enabled) && enabled >= 0 ? toVersion(enabled) : 0;
}

function tooLate(timestampMs: number, last: VersionTime): AnalysisException {
  const given = timestampText(timestampMs);
  const latest = timestampText(last.timeMs);
  return new AnalysisException({
    errorClass: 'DELTA_TIMESTAMP_GREATER_THAN_COMMIT',
    kind: 'not-found',
    message: `Timestamp ${given} is after the table's latest version (${latest}). Use a timestamp at or before ${wholeSeconds(latest)}.`,
    parameters: { providedTimestamp: given, tableName: latest, maximumTimestamp: wholeSeconds(latest) },
  });
}

function tooEarly(timestampMs: number, first: VersionTime): AnalysisException {
  const given = timestampText(timestampMs);
  const earliest = timestampText(first.timeMs);
  return new AnalysisException({
    errorClass: 'DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION',
    kind: 'not-found',
    message: `The provided timestamp (${given}) is before the earliest version available to this table (${earliest}). Please use a timestamp after ${wholeSeconds(earliest)}.`,
    parameters: { userTimestamp: given, commitTs: earliest, timestampString: wholeSeconds(earliest) },
  });
}

/** `2026-11-21 10:15:35.608` in UTC, with at least one digit of the second and no zeros at the end. */
function timestampText(timeMs: number): string {
  const time = new Date(timeMs);
  if (Number.isNaN(time.getTime())) return String(timeMs);
  const text = time.toISOString().replace('T', ' ').replace('Z', '');
  return text.replace(/0{1,2}$/, '');
}

function wholeSeconds(text: string): string {
  return text.replace(/\.\d+$/, '');
}
