import { isServiceError } from '../../base/errors.ts';
import { keyColumnsOf } from '../../table/keyed.ts';
import type { CompactionPlan, CompactionResult, RewriteGroup } from '../../table/operations.ts';
import { discardFiles } from '../files/discard-files.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { DataFileGroup } from '../operations/rewrite/data-file-groups.ts';
import { rewriteGroup } from '../operations/rewrite/rewrite-group.ts';
import { keyOrder } from '../operations/rewrite/rewrite-order.ts';
import { type LiveFile, liveFiles } from '../scan/live-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';

/**
 * Rewrites the groups of a plan, deleted rows left out, and commits them as one snapshot that changes no rows. Files that are gone since are
 * left out of their group; rows deleted meanwhile are a conflict, and so is a file that went while it was rewritten.
 *
 * @throws CommitStateUnknownException (unknown-outcome): nothing may be deleted; what the engine, the storage and the catalog throw.
 */
export async function compact(context: TableContext, plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
  const state = await context.refresh(signal);
  const byPath = new Map((await liveFiles(context, state, undefined, signal)).data.map((file) => [file.entry.file.path, file]));
  const groups = plan.groups.map((group) => presentFiles(group, byPath)).filter((files) => files.length > 0);
  await context.failpoint('after-compaction-plan');
  const order = keyOrder(state, keyColumnsOf(state));
  const [removed, added]: [ContentFile[], ContentFile[]] = [[], []];
  try {
    for (const files of groups) {
      added.push(
        ...(await rewriteGroup(context, state, groupOf(state, files), { ...whole, order, specId: state.metadata.defaultSpecId }, signal)),
      );
      removed.push(...files.map(({ entry }) => entry.file));
    }
    if (removed.length === 0) return { outcome: 'nothing-to-do', version: undefined, ...nothing };
    await context.failpoint('before-compaction-commit');
    const committed = await commitSnapshot(
      context,
      state,
      {
        kind: 'replace',
        added,
        removed,
        // Equality deletes of snapshots after this one still concern the rows.
        dataSequenceNumber: state.metadata.formatVersion === 1 ? undefined : state.snapshot?.sequenceNumber,
        validation: { since: state.snapshotId, noNewDeletesForRemoved: true, requiredFiles: removed.map(({ path }) => path) },
        summary: {},
      },
      { signal },
    );
    return { outcome: 'committed', version: committed.version, ...totalsOf(removed, added) };
  } catch (error) {
    if (isServiceError(error, 'unknown-outcome')) throw error;
    await discardFiles(context, added);
    if (!isServiceError(error, 'conflict')) throw error;
    await context.failpoint('compaction-conflict');
    return { outcome: 'conflicted', version: undefined, ...nothing };
  }
}

/** The plan has seen to it that a group becomes one file of the right size. */
const whole = {
  settings: { targetFileBytes: Number.MAX_SAFE_INTEGER, minFileBytes: 0, maxFileBytes: Number.MAX_SAFE_INTEGER },
} as const;
const nothing = { filesRemoved: 0, filesAdded: 0, bytesRemoved: 0, bytesAdded: 0 };

function presentFiles({ inputs }: RewriteGroup, byPath: ReadonlyMap<string, LiveFile>): readonly LiveFile[] {
  return inputs.flatMap(({ path }) => byPath.get(path) ?? []);
}

/** Files of one spec and partition; of a former spec their rows may belong to several partitions of the present one. */
function groupOf(state: SnapshotState, files: readonly LiveFile[]): DataFileGroup {
  return {
    files,
    bytes: files.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0),
    samePartition: files.every(({ entry }) => entry.file.specId === state.metadata.defaultSpecId),
  };
}

function totalsOf(removed: readonly ContentFile[], added: readonly ContentFile[]): typeof nothing {
  const bytesOf = (files: readonly ContentFile[]): number => files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0);
  return { filesRemoved: removed.length, filesAdded: added.length, bytesRemoved: bytesOf(removed), bytesAdded: bytesOf(added) };
}
