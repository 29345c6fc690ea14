import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import { toVersion, type Version } from '../../table/version.ts';
import type { ChangePoint, ChangeRange, ReadPoint } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';
import { requireKept, requireVersionKept } from './require-kept.ts';

/** The snapshot of a table that a read is about; errors as `QueryableTable.findSnapshot` and `requireKept`. */
export async function snapshotFor(execution: Execution, table: QueryableTable, at: ReadPoint | undefined): Promise<Snapshot> {
  if (at === undefined) return execution.newest(table);
  const snapshot = await table.findSnapshot(at, execution.signal);
  requireKept(execution.runtime, table, { snapshot, newest: await execution.newest(table) });
  return snapshot;
}

/**
 * First and last version of a range of changes, both included; `undefined` when there is none between two times.
 *
 * @throws AnalysisException `DELTA_CDC_START_VERSION_AFTER_LATEST`, `DELTA_INVALID_CDC_RANGE`, `DELTA_TIMESTAMP_GREATER_THAN_COMMIT`.
 */
export async function versionsOf(
  execution: Execution,
  table: QueryableTable,
  range: ChangeRange,
): Promise<{ readonly from: Version; readonly until: Version } | undefined> {
  const newest = await execution.newest(table);
  const latest = newest.version;
  const from = await startVersion(execution, table, range);
  if (from === undefined) return undefined;
  if (from > latest) {
    if (range.outOfRangeAllowed === true) return undefined;
    throw new AnalysisException({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
      message: `Start version ${from} for change data feed exceeds the latest table version ${latest}.`,
      hint: 'set spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled to true to get no rows instead',
      parameters: { start: String(from), latest: String(latest) },
    });
  }
  await requireVersionKept(execution.runtime, table, { version: toVersion(from), newest, signal: execution.signal });
  const until = await endVersion(execution, table, range.end, latest);
  if (until >= from) return { from: toVersion(from), until: toVersion(until) };
  const bothTimes = range.start.kind === 'timestamp' && range.end?.kind === 'timestamp' && range.end.micros >= range.start.micros;
  if (bothTimes) return undefined;
  throw new AnalysisException({
    errorClass: 'DELTA_INVALID_CDC_RANGE',
    message: `CDC range from start ${from} to end ${until} was invalid. End cannot be before start.`,
    parameters: { start: String(from), end: String(until) },
  });
}

/** A start time stands for the first version at or after it. `undefined`: after the last one, and that is allowed. */
async function startVersion(execution: Execution, table: QueryableTable, range: ChangeRange): Promise<number | undefined> {
  const { start } = range;
  if (start.kind === 'version') {
    // One before the first is an error that names the range; one after the last is the caller's to judge.
    if (start.version < 0) await snapshotFor(execution, table, { kind: 'version', version: BigInt(start.version) });
    return start.version;
  }
  try {
    const version = await table.versionAt(millisOf(start.micros), execution.signal);
    const snapshot = await table.snapshotAt(version, execution.signal);
    return BigInt(snapshot.committedAt) * 1000n < start.micros ? version + 1 : version;
  } catch (error) {
    if (isTimeError(error, 'EARLIER')) return earliestVersion(execution, table);
    if (isTimeError(error, 'GREATER') && range.outOfRangeAllowed === true) return undefined;
    throw error;
  }
}

/** An end time stands for the last version at or before it; an end past the latest version for the latest. */
async function endVersion(execution: Execution, table: QueryableTable, end: ChangePoint | undefined, latest: number): Promise<number> {
  if (end === undefined) return latest;
  if (end.kind === 'version') return Math.min(end.version, latest);
  try {
    return await table.versionAt(millisOf(end.micros), execution.signal);
  } catch (error) {
    if (isTimeError(error, 'GREATER')) return latest;
    throw error;
  }
}

function isTimeError(error: unknown, what: 'EARLIER' | 'GREATER'): boolean {
  return isServiceError(error) && error.code.includes('TIMESTAMP') && error.code.includes(what);
}

async function earliestVersion(execution: Execution, table: QueryableTable): Promise<number> {
  const history = await table.history({}, execution.signal);
  return history.at(-1)?.version ?? 0;
}

function millisOf(micros: bigint): number {
  // Rounds down, before 1970 too.
  return Number(micros / 1000n) - (micros % 1000n < 0n ? 1 : 0);
}
