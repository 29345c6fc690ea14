import { isServiceError } from '../../base/errors.ts';
import { keyColumnsOf } from '../../table/keyed.ts';
import type { CompactionPlan, CompactionResult, RewriteGroup } from '../../table/operations.ts';
import { discardFiles } from '../files/discard-files.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { DataFileGroup } from '../operations/rewrite/data-file-groups.ts';
import { rewriteGroup } from '../operations/rewrite/rewrite-group.ts';
import type { FileSizes } from '../operations/rewrite/rewrite-options.ts';
import { keyOrder } from '../operations/rewrite/rewrite-order.ts';
import { type LiveFile, liveFiles } from '../scan/live-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import { carryMarks, type RewrittenFiles } from './carry-marks.ts';

/** How often rows that others delete meanwhile are followed. */
const maxCarries = 20;

/**
 * Rewrites the groups of a plan, deleted rows left out, and commits them as one snapshot that changes no rows. Files that are gone since are
 * left out of their group. Rows deleted while they are copied are followed where a key tells them; otherwise they are a conflict, and so is a file that
 * went.
 *
 * @throws CommitStateUnknownException (unknown-outcome): nothing may be deleted; what the engine, the storage and the catalog throw.
 */
export async function compact(context: TableContext, plan: CompactionPlan, signal?: AbortSignal): Promise<CompactionResult> {
  const state = await context.refresh(signal);
  const byPath = new Map((await liveFiles(context, state, undefined, signal)).data.map((file) => [file.entry.file.path, file]));
  const groups = plan.groups
    .map((group) => ({ inputs: presentFiles(group, byPath), parts: group.parts ?? 1 }))
    .filter(({ inputs }) => inputs.length > 0);
  await context.failpoint('after-compaction-plan');
  const how = { order: keyOrder(state, keyColumnsOf(state)), specId: state.metadata.defaultSpecId };
  const rewritten: RewrittenFiles[] = [];
  try {
    for (const { inputs, parts } of groups) {
      const group = groupOf(state, inputs);
      const outputs = await rewriteGroup(context, state, group, { ...how, settings: sizesFor(group, parts) }, signal);
      rewritten.push({ inputs, outputs, marks: [] });
    }
    if (rewritten.length === 0) return { outcome: 'nothing-to-do', version: undefined, ...nothing };
    await context.failpoint('before-compaction-commit');
    return await commitRewritten(context, state, rewritten, signal);
  } catch (error) {
    if (isServiceError(error, 'unknown-outcome')) throw error;
    await discardFiles(
      context,
      rewritten.flatMap(({ outputs }) => outputs),
    );
    if (!isServiceError(error, 'conflict')) throw error;
    return { outcome: 'conflicted', version: undefined, ...nothing };
  }
}

/** @throws errors of kind `conflict` when what was rewritten cannot be had; its marks are discarded then. */
async function commitRewritten(
  context: TableContext,
  base: SnapshotState,
  rewritten: readonly RewrittenFiles[],
  signal: AbortSignal | undefined,
): Promise<CompactionResult> {
  let [fresh, left] = [base, rewritten];
  for (let carries = 0; ; carries += 1) {
    try {
      const { version } = await commitSnapshot(context, fresh, changeOf({ base, fresh }, left), { signal });
      await discardFiles(
        context,
        rewritten.flatMap(({ outputs }) => outputs).filter((file) => !left.some(({ outputs }) => outputs.includes(file))),
      );
      return { outcome: 'committed', version, ...totalsOf(left) };
    } catch (error) {
      if (isServiceError(error, 'unknown-outcome')) throw error;
      await discardFiles(
        context,
        left.flatMap(({ marks }) => marks),
      );
      if (!isServiceError(error, 'conflict')) throw error;
      await context.failpoint('compaction-conflict');
      fresh = await context.refresh(signal);
      const carried = carries < maxCarries ? await carryMarks(context, { base, fresh }, left, signal) : undefined;
      if (carried === undefined) throw error;
      left = carried;
    }
  }
}

function changeOf(
  { base, fresh }: { readonly base: SnapshotState; readonly fresh: SnapshotState },
  rewritten: readonly RewrittenFiles[],
): SnapshotChange {
  const removed = rewritten.flatMap(({ inputs }) => inputs.map(({ entry }) => entry.file));
  return {
    kind: 'replace',
    added: rewritten.flatMap(({ outputs, marks }) => [...outputs, ...marks]),
    removed,
    // Equality deletes of snapshots after the one that was read still concern the rows.
    dataSequenceNumber: base.metadata.formatVersion === 1 ? undefined : base.snapshot?.sequenceNumber,
    validation: { since: fresh.snapshotId, noNewDeletesForRemoved: true, requiredFiles: removed.map(({ path }) => path) },
    summary: {},
  };
}

/** The plan has seen to it that a group becomes so many files of the right size. */
function sizesFor({ bytes }: DataFileGroup, parts: number): FileSizes {
  const any = Number.MAX_SAFE_INTEGER;
  return parts === 1
    ? { targetFileBytes: any, minFileBytes: 0, maxFileBytes: any }
    : { targetFileBytes: Math.ceil(bytes / parts), minFileBytes: any, maxFileBytes: any };
}

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

function totalsOf(rewritten: readonly RewrittenFiles[]): typeof nothing {
  const removed = rewritten.flatMap(({ inputs }) => inputs.map(({ entry }) => entry.file));
  const added = rewritten.flatMap(({ outputs }) => outputs);
  const bytesOf = (files: readonly ContentFile[]): number => files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0);
  return { filesRemoved: removed.length, filesAdded: added.length, bytesRemoved: bytesOf(removed), bytesAdded: bytesOf(added) };
}
