import { assertNever } from '../base/assert.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { FeedWatermarks } from '../protocol/table-events.ts';
import type { CompactionRule, UpkeepRequest } from '../table/operations.ts';
import type { MaintainedTable, MaintenanceKind } from '../table/table.ts';
import type { Version } from '../table/version.ts';

export interface OperationOptions {
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
  readonly compaction: CompactionRule;
  /** Only for vacuum and expire; `undefined`: the table's own. */
  readonly retentionMs?: number | undefined;
  readonly allowShortRetention?: boolean | undefined;
}

export interface OperationReport {
  /** `planned`: a dry run. */
  readonly outcome: 'done' | 'planned' | 'nothing-to-do' | 'conflicted';
  readonly version: Version | undefined;
  /** What was done or would be done: counts and bytes by name. */
  readonly details: Readonly<Record<string, number>>;
  /** Files deleted, or files a dry run looked at; possibly shortened. */
  readonly paths: readonly string[];
}

const msPerHour = 3_600_000;

/**
 * Runs one maintenance operation on a table, as the queue's workers and the command line do. The slowest feed is asked right before: what it
 * still needs stays, whatever its age.
 */
export async function runOperation(
  kind: MaintenanceKind,
  table: MaintainedTable,
  watermarks: FeedWatermarks,
  options: OperationOptions,
  signal?: AbortSignal,
): Promise<OperationReport> {
  if (!table.capabilities.maintenance.includes(kind)) throw unavailable(kind, table);
  switch (kind) {
    case 'compact':
      return compact(table, options, signal);
    case 'vacuum':
      return vacuum(table, await watermarks.lowWatermark(table.name), options, signal);
    case 'checkpoint':
      return checkpoint(table, await watermarks.lowWatermark(table.name), options, signal);
    case 'expire':
    case 'rewrite-manifests':
    case 'rewrite-deletes':
      return upkeep(kind, table, await watermarks.lowWatermark(table.name), options, signal);
    default:
      return assertNever(kind);
  }
}

async function upkeep(
  kind: UpkeepRequest['kind'],
  table: MaintainedTable,
  keepVersionsFrom: Version | undefined,
  { dryRun, retentionMs }: OperationOptions,
  signal: AbortSignal | undefined,
): Promise<OperationReport> {
  if (table.maintain === undefined) throw unavailable(kind, table);
  const result = await table.maintain({ kind, dryRun, keepVersionsFrom, ...(kind === 'expire' ? { retentionMs } : {}) }, signal);
  return { ...result, paths: [] };
}

function unavailable(kind: MaintenanceKind, table: MaintainedTable): ServiceError {
  return serviceError.unsupported(
    'MAINTENANCE_UNSUPPORTED',
    `table "${table.name}": the operation ${kind} is not available for tables of format ${table.format}`,
    { hint: `it has ${table.capabilities.maintenance.join(', ')}` },
  );
}

async function compact(table: MaintainedTable, options: OperationOptions, signal: AbortSignal | undefined): Promise<OperationReport> {
  const plan = await table.planCompaction(options.compaction, signal);
  if (options.dryRun) {
    const inputs = plan.groups.flatMap((group) => group.inputs);
    const details = { groups: plan.groups.length, files: inputs.length, bytes: inputs.reduce((sum, file) => sum + file.sizeBytes, 0) };
    return { outcome: 'planned', version: undefined, details, paths: inputs.map((file) => file.path) };
  }
  if (plan.groups.length === 0) return { outcome: 'nothing-to-do', version: undefined, details: {}, paths: [] };
  const { outcome, version, ...details } = await table.compact(plan, signal);
  return { outcome: outcome === 'committed' ? 'done' : outcome, version, details, paths: [] };
}

async function vacuum(
  table: MaintainedTable,
  keepChangesFrom: Version | undefined,
  options: OperationOptions,
  signal: AbortSignal | undefined,
): Promise<OperationReport> {
  const { dryRun, retentionMs, allowShortRetention } = options;
  const retentionHours = retentionMs === undefined ? undefined : retentionMs / msPerHour;
  const { paths, fileCount, folderCount, sizeBytes, heldByFeeds } = await table.vacuum(
    // Sweeps that find nothing must not fill the history.
    { dryRun, retentionHours, allowShortRetention, keepChangesFrom, quietWhenIdle: true },
    signal,
  );
  const outcome = dryRun ? 'planned' : fileCount + folderCount === 0 ? 'nothing-to-do' : 'done';
  return { outcome, version: undefined, details: { files: fileCount, bytes: sizeBytes, folders: folderCount, heldByFeeds }, paths };
}

async function checkpoint(
  table: MaintainedTable,
  keepVersionsFrom: Version | undefined,
  options: OperationOptions,
  signal: AbortSignal | undefined,
): Promise<OperationReport> {
  const { version, written } = await table.checkpoint({ dryRun: options.dryRun, keepVersionsFrom }, signal);
  return { outcome: options.dryRun ? 'planned' : written ? 'done' : 'nothing-to-do', version, details: {}, paths: [] };
}
