import { AnalysisException } from '../base/analysis-exception.ts';
import { isServiceError } from '../base/errors.ts';
import { unsupportedFeature } from '../base/unsupported-feature.ts';
import type { SnapshotPoint } from '../table/queries.ts';
import { toVersion, type Version } from '../table/version.ts';
import type { DeltaSnapshot } from './delta-snapshot.ts';

interface VersionedTable {
  refresh(signal?: AbortSignal): Promise<DeltaSnapshot>;
  snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot>;
  versionAt(timestampMs: number, signal?: AbortSignal): Promise<Version>;
  earliestVersion(signal?: AbortSignal): Promise<number>;
}

/** @throws AnalysisException `DELTA_VERSION_NOT_FOUND` naming the range, `DELTA_TIMESTAMP_…`, `DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE`. */
export async function findSnapshot(table: VersionedTable, point: SnapshotPoint, signal?: AbortSignal): Promise<DeltaSnapshot> {
  if (point.kind === 'timestamp') return table.snapshotAt(await table.versionAt(millisOf(point.micros), signal), signal);
  if (point.kind !== 'version') throw noRefs(point.kind);
  const asked = wholeNumber(point.version);
  const newest = await table.refresh(signal);
  if (asked > newest.version || asked < 0) throw await versionNotFound(table, asked, newest.version);
  try {
    return await table.snapshotAt(toVersion(asked), signal);
  } catch (error) {
    if (isServiceError(error, 'not-found') && !(error instanceof AnalysisException))
      throw await versionNotFound(table, asked, newest.version);
    throw error;
  }
}

function wholeNumber(version: bigint | string): number {
  const number = typeof version === 'string' && !/^\s*-?\d{1,15}\s*$/.test(version) ? Number.NaN : Number(version);
  if (Number.isSafeInteger(number)) return number;
  throw new AnalysisException({
    errorClass: 'DELTA_TIME_TRAVEL_INVALID_BEGIN_VALUE',
    message: 'versionAsOf needs to be a valid begin value.',
    parameters: { timeTravelKey: 'versionAsOf' },
  });
}

async function versionNotFound(table: VersionedTable, version: number, latest: number): Promise<AnalysisException> {
  const earliest = await table.earliestVersion();
  return new AnalysisException({
    errorClass: 'DELTA_VERSION_NOT_FOUND',
    kind: 'not-found',
    message: `Cannot time travel Delta table to version ${version}. Available versions: [${earliest}, ${latest}].`,
    parameters: { userVersion: String(version), earliest: String(earliest), latest: String(latest) },
  });
}

function noRefs(kind: string): AnalysisException {
  return unsupportedFeature(`a Delta table has no ${kind} to read`, {
    hint: 'read a version (versionAsOf) or a time (timestampAsOf)',
  });
}

function millisOf(micros: bigint): number {
  // Rounds down, before 1970 too.
  return Number(micros / 1000n) - (micros % 1000n < 0n ? 1 : 0);
}
