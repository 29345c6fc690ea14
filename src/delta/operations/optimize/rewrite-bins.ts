import { isDeepStrictEqual } from 'node:util';
import { throwIfAborted } from '../../../base/abort.ts';
import type { JsonObject } from '../../../base/bigint-json.ts';
import { isServiceError, serviceError } from '../../../base/errors.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import { type CommitConflict, toCommitId } from '../../../table/commit.ts';
import type { Version } from '../../../table/version.ts';
import { type AddFile, fileKey, liveRows, physicalRows, removeOf } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { discardStaged } from '../../files/stage-rows.ts';
import { commitUntilCertain } from '../../transaction/commit-loop.ts';
import { withRowIds } from '../../transaction/row-tracking.ts';
import type { OperationCommit, OperationContext } from '../operation-context.ts';
import { rewriteMetrics } from './rewrite-metrics.ts';

/** How often rows that others delete meanwhile are followed. */
const maxCarries = 20;

/** Attempts of one commit. Each lost one means that somebody else made progress; ingest commits several times a second. */
const maxAttempts = 60;

/** Live files of one partition that become new files together. */
export type Bin = readonly AddFile[];

/** Writes the rows a reader gets from the bin's files as files that nothing refers to yet; deletes what it wrote when it fails. */
export type RewriteBin = (bin: Bin, number: number, signal: AbortSignal | undefined) => Promise<readonly AddFile[]>;

/**
 * The bin on top of a version in which inputs of it are gone or have other deletion vectors: with those that are left, and with vectors of its own over
 * copies of rows that are not. `undefined`: it cannot be had so.
 */
export type CarryMarks = (bin: RewrittenBin, fresh: DeltaSnapshot, signal: AbortSignal | undefined) => Promise<RewrittenBin | undefined>;

export interface Rewrite {
  /** The version the bins were chosen from. */
  readonly base: DeltaSnapshot;
  readonly bins: readonly Bin[];
  readonly rewrite: RewriteBin;
  /** Absent: a bin whose inputs others change is dropped. */
  readonly carry?: CarryMarks | undefined;
  /** Bins rewritten at the same time. */
  readonly concurrency: number;
  readonly operation: 'OPTIMIZE' | 'REORG';
  readonly operationParameters: JsonObject;
  readonly userMetadata?: string | undefined;
}

/** A bin and what became of it. */
export interface RewrittenBin {
  readonly inputs: Bin;
  readonly outputs: readonly AddFile[];
  /** The outputs as they were written, without marks. */
  readonly written: readonly AddFile[];
  /** Files of the outputs' marks. */
  readonly vectors: readonly { readonly storedPath: string }[];
}

export type RewriteOutcome =
  | { readonly kind: 'committed'; readonly version: Version; readonly bins: readonly RewrittenBin[] }
  /** Nothing was committed, and the files made for it are deleted. */
  | { readonly kind: 'conflicted'; readonly conflict: CommitConflict };

/**
 * Rewrites bins and commits them in one version that has the same rows as the one before. Appends of others never stand against it. A bin
 * whose input somebody changed meanwhile is dropped from the commit, unless `carry` follows what became of its rows; a change of metadata or protocol drops them all. Files made for what
 * is not committed are deleted, unless the commit may have landed.
 *
 * @throws ServiceError `COMMIT_OUTCOME_UNKNOWN` (unknown-outcome); `COMPACTION_ROWS_DIFFER` (internal); what the store and the rewriter throw.
 */
export async function rewriteBins(context: OperationContext, request: Rewrite, signal?: AbortSignal): Promise<RewriteOutcome> {
  await context.failpoint('after-compaction-plan');
  const rewritten = new Map<number, RewrittenBin>();
  try {
    await mapBounded(
      [...request.bins.entries()],
      request.concurrency,
      async ([number, inputs]) => {
        throwIfAborted(signal);
        const outputs = await request.rewrite(inputs, number, signal);
        rewritten.set(number, { inputs, outputs, written: outputs, vectors: [] });
        refuseLostRows(inputs, outputs);
      },
      signal,
    );
    await context.failpoint('before-compaction-commit');
    throwIfAborted(signal);
    const inOrder = [...rewritten].sort(([a], [b]) => a - b).map(([, bin]) => bin);
    return await commitBins(context, request, inOrder, signal);
  } catch (error) {
    // A commit in doubt may refer to the files; any other failure is certain, so nothing does.
    if (!isServiceError(error, 'unknown-outcome')) await discardOutputs(context, [...rewritten.values()]);
    throw error;
  }
}

async function commitBins(
  context: OperationContext,
  request: Rewrite,
  rewritten: readonly RewrittenBin[],
  signal: AbortSignal | undefined,
): Promise<RewriteOutcome> {
  let bins = rewritten;
  let { base } = request;
  for (let carries = 0; ; carries += 1) {
    const offered = bins;
    const commit = commitOf(context, request, offered);
    const end = await commitUntilCertain<CommitConflict>(
      context,
      {
        base,
        commitId: toCommitId(context.ids.uuid()),
        operation: request.operation,
        maxAttempts,
        commitOn: (onto) => ({ ...commit, actions: withRowIds(onto, commit.actions) }),
        refusal: (conflict) => (conflict.kind === 'version-taken' ? undefined : conflict),
        conflictWith: (fresh) => Promise.resolve(standingAgainst(request.base, offered, fresh)),
      },
      signal,
    );
    if (end.kind === 'committed') return { kind: 'committed', version: end.landed, bins };
    await context.failpoint('compaction-conflict');
    base = await context.refresh(signal);
    const carry = carries < maxCarries ? request.carry : undefined;
    const left = sameDefinition(request.base, base) ? await binsLeft(bins, base, carry, signal) : [];
    // All bins stand and the commit was lost nevertheless: too many others commit; the next run finds the same bins.
    const givesUp = left.length === 0 || (left.length === bins.length && left.every((bin) => bins.includes(bin)));
    await discardLost(context, bins, givesUp ? [] : left);
    if (givesUp) return { kind: 'conflicted', conflict: end.conflict ?? { kind: 'version-taken', latest: base.version } };
    bins = left;
  }
}

/** The bins that can be committed on top of `fresh`, as they are or as `carry` makes them. */
async function binsLeft(
  bins: readonly RewrittenBin[],
  fresh: DeltaSnapshot,
  carry: CarryMarks | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly RewrittenBin[]> {
  const left: RewrittenBin[] = [];
  for (const bin of bins) {
    const standing = goneFrom(fresh, bin) === undefined ? bin : await carry?.(bin, fresh, signal);
    if (standing !== undefined) left.push(standing);
  }
  return left;
}

/** What was written for bins that are not among those that are left, and for marks that others take the place of. */
async function discardLost(context: OperationContext, bins: readonly RewrittenBin[], left: readonly RewrittenBin[]): Promise<void> {
  const kept = new Set(left.flatMap(({ written, vectors }) => [...written, ...vectors]));
  await discardStaged(
    context,
    bins.flatMap(({ written, vectors }) => [...written, ...vectors]).filter((file) => !kept.has(file)),
  );
}

/** What stands against committing the bins, chosen at `base`, on top of `fresh`. */
function standingAgainst(base: DeltaSnapshot, bins: readonly RewrittenBin[], fresh: DeltaSnapshot): CommitConflict | undefined {
  const latest = fresh.version;
  if (!sameDefinition(base, fresh)) {
    return { kind: 'metadata-changed', latest, detail: 'metadata or protocol changed while files were rewritten' };
  }
  for (const bin of bins) {
    const gone = goneFrom(fresh, bin);
    if (gone !== undefined) return { kind: 'files-removed', latest, path: gone.storedPath };
  }
  return undefined;
}

function sameDefinition(base: DeltaSnapshot, fresh: DeltaSnapshot): boolean {
  return isDeepStrictEqual([fresh.metadata, fresh.protocol], [base.metadata, base.protocol]);
}

/** An input that is not live any more, or lives under another deletion vector. */
function goneFrom(fresh: DeltaSnapshot, bin: RewrittenBin): AddFile | undefined {
  return bin.inputs.find((input) => fresh.file(fileKey(input)) === undefined);
}

function commitOf(context: OperationContext, request: Rewrite, bins: readonly RewrittenBin[]): OperationCommit {
  const inputs = bins.flatMap((bin) => bin.inputs);
  const outputs = bins.flatMap((bin) => bin.outputs);
  // A clock that is behind must not make a tombstone look older than it is, or vacuum would take the file from under its readers. The
  // outputs carry the storage's own time of a moment ago.
  const newest = outputs.reduce((latest, file) => Math.max(latest, file.modifiedMs), 0);
  const deletedMs = Math.max(context.clock.now(), request.base.committedAt, newest);
  return {
    operation: request.operation,
    operationParameters: request.operationParameters,
    operationMetrics: rewriteMetrics(inputs, outputs),
    isBlindAppend: false,
    readVersion: request.base.version,
    userMetadata: request.userMetadata,
    actions: [...outputs, ...inputs.map((file) => removeOf(file, { deletedMs, dataChange: false }))],
  };
}

/** Best effort: what stays behind is referenced by nothing and falls to vacuum. */
async function discardOutputs(context: OperationContext, bins: readonly RewrittenBin[]): Promise<void> {
  await discardStaged(
    context,
    bins.flatMap((bin) => bin.outputs),
  );
}

/** A last line of defence: a rewrite that loses or invents rows must never become a version. */
function refuseLostRows(inputs: Bin, outputs: readonly AddFile[]): void {
  const expected = total(inputs.map(liveRows));
  const found = total(outputs.map((file) => physicalRows(file.stats)));
  if (expected === undefined || expected === found) return;
  throw serviceError.internal(
    'COMPACTION_ROWS_DIFFER',
    `rewriting ${inputs.length} files of ${expected} rows gave ${found ?? 'an unknown number of'} rows`,
  );
}

/** `undefined` when one of them is not known. */
function total(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce<number | undefined>((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0);
}
