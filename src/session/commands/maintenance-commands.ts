import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { requireVersionKept } from '../analyze/require-kept.ts';
import type { ReadPoint } from '../plan/plan.ts';
import { type CommandResult, noResult, resultSchema } from './command-result.ts';
import { locationText } from './optimize-command.ts';
import { type CommandTarget, commitOptionsOf } from './row-commands.ts';

const vacuumSchema = resultSchema({ path: 'string' });
const restoreSchema = resultSchema({
  table_size_after_restore: 'long',
  num_of_files_after_restore: 'long',
  num_removed_files: 'long',
  num_restored_files: 'long',
  removed_files_size: 'long',
  restored_files_size: 'long',
});

export interface VacuumRequest {
  readonly retentionHours?: number | undefined;
  readonly dryRun: boolean;
  readonly mode?: 'full' | 'lite' | undefined;
}

/** VACUUM: the table's path; with DRY RUN a row for each path that would be deleted. */
export async function vacuumCommand({ runtime, table, signal }: CommandTarget, request: VacuumRequest): Promise<CommandResult> {
  const allowShortRetention = runtime.conf.switch('spark.databricks.delta.retentionDurationCheck.enabled') === false;
  const result = await table.vacuum({ ...request, allowShortRetention }, signal);
  const root = locationText(table.location);
  const paths = request.dryRun ? result.paths.map((path) => `${root}/${path}`) : [root];
  return { schema: vacuumSchema, rows: paths.map((path) => ({ path })) };
}

/** RESTORE: what changed, in one row. */
export async function restoreCommand(target: CommandTarget, to: ReadPoint): Promise<CommandResult> {
  const { table, signal } = target;
  const timestamp = to.kind === 'timestamp' ? to.text : undefined;
  const version = to.kind === 'version' ? await restorable(target, BigInt(to.version)) : await restorableAt(target, to);
  const newest = await table.refresh(signal);
  await requireVersionKept(target.runtime, table, { version, newest, signal });
  const result = await table.operations.restore({ version, timestamp }, commitOptionsOf(target));
  const row = {
    table_size_after_restore: result.tableSizeAfterRestore,
    num_of_files_after_restore: result.numOfFilesAfterRestore,
    num_removed_files: result.numRemovedFiles,
    num_restored_files: result.numRestoredFiles,
    removed_files_size: result.removedFilesSize,
    restored_files_size: result.restoredFilesSize,
  };
  return { schema: restoreSchema, rows: [row] };
}

/** GENERATE: only Hive's manifests exist. */
export async function generateCommand({ table, signal }: CommandTarget, mode: string): Promise<CommandResult> {
  if (mode.toLowerCase() !== 'symlink_format_manifest') throw unsupported(`GENERATE ${mode}`, 'the mode is symlink_format_manifest');
  await table.operations.generateManifest(signal);
  return noResult;
}

const restoreClasses: Readonly<Record<string, readonly [errorClass: string, place: string] | undefined>> = {
  DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION: ['DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER', 'before the earliest version'],
  DELTA_TIMESTAMP_GREATER_THAN_COMMIT: ['DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER', 'after the latest version'],
};

/** A time outside of the history is told under names of its own. */
async function restorableAt({ table, signal }: CommandTarget, to: ReadPoint): Promise<Version> {
  try {
    return (await table.findSnapshot(to, signal)).version;
  } catch (error) {
    const [errorClass, place] = (error instanceof AnalysisException ? restoreClasses[error.errorClass] : undefined) ?? [];
    if (errorClass === undefined || place === undefined || to.kind !== 'timestamp') throw error;
    throw new AnalysisException({
      errorClass,
      message: `Cannot restore table to timestamp (${to.text}) as it is ${place} available.`,
      parameters: { requestedTimestamp: to.text },
      cause: error,
    });
  }
}

/** The table itself refuses what is no version of it; a negative number, or one that no table reaches, cannot be one. */
async function restorable({ table, signal }: CommandTarget, version: bigint): Promise<Version> {
  if (version >= 0n && version <= BigInt(Number.MAX_SAFE_INTEGER)) return toVersion(Number(version));
  const history = await table.history({}, signal);
  const [earliest, latest] = [history.at(-1)?.version ?? 0, history[0]?.version ?? 0];
  throw new AnalysisException({
    errorClass: 'DELTA_CANNOT_RESTORE_TABLE_VERSION',
    message: `Cannot restore table to version ${version}. Available versions: [${earliest}, ${latest}].`,
    parameters: { version: String(version), startVersion: String(earliest), endVersion: String(latest) },
  });
}
