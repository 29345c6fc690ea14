import { toEpochMs } from '../base/clock.ts';
import type { HistoryLink, HistoryRange } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import { ancestorsOf, snapshotById } from './ancestry.ts';
import type { IcebergSnapshot, TableMetadata } from './metadata/table-metadata.ts';
import { movedProgress } from './progress.ts';
import type { SnapshotState } from './snapshot-state.ts';

/**
 * The snapshots of a branch, newest first: the operation, and the summary as metrics. Snapshots that were rolled back or expired are not
 * among them.
 */
export function historyOf({ metadata, snapshot, version }: SnapshotState, options: HistoryRange): readonly HistoryLink[] {
  const entries: HistoryLink[] = [];
  let number: number = version;
  for (const ancestor of ancestorsOf(metadata, snapshot)) {
    const at = toVersion(metadata.formatVersion === 1 ? number : Number(ancestor.sequenceNumber));
    number -= 1;
    if (entries.length === (options.limit ?? Number.POSITIVE_INFINITY) || at < (options.fromVersion ?? 0)) break;
    if (at <= (options.untilVersion ?? at)) entries.push(entryOf(metadata, ancestor, at));
  }
  return entries;
}

/** The same, oldest first. */
export async function* versionsOf(state: SnapshotState): AsyncGenerator<HistoryLink, void, undefined> {
  // The metadata holds all snapshots there are.
  yield* await Promise.resolve(historyOf(state, {}).toReversed());
}

function entryOf(metadata: TableMetadata, snapshot: IcebergSnapshot, version: Version): HistoryLink {
  const { operation, ...metrics } = snapshot.summary;
  const engine = [metrics['engine-name'], metrics['engine-version']].filter((part) => part !== undefined).join(' ');
  return {
    version,
    committedAt: toEpochMs(snapshot.timestampMs),
    operation: operation ?? 'unknown',
    operationParameters: {
      'snapshot-id': String(snapshot.snapshotId),
      'parent-id': snapshot.parentSnapshotId === undefined ? undefined : String(snapshot.parentSnapshotId),
      'schema-id': snapshot.schemaId === undefined ? undefined : String(snapshot.schemaId),
    },
    operationMetrics: metrics,
    userMetadata: metrics['tidewater.user-metadata'],
    engineInfo: engine === '' ? undefined : engine,
    isBlindAppend: operation === 'append',
    progress: movedProgress(metadata, snapshot),
    addedFiles: Number(metrics['added-data-files'] ?? 0),
    removedFiles: Number(metrics['deleted-data-files'] ?? 0),
    addedRows: metrics['added-records'] === undefined ? undefined : Number(metrics['added-records']),
    netRows: netRowsOf(metrics),
    dataChange: operation !== 'replace',
    previous: previousOf(metadata, snapshot, version),
  };
}

/** Of equality deletes nobody knows how many rows they take. */
function netRowsOf(summary: Readonly<Record<string, string>>): number | undefined {
  const count = (name: string): number => Number(summary[name] ?? 0);
  if (count('added-equality-deletes') > 0 || count('removed-equality-deletes') > 0) return undefined;
  const gained = count('added-records') + count('removed-position-deletes');
  return gained - count('deleted-records') - count('added-position-deletes');
}

/** The parent, which may have expired: then nothing is known of it but that it was. */
function previousOf(metadata: TableMetadata, { parentSnapshotId }: IcebergSnapshot, version: Version): Version | undefined {
  if (parentSnapshotId === undefined) return undefined;
  const parent = snapshotById(metadata, parentSnapshotId);
  return toVersion(parent === undefined || metadata.formatVersion === 1 ? Math.max(0, version - 1) : Number(parent.sequenceNumber));
}
