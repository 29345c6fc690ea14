import { assertNever } from '../../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { UpkeepRequest, UpkeepResult, VacuumOptions, VacuumResult } from '../../table/operations.ts';
import type { Version } from '../../table/version.ts';
import { plainLocation } from '../location.ts';
import { expireSnapshots } from '../operations/expire/expire-snapshots.ts';
import { removeOrphanFiles } from '../operations/orphans/remove-orphan-files.ts';
import { rewriteManifests } from '../operations/rewrite/rewrite-manifests.ts';
import { rewritePositionDeletes } from '../operations/rewrite/rewrite-position-deletes.ts';
import type { TableContext } from '../table-context.ts';

const msPerHour = 3_600_000;
/** A file younger than this may belong to a commit that is still on its way. */
const minOrphanAgeHours = 24;

/**
 * Expiry of snapshots and the rewriting of manifests and delete files. Others being first is a result, not an error.
 *
 * @throws what the operation throws; CommitStateUnknownException (unknown-outcome): nothing may be deleted.
 */
export async function upkeep(context: TableContext, request: UpkeepRequest, signal?: AbortSignal): Promise<UpkeepResult> {
  try {
    const { version, details } = await run(context, request, signal);
    const idle = Object.values(details).every((count) => count === 0);
    const outcome = idle ? 'nothing-to-do' : request.dryRun ? 'planned' : 'done';
    return { outcome, version, details };
  } catch (error) {
    if (!isServiceError(error, 'conflict')) throw error;
    return { outcome: 'conflicted', version: undefined, details: {} };
  }
}

interface Outcome {
  readonly version: Version | undefined;
  readonly details: Readonly<Record<string, number>>;
}

async function run(context: TableContext, request: UpkeepRequest, signal: AbortSignal | undefined): Promise<Outcome> {
  const { kind, dryRun, keepVersionsFrom, retentionMs } = request;
  switch (kind) {
    case 'expire': {
      const olderThanMs = retentionMs === undefined ? undefined : context.clock.now() - retentionMs;
      const counts = await expireSnapshots(context, { dryRun, keepVersionsFrom, olderThanMs, signal });
      return { version: undefined, details: { ...counts } };
    }
    case 'rewrite-manifests': {
      const { version, ...details } = await rewriteManifests(context, { dryRun, signal });
      return { version, details };
    }
    case 'rewrite-deletes': {
      const { version, ...details } = await rewritePositionDeletes(context, { dryRun, signal });
      return { version, details };
    }
    default:
      return assertNever(kind);
  }
}

/**
 * Deletes files below the table that nothing of it refers to.
 *
 * @throws ServiceError `ORPHAN_AGE_TOO_SHORT` (invalid) for a retention below a day that is not asked for twice.
 */
export async function removeOrphans(context: TableContext, options: VacuumOptions, signal?: AbortSignal): Promise<VacuumResult> {
  const { dryRun, retentionHours, allowShortRetention } = options;
  if (retentionHours !== undefined && retentionHours < minOrphanAgeHours && allowShortRetention !== true)
    throw tooShort(context, retentionHours);
  const olderThanMs = retentionHours === undefined ? undefined : context.clock.now() - retentionHours * msPerHour;
  const { locations, fileCount, sizeBytes } = await removeOrphanFiles(context, { dryRun, olderThanMs, signal });
  const root = plainLocation((await context.refresh(signal)).metadata.location);
  return { paths: locations.map((location) => below(root, plainLocation(location))), fileCount, sizeBytes, heldByFeeds: 0, folderCount: 0 };
}

function below(root: string, location: string): string {
  return location.startsWith(`${root}/`) ? location.slice(root.length + 1) : location;
}

function tooShort({ name }: TableContext, hours: number): ServiceError {
  return serviceError.invalid(
    'ORPHAN_AGE_TOO_SHORT',
    `table "${name}": files of ${hours} hours may belong to commits that are still on their way; at least ${minOrphanAgeHours} hours are needed`,
    { hint: 'use a longer retention, or allow a short one when nobody writes to the table' },
  );
}
