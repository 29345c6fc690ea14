import type { Version } from '../../../table/version.ts';
import { toVersion } from '../../../table/version.ts';
import type { OperationContext } from '../operation-context.ts';

/**
 * Bytes of files that versions from `fromVersion` on removed or recorded, and whose own retention is over: what only readers of those versions'
 * changes keep. Reads the commits of the versions that are past the table's retention.
 */
export async function heldBytes(context: OperationContext, fromVersion: Version, signal?: AbortSignal): Promise<number> {
  const { version: latest, settings } = await context.refresh(signal);
  const deleteBefore = context.clock.now() - settings.deletedFileRetentionMs;
  let bytes = 0;
  for (let version: number = fromVersion; version <= latest; version++) {
    const commit = await context.readCommit(toVersion(version), signal);
    if (commit === undefined) continue;
    if (commit.modifiedMs > deleteBefore) break;
    for (const action of commit.actions) if (action.kind === 'cdc' || action.kind === 'remove') bytes += action.sizeBytes ?? 0;
  }
  return bytes;
}
