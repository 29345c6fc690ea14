import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { QueryableTable, Snapshot } from '../../table/table.ts';
import type { Version } from '../../table/version.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';

const enforced = 'spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration';
const hourMs = 3_600_000;

/**
 * Holds an earlier version of a table against how long its files are kept: VACUUM may delete them from then on, in the middle of a read.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION` 0AKDC.
 */
export function requireKept(
  { conf, clock }: SessionRuntime,
  table: QueryableTable,
  { snapshot, newest }: { readonly snapshot: Snapshot; readonly newest: Snapshot },
): void {
  const keptMs = table.keptMs?.(newest);
  if (keptMs === undefined || snapshot.version === newest.version || snapshot.committedAt >= clock.now() - keptMs) return;
  if (conf.switch(enforced) === false) return;
  const hours = Math.floor(keptMs / hourMs);
  throw new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION',
    kind: 'unsupported',
    message: `Cannot time travel beyond delta.deletedFileRetentionDuration (${hours} HOURS) set on the table.`,
    hint: `to read what no VACUUM has deleted yet set ${enforced} to false; to keep versions longer raise delta.deletedFileRetentionDuration`,
    parameters: { deletedFileRetention: String(hours) },
  });
}

/** The same of a version by its number. One that the table has not, or not any more, is for the reader to refuse. */
export async function requireVersionKept(
  runtime: SessionRuntime,
  table: QueryableTable,
  { version, newest, signal }: { readonly version: Version; readonly newest: Snapshot; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (table.keptMs === undefined || version >= newest.version) return;
  try {
    requireKept(runtime, table, { snapshot: await table.snapshotAt(version, signal), newest });
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
  }
}
