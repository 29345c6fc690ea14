import { isJsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { toEpochMs } from '../base/clock.ts';
import type { HistoryEntry } from '../table/table.ts';
import type { Version } from '../table/version.ts';
import { type Action, physicalRows } from './actions.ts';
import type { DeltaLog } from './delta-log.ts';
import { commitInfoOf } from './delta-snapshot.ts';
import { timestampLookBack } from './log/load-snapshot.ts';
import { listLog } from './log/log-listing.ts';

/** Versions one call shows at most. */
const maxEntries = 10_000;

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
  const entries: HistoryEntry[] = [];
  let timeMs = 0;
  for (const listed of listing.commits) {
    timeMs = Math.max(listed.modifiedMs, timeMs + 1);
    if (listed.version < from || listed.version > newest.version) continue;
    const commit = await log.readCommit(listed.version, signal);
    // A version that log cleanup took meanwhile has no history any more.
    if (commit !== undefined) entries.push(entryOf(listed.version, timeMs, commit.actions));
  }
  return entries.reverse();
}

function entryOf(version: Version, timeMs: number, actions: readonly Action[]): HistoryEntry {
  const info = commitInfoOf(actions)?.body ?? {};
  const added = actions.filter((action) => action.kind === 'add');
  const removed = actions.filter((action) => action.kind === 'remove');
  const rows = added.map((file) => physicalRows(file.stats));
  const inCommitMs = info['inCommitTimestamp'];
  return {
    version,
    committedAt: toEpochMs(typeof inCommitMs === 'number' ? inCommitMs : timeMs),
    operation: textOf(info['operation']) ?? 'UNKNOWN',
    operationParameters: textsOf(info['operationParameters']),
    operationMetrics: textsOf(info['operationMetrics']),
    userMetadata: textOf(info['userMetadata']),
    engineInfo: textOf(info['engineInfo']),
    progress: new Map(actions.flatMap((action) => (action.kind === 'txn' ? [[action.appId, action.version] as const] : []))),
    addedFiles: added.length,
    removedFiles: removed.length,
    addedRows: rows.includes(undefined) ? undefined : rows.reduce<number>((total, count) => total + (count ?? 0), 0),
    dataChange: [...added, ...removed].some((file) => file.dataChange) || actions.some((action) => action.kind === 'cdc'),
  };
}

/** Parameters and metrics of other engines may be any JSON. */
function textsOf(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([key, entry]) => (entry === undefined ? [] : [[key, textOf(entry) ?? 'null']])));
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : printJson(value);
}
