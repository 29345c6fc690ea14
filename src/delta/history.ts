import { isJsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { toEpochMs } from '../base/clock.ts';
import type { HistoryLink, HistoryRange } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import { type Action, liveRows, physicalRows } from './actions.ts';
import type { DeltaLog } from './delta-log.ts';
import { commitInfoOf } from './delta-snapshot.ts';
import { timestampLookBack } from './log/load-snapshot.ts';
import { type LogListing, listLog } from './log/log-listing.ts';

/** Versions one call shows at most. */
const maxEntries = 10_000;
/** Commit files read at the same time. */
const readConcurrency = 8;

/** What the versions say about themselves, newest first: of the range at most `limit` (default and most: 10,000). */
export async function historyOf(log: DeltaLog, options: HistoryRange, signal?: AbortSignal): Promise<readonly HistoryLink[]> {
  const newest = await log.refresh(signal);
  const until = Math.min(newest.version, options.untilVersion ?? newest.version);
  const limit = Math.max(0, Math.min(options.limit ?? maxEntries, maxEntries));
  const from = Math.max(options.fromVersion ?? 0, until - limit + 1, 0);
  const listing = await listLog(log.store, Math.max(0, from - timestampLookBack), signal);
  const wanted = timed(listing.commits).filter(({ version }) => version >= from && version <= until);
  const entries: HistoryLink[] = [];
  for await (const entry of entriesOf(log, wanted, signal)) entries.push(entry);
  return entries.reverse();
}

/** The versions whose commits the log still has, oldest first, up to and with `until`. */
export async function* versionsOf(log: DeltaLog, until: Version, signal?: AbortSignal): AsyncGenerator<HistoryLink, void, undefined> {
  const listing = await listLog(log.store, 0, signal);
  const wanted = timed(listing.commits).filter(({ version }) => version <= until);
  yield* entriesOf(log, wanted, signal);
}

async function* entriesOf(
  log: DeltaLog,
  wanted: ReturnType<typeof timed>,
  signal: AbortSignal | undefined,
): AsyncGenerator<HistoryLink, void, undefined> {
  for (let index = 0; index < wanted.length; index += readConcurrency) {
    const part = wanted.slice(index, index + readConcurrency);
    const commits = await Promise.all(part.map(({ version }) => log.readCommit(version, signal, { forReplay: true })));
    for (const [at, { version, timeMs }] of part.entries()) {
      const actions = commits[at]?.actions;
      // A version that log cleanup took meanwhile has no history any more.
      if (actions !== undefined) yield entryOf(version, timeMs, actions);
    }
  }
}

/** Commits with their times moved forward so that they grow with the version. */
function timed(commits: LogListing['commits']): readonly { readonly version: Version; readonly timeMs: number }[] {
  let last = 0;
  return commits.map(({ version, modifiedMs }) => {
    last = Math.max(modifiedMs, last + 1);
    return { version, timeMs: last };
  });
}

function entryOf(version: Version, timeMs: number, actions: readonly Action[]): HistoryLink {
  const info = commitInfoOf(actions)?.body ?? {};
  const added = actions.filter((action) => action.kind === 'add');
  const removed = actions.filter((action) => action.kind === 'remove');
  const rows = added.map((file) => physicalRows(file.stats));
  const metrics = definedTexts(textsOf(info['operationMetrics']));
  const inCommitMs = info['inCommitTimestamp'];
  const readVersion = info['readVersion'];
  const isBlindAppend = info['isBlindAppend'];
  return {
    version,
    previous: version === 0 ? undefined : toVersion(version - 1),
    committedAt: toEpochMs(typeof inCommitMs === 'number' ? inCommitMs : timeMs),
    operation: textOf(info['operation']) ?? 'UNKNOWN',
    operationParameters: textsOf(info['operationParameters']),
    operationMetrics: metrics,
    userMetadata: textOf(info['userMetadata']),
    engineInfo: textOf(info['engineInfo']),
    readVersion: typeof readVersion === 'number' ? readVersion : undefined,
    isolationLevel: textOf(info['isolationLevel']),
    isBlindAppend: typeof isBlindAppend === 'boolean' ? isBlindAppend : undefined,
    userId: textOf(info['userId']),
    userName: textOf(info['userName']),
    clusterId: textOf(info['clusterId']),
    job: textOf(info['job']),
    notebook: textOf(info['notebook']),
    progress: new Map(actions.flatMap((action) => (action.kind === 'txn' ? [[action.appId, action.version] as const] : []))),
    addedFiles: added.length,
    removedFiles: removed.length,
    addedRows: sumOf(rows),
    netRows: differenceOf(sumOf(added.map(liveRows)), sumOf(removed.map(liveRows))) ?? netRowsOf(metrics),
    dataChange: [...added, ...removed].some((file) => file.dataChange) || actions.some((action) => action.kind === 'cdc'),
  };
}

/** `undefined` when any is. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  return counts.includes(undefined) ? undefined : counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}

function differenceOf(gained: number | undefined, lost: number | undefined): number | undefined {
  return gained === undefined || lost === undefined ? undefined : gained - lost;
}

/** Of writers that leave the statistics out of what they remove. */
function netRowsOf(metrics: Readonly<Record<string, string>>): number | undefined {
  const count = (name: string): number => Number(metrics[name] ?? 0);
  const known = ['numDeletedRows', 'numUpdatedRows', 'numTargetRowsInserted', 'numTargetRowsDeleted'];
  if (!known.some((name) => metrics[name] !== undefined)) return undefined;
  return count('numTargetRowsInserted') - count('numTargetRowsDeleted') - count('numDeletedRows');
}

/** Parameters and metrics of other engines may be any JSON. */
function textsOf(value: JsonValue | undefined): Readonly<Record<string, string | undefined>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, textOf(entry)]));
}

function definedTexts(texts: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text ?? 'null']));
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : printJson(value);
}
