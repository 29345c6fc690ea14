import { isDeepStrictEqual } from 'node:util';
import { throwIfAborted } from '../../base/abort.ts';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import { type CommitConflict, toCommitId } from '../../table/commit.ts';
import type { CompactionPlan, CompactionResult, FileRewriter, RewriteGroup } from '../../table/operations.ts';
import type { StagedFile, WriteSpec } from '../../table/staged-file.ts';
import { type AddFile, removeOf } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkWritable } from '../table-features.ts';
import { commitOperation } from './commit-operation.ts';
import type { OperationCommit, OperationContext } from './operation-context.ts';
import { optimizeMetrics, outputPathOf } from './rewrite-outputs.ts';

const untouched = { version: undefined, filesRemoved: 0, filesAdded: 0, bytesRemoved: 0, bytesAdded: 0 } as const;

/**
 * Rewrites the plan's groups and commits them in one version with the same rows before and after. Appends of others never stand against it;
 * a rewritten file that somebody removed, or changed metadata, does: the result is `conflicted`, and the files made for it are deleted.
 * They are kept whenever the commit may have landed.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome); `COMPACTION_ROWS_DIFFER` (internal); what the store, the rewriter and the
 * protocol check throw.
 */
export async function compact(
  context: OperationContext,
  rewriter: FileRewriter,
  plan: CompactionPlan,
  signal?: AbortSignal,
): Promise<CompactionResult> {
  if (plan.groups.length === 0) return { outcome: 'nothing-to-do', ...untouched };
  const base = await context.refresh(signal);
  checkWritable(base.protocol, base.metadata, base.schema, context.name);
  const inputs = plan.groups.flatMap((group) => group.inputs.map((input) => plainFile(base, input.path)));
  if (!inputs.every((input) => input !== undefined)) return { outcome: 'conflicted', ...untouched };
  await context.failpoint('M1');
  const outputs = new Outputs(context, base);
  try {
    for (const group of plan.groups) await outputs.add(group, rewriter, signal);
    await context.failpoint('M2');
    const outcome = await commitOperation(
      context,
      {
        base,
        commitId: toCommitId(context.ids.uuid()),
        commit: optimizeCommit(context, base, inputs, outputs.files),
        conflictWith: (fresh) => standingAgainst(base, inputs, fresh),
      },
      signal,
    );
    if (outcome.kind === 'conflicted') {
      await context.failpoint('M3');
      await outputs.discard();
      return { outcome: 'conflicted', ...untouched };
    }
    return {
      outcome: 'committed',
      version: outcome.version,
      filesRemoved: inputs.length,
      filesAdded: outputs.files.length,
      bytesRemoved: inputs.reduce((sum, file) => sum + file.sizeBytes, 0),
      bytesAdded: outputs.files.reduce((sum, file) => sum + file.sizeBytes, 0),
    };
  } catch (error) {
    // A commit in doubt may refer to the files; any other failure is certain, so nothing does.
    if (!isServiceError(error, 'unknown-outcome')) await outputs.discard();
    throw error;
  }
}

/** What stands against committing the rewrite of `inputs`, read at `base`, on top of `fresh`. */
function standingAgainst(base: DeltaSnapshot, inputs: readonly AddFile[], fresh: DeltaSnapshot): CommitConflict | undefined {
  const latest = fresh.version;
  if (!isDeepStrictEqual([fresh.metadata, fresh.protocol], [base.metadata, base.protocol])) {
    return { kind: 'metadata-changed', latest, detail: 'metadata or protocol changed while files were rewritten' };
  }
  const gone = inputs.find((input) => plainFile(fresh, input.storedPath) === undefined);
  return gone === undefined ? undefined : { kind: 'files-removed', latest, path: gone.storedPath };
}

/** The live file whose rows are all rows of the object: without a deletion vector (which would be part of its key). */
function plainFile(snapshot: DeltaSnapshot, storedPath: string): AddFile | undefined {
  return snapshot.file(storedPath);
}

function optimizeCommit(
  context: OperationContext,
  base: DeltaSnapshot,
  inputs: readonly AddFile[],
  outputs: readonly StagedFile[],
): OperationCommit {
  // A clock that is behind must not make a tombstone look older than it is, or vacuum would take the file from under its readers. The
  // outputs carry the storage's own time of a moment ago.
  const deletedMs = Math.max(context.clock.now(), base.committedAt, ...outputs.map((file) => file.modifiedMs));
  return {
    operation: 'OPTIMIZE',
    operationParameters: { predicate: '[]', zOrderBy: '[]', clusterBy: '[]', auto: 'false' },
    operationMetrics: optimizeMetrics(
      inputs.map((file) => file.sizeBytes),
      outputs.map((file) => file.sizeBytes),
    ),
    isBlindAppend: false,
    actions: [
      ...inputs.map((file) => removeOf(file, { deletedMs, dataChange: false })),
      ...outputs.map((file) => context.addOf(file, base, { dataChange: false })),
    ],
  };
}

/** The files a compaction makes. Until its commit nothing refers to them. */
class Outputs {
  readonly #context: OperationContext;
  readonly #spec: WriteSpec;
  readonly #files: StagedFile[] = [];
  readonly #paths: string[] = [];

  constructor(context: OperationContext, base: DeltaSnapshot) {
    this.#context = context;
    this.#spec = context.writeSpec(base);
  }

  get files(): readonly StagedFile[] {
    return this.#files;
  }

  async add(group: RewriteGroup, rewriter: FileRewriter, signal: AbortSignal | undefined): Promise<void> {
    throwIfAborted(signal);
    const outputPath = outputPathOf(group, this.#spec, { number: this.#paths.length, id: this.#context.ids.uuid() });
    this.#paths.push(outputPath);
    const file = await rewriter.rewrite({ spec: this.#spec, group, outputPath }, signal);
    refuseLostRows(group, file);
    this.#files.push(file);
  }

  /** Best effort: what stays behind is referenced by nothing and falls to vacuum. */
  async discard(): Promise<void> {
    for (const path of this.#paths) {
      try {
        await this.#context.store.delete(path);
      } catch (error) {
        if (!isServiceError(error)) throw error;
      }
    }
  }
}

/** A last line of defence: a rewrite that loses or invents rows must never become a version. */
function refuseLostRows(group: RewriteGroup, output: StagedFile): void {
  let expected = 0;
  for (const input of group.inputs) {
    if (input.rowCount === undefined) return;
    expected += input.rowCount;
  }
  if (expected === output.rowCount) return;
  throw new ServiceError({
    code: 'COMPACTION_ROWS_DIFFER',
    kind: 'internal',
    message: `rewriting ${group.inputs.length} files of ${expected} rows gave ${output.rowCount} rows`,
  });
}
