import { isServiceError } from '../../../base/errors.ts';
import { groupBy } from '../../../base/group-by.ts';
import type { Expression } from '../../../expr/expression.ts';
import { mergedPositions } from '../../../rows/change/merged-positions.ts';
import type { Packable } from '../../../rows/files/pack-files.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import type { Version } from '../../../table/version.ts';
import { PositionDeletes } from '../../deletes/position-deletes.ts';
import { discardFiles } from '../../files/discard-files.ts';
import { type DeletedPositions, type StagedDeletes, stageDeletes } from '../../files/stage-deletes.ts';
import type { ContentFile, ManifestEntry } from '../../metadata/content-file.ts';
import { hasDeletionVectors } from '../../metadata/format-features.ts';
import { type FileFilter, fileFilter } from '../../scan/file-filter.ts';
import { type LiveFile, type LiveFiles, liveFiles } from '../../scan/live-files.ts';
import { partitionKey } from '../../scan/partition-key.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';
import { boundCondition } from './file-condition.ts';
import { groupsBySize, RewriteOptions, type SizeLimits, sizeLimits } from './rewrite-options.ts';

export interface DeleteRewriteRequest extends Pick<CommitOptions, 'signal'> {
  /** By the names other engines have for them. */
  readonly options?: ReadonlyMap<string, string> | undefined;
  /** Only deletes of partitions that may hold rows of it. Not bound. */
  readonly where?: Expression | undefined;
  /** Says what would be rewritten and rewrites nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface DeleteRewriteResult {
  /** `undefined`: nothing was to be done. */
  readonly version: Version | undefined;
  readonly rewrittenDeleteFiles: number;
  readonly addedDeleteFiles: number;
  readonly rewrittenBytes: number;
  readonly addedBytes: number;
}

const defaultTargetFileBytes = 64 * 2 ** 20;
const noPositions = new BigInt64Array();

/**
 * Puts the position delete files of each partition together, without the deletes of data files that are gone; from format version 3 on they
 * become deletion vectors.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for options that make no sense; ValidationException (kind conflict) when one of the files was
 * removed in the meantime.
 */
export async function rewritePositionDeletes(context: TableContext, request: DeleteRewriteRequest = {}): Promise<DeleteRewriteResult> {
  const { signal } = request;
  const state = await context.refresh(signal);
  const limits = limitsOf(state, new RewriteOptions(request.options));
  const live = await liveFiles(context, state, undefined, signal);
  const chosen = chosenDeletes(state, live, { limits, where: whereOf(context, state, request.where) });
  const removed = chosen.map(({ file }) => file);
  const planned = { ...nothing, rewrittenDeleteFiles: removed.length, rewrittenBytes: bytesOf(removed) };
  if (removed.length === 0 || request.dryRun === true) return planned;
  const staged = await rewritten(context, state, { live, chosen, signal });
  try {
    // Vectors take what was a data file's own along: files that were not chosen may be among them.
    const all = [...new Map([...removed, ...staged.removed].map((file) => [`${file.path}\0${file.contentOffset ?? ''}`, file])).values()];
    const validation = { since: state.snapshot?.snapshotId };
    const change = { kind: 'replace', added: staged.added, removed: all, validation, summary: {} } as const;
    const committed = await commitSnapshot(context, state, change, { signal });
    return {
      version: committed.version,
      rewrittenDeleteFiles: all.length,
      addedDeleteFiles: staged.added.length,
      rewrittenBytes: bytesOf(all),
      addedBytes: bytesOf(staged.added),
    };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, staged.added);
    throw error;
  }
}

/**
 * How many delete files a rewrite with the table's own settings takes, where it makes them fewer: where each data file has deletes of its own,
 * it has one file of them afterwards too.
 */
export function rewritableDeletes(state: SnapshotState, live: LiveFiles): number {
  const chosen = chosenDeletes(state, live, { limits: limitsOf(state, new RewriteOptions(undefined)), where: undefined });
  if (hasDeletionVectors(state.metadata)) return chosen.length;
  const wanted = new Set(chosen);
  const concerned = live.data.filter(({ attached }) => [...attached.own, ...attached.shared].some((entry) => wanted.has(entry)));
  return concerned.length < chosen.length ? chosen.length : 0;
}

const nothing: DeleteRewriteResult = {
  version: undefined,
  rewrittenDeleteFiles: 0,
  addedDeleteFiles: 0,
  rewrittenBytes: 0,
  addedBytes: 0,
};

function limitsOf({ metadata }: SnapshotState, options: RewriteOptions): SizeLimits {
  const stated = Number(metadata.properties['write.delete.target-file-size-bytes'] ?? Number.NaN);
  const limits = sizeLimits(options, stated > 0 ? stated : defaultTargetFileBytes);
  // Everything is one commit and one pass over the deletes: these ask for nothing else.
  for (const name of [
    'partial-progress.enabled',
    'partial-progress.max-commits',
    'max-concurrent-file-group-rewrites',
    'rewrite-job-order',
    'max-files-to-rewrite',
  ])
    options.text(name);
  options.refuseOthers('BIN-PACK');
  return limits;
}

function whereOf(context: TableContext, state: SnapshotState, where: Expression | undefined): FileFilter | undefined {
  return where === undefined ? undefined : fileFilter(state.metadata, state.icebergSchema, boundCondition(context, state, where));
}

function chosenDeletes(
  state: SnapshotState,
  { deletes }: LiveFiles,
  how: { readonly limits: SizeLimits; readonly where: FileFilter | undefined },
): readonly ManifestEntry[] {
  const { limits, where: filter } = how;
  const positions = deletes.filter(
    ({ file }) => file.content === 'position-deletes' && file.format !== 'puffin' && filter?.mayHoldPartition(file) !== false,
  );
  // What is not a vector there is in the table from before it was upgraded.
  if (limits.rewriteAll || hasDeletionVectors(state.metadata)) return positions;
  const misfits = positions.filter(({ file: { fileSizeBytes: bytes } }) => bytes < limits.minFileBytes || bytes > limits.maxFileBytes);
  const partitions = groupBy(misfits, ({ file }) => partitionKey(file.specId, file.partition));
  return [...partitions.values()]
    .flatMap((entries) => groupsBySize(entries.map(packable), limits))
    .flatMap((group) => group.map(({ entry }) => entry));
}

function packable(entry: ManifestEntry): Packable & { readonly entry: ManifestEntry } {
  return { path: entry.file.path, sizeBytes: entry.file.fileSizeBytes, entry };
}

/** The chosen deletes of the data files that are there. */
async function rewritten(
  context: TableContext,
  state: SnapshotState,
  how: { readonly live: LiveFiles; readonly chosen: readonly ManifestEntry[]; readonly signal: AbortSignal | undefined },
): Promise<StagedDeletes> {
  const { live, chosen, signal } = how;
  const wanted = new Set(chosen);
  const reader = new PositionDeletes(context, state.metadata, context.engine);
  const vectors = hasDeletionVectors(state.metadata);
  const concerned = async function* (): AsyncGenerator<DeletedPositions> {
    for (const file of live.data) {
      const own = file.attached.own.filter((entry) => wanted.has(entry));
      const shared = file.attached.shared.filter((entry) => wanted.has(entry));
      if (own.length + shared.length === 0) continue;
      // A vector takes in everything that was deleted before by itself; of other files only the chosen ones go.
      if (vectors) yield { file, positions: noPositions };
      else {
        const positions = await positionsOf(reader, file, [...own, ...shared], signal);
        yield { file: { ...file, attached: { ...file.attached, own } }, positions };
      }
    }
  };
  return stageDeletes(context, state, concerned(), signal);
}

async function positionsOf(
  reader: PositionDeletes,
  { entry }: LiveFile,
  deletes: readonly ManifestEntry[],
  signal: AbortSignal | undefined,
): Promise<BigInt64Array> {
  return mergedPositions(await reader.of(entry.file.path, { own: deletes, shared: [] }, signal));
}

function bytesOf(files: readonly ContentFile[]): number {
  return files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0);
}
