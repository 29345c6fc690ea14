import { isJsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { toEpochMs } from '../base/clock.ts';
import type { HistoryEntry } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import { type Action, physicalRows } from './actions.ts';
import type { DeltaLog } from './delta-log.ts';
import { commitInfoOf } from './delta-snapshot.ts';
import { timestampLookBack } from './log/load-snapshot.ts';
import { type LogListing, listLog } from './log/log-listing.ts';

/** Versions one call shows at most. */
const maxEntries = 10_000;
/** Commit files read at the same time. */
const readConcurrency = 8;

/** What the versions say about themselves, newest first: those from `fromVersion` up, at most `limit` (default and most: 10,000). */
export async function historyOf(
  log: DeltaLog,
  options: { readonly limit?: number | undefined; readonly fromVersion?: Version | undefined },
  signal?: AbortSignal,
): Promise<readonly HistoryEntry[]> {
  const newest = await log.refresh(signal);
  const limit = Math.max(0, Math.min(options.limit ?? maxEntries, maxEntries));
  const from = Math.max(options.fromVersion ?? 0, newest.version - limit + 1, 0);
  const listing = await listLog(log.store, Math.max(0, from - timestampLookBack), signal);
  const wanted = timed(listing.commits).filter(({ version }) => version >= from && version <= newest.version);
  const entries: HistoryEntry[] = [];
  for (let index = 0; index < wanted.length; index += readConcurrency) {
    const part = wanted.slice(index, index + readConcurrency);
    const commits = await Promise.all(part.map(({ version }) => log.readCommit(version, signal, { forReplay: true })));
    for (const [at, { version, timeMs }] of part.entries()) {
      const actions = commits[at]?.actions;
      // A version that log cleanup took meanwhile has no history any more.
      if (actions !== undefined) entries.push(entryOf(version, timeMs, actions));
    }
  }
  return entries.reverse();
}

/** Commits with their times moved forward so that they grow with the version. */
function timed(commits: LogListing['commits']): readonly { readonly version: Version; readonly timeMs: number }[] {
  let last = 0;
  return commits.map(({ version, modifiedMs }) => {
    last = Math.max(modifiedMs, last + 1);
    return { version, timeMs: last };
  });
}

function entryOf(version: Version, timeMs: number, actions: readonly Action[]): HistoryEntry {
  const info = commitInfoOf(actions)?.body ?? {};
  const added = actions.filter((action) => action.kind === 'add');
  const removed = actions.filter((action) => action.kind === 'remove');
  const rows = added.map((file) => physicalRows(file.stats));
  const inCommitMs = info['inCommitTimestamp'];
  const readVersion = info['readVersion'];
  const isBlindAppend = info['isBlindAppend'];
  return {
    version,
    committedAt: toEpochMs(typeof inCommitMs === 'number' ? inCommitMs : timeMs),
    operation: textOf(info['operation']) ?? 'UNKNOWN',
    operationParameters: textsOf(info['operationParameters']),
    operationMetrics: definedTexts(textsOf(info['operationMetrics'])),
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
    addedRows: rows.includes(undefined) ? undefined : rows.reduce<number>((total, count) => total + (count ?? 0), 0),
    dataChange: [...added, ...removed].some((file) => file.dataChange) || actions.some((action) => action.kind === 'cdc'),
  };
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
