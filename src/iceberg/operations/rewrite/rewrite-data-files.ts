import { throwIfAborted } from '../../../base/abort.ts';
import { isServiceError } from '../../../base/errors.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import type { Expression } from '../../../expr/expression.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import type { Version } from '../../../table/version.ts';
import { discardFiles } from '../../files/discard-files.ts';
import type { ContentFile, ManifestEntry } from '../../metadata/content-file.ts';
import { specById } from '../../metadata/partition-type.ts';
import { type LiveFiles, liveFiles } from '../../scan/live-files.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import { snapshotStateOf } from '../../snapshot-state-of.ts';
import type { TableContext } from '../../table-context.ts';
import { commitSnapshot } from '../../transaction/commit-snapshot.ts';
import { refusedOperation } from '../operation-errors.ts';
import { type DataFileGroup, dataFileGroups } from './data-file-groups.ts';
import { type DataRewriteSettings, dataRewriteSettings } from './data-settings.ts';
import { boundCondition } from './file-condition.ts';
import { rewriteGroup } from './rewrite-group.ts';
import { RewriteOptions } from './rewrite-options.ts';
import { type RewriteOrder, rewriteOrder, rewriterName } from './rewrite-order.ts';

export interface DataRewriteRequest extends CommitOptions {
  /** `binpack` or `sort`. Default: by `sortOrder`, else `binpack`. */
  readonly strategy?: string | undefined;
  /** `id DESC NULLS FIRST, name` or `zorder(a, b)`. Default of `sort`: the table's. */
  readonly sortOrder?: string | undefined;
  /** By the names other engines have for them (https://iceberg.apache.org/docs/latest/spark-procedures/#rewrite_data_files). */
  readonly options?: ReadonlyMap<string, string> | undefined;
  /** Only files that may hold rows of it. Not bound. */
  readonly where?: Expression | undefined;
  /** Default: the context's. */
  readonly branch?: string | undefined;
  /** Says what would be rewritten and rewrites nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface DataRewriteResult {
  /** Of the last commit; `undefined`: there was none. */
  readonly version: Version | undefined;
  readonly rewrittenDataFiles: number;
  readonly addedDataFiles: number;
  readonly rewrittenBytes: number;
  readonly addedBytes: number;
  /** Of groups that failed, where partial progress is allowed. */
  readonly failedDataFiles: number;
  readonly removedDeleteFiles: number;
}

/** Each of them uses the whole engine. */
const maxGroupsAtOnce = 2;

/**
 * Puts small data files together, splits too large ones, sorts, and leaves out what was deleted: the same rows in other files. All groups
 * are one commit, unless partial progress is asked for.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for options that make no sense; ValidationException (kind conflict) when rows of the files
 * were deleted in the meantime: nothing of the commit is left.
 */
export async function rewriteDataFiles(context: TableContext, request: DataRewriteRequest = {}): Promise<DataRewriteResult> {
  const { signal } = request;
  const branch = request.branch ?? context.branch;
  const state = snapshotStateOf((await context.refresh(signal)).loaded, { branch });
  const order = rewriteOrder(state, request);
  const settings = dataRewriteSettings(state.metadata.properties, new RewriteOptions(request.options), rewriterName(order));
  const specId = settings.outputSpecId ?? state.metadata.defaultSpecId;
  if (specById(state.metadata, specId) === undefined) throw refusedOperation(`Output spec id ${specId} is not a valid spec id for table`);
  const filter = request.where === undefined ? undefined : boundCondition(context, state, request.where);
  const { data } = await liveFiles(context, state, filter, signal);
  const groups = dataFileGroups(data, specId, settings);
  if (request.dryRun === true) return { ...nothing, ...plannedOf(groups) };
  const run = new Run(context, state, { request: { ...request, branch }, order, settings, specId });
  for (const batch of batches(groups, settings)) await run.rewrite(batch);
  if (settings.removeDanglingDeletes) await run.removeDanglingDeletes();
  return run.result;
}

const nothing: DataRewriteResult = {
  version: undefined,
  rewrittenDataFiles: 0,
  addedDataFiles: 0,
  rewrittenBytes: 0,
  addedBytes: 0,
  failedDataFiles: 0,
  removedDeleteFiles: 0,
};

function plannedOf(groups: readonly DataFileGroup[]): Pick<DataRewriteResult, 'rewrittenDataFiles' | 'rewrittenBytes'> {
  return {
    rewrittenDataFiles: groups.reduce((sum, { files }) => sum + files.length, 0),
    rewrittenBytes: groups.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Groups by the commit they are part of. */
function batches(groups: readonly DataFileGroup[], settings: DataRewriteSettings): readonly (readonly DataFileGroup[])[] {
  if (groups.length === 0) return [];
  if (!settings.partialProgress) return [groups];
  const size = Math.ceil(groups.length / settings.maxCommits);
  return Array.from({ length: Math.ceil(groups.length / size) }, (_, index) => groups.slice(index * size, (index + 1) * size));
}

interface RunParts {
  readonly request: DataRewriteRequest & { readonly branch: string };
  readonly order: RewriteOrder;
  readonly settings: DataRewriteSettings;
  readonly specId: number;
}

/** One rewrite of a table, commit by commit. */
class Run {
  readonly #context: TableContext;
  readonly #start: SnapshotState;
  readonly #parts: RunParts;
  #newest: SnapshotState;
  #result: DataRewriteResult = nothing;

  constructor(context: TableContext, state: SnapshotState, parts: RunParts) {
    this.#context = context;
    this.#start = state;
    this.#newest = state;
    this.#parts = parts;
  }

  get result(): DataRewriteResult {
    return this.#result;
  }

  async rewrite(groups: readonly DataFileGroup[]): Promise<void> {
    const { settings } = this.#parts;
    const staged = new Map<DataFileGroup, readonly ContentFile[]>();
    try {
      await mapBounded(groups, Math.min(settings.concurrency, maxGroupsAtOnce), async (group) => {
        throwIfAborted(this.#parts.request.signal);
        const files = await this.#rewritten(group);
        if (files !== undefined) staged.set(group, files);
      });
      if (staged.size > 0) await this.#commit(staged);
    } catch (error) {
      // After an unknown outcome the files may be part of the table.
      if (isServiceError(error, 'unknown-outcome')) throw error;
      await discardFiles(this.#context, [...staged.values()].flat());
      if (!settings.partialProgress || isServiceError(error, 'aborted')) throw error;
      this.#add({ failedDataFiles: [...staged.keys()].reduce((sum, { files }) => sum + files.length, 0) });
    }
  }

  async removeDanglingDeletes(): Promise<void> {
    const { branch, signal } = this.#parts.request;
    const removedDeleteFiles = await removeDanglingDeletes(this.#context, this.#newest, { branch, signal });
    this.#add({ removedDeleteFiles });
  }

  /** `undefined`: it failed, and others may go on. */
  async #rewritten(group: DataFileGroup): Promise<readonly ContentFile[] | undefined> {
    const { settings, order, specId, request } = this.#parts;
    try {
      return await rewriteGroup(this.#context, this.#start, group, { settings, order, specId }, request.signal);
    } catch (error) {
      if (!settings.partialProgress || isServiceError(error, 'aborted')) throw error;
      this.#add({ failedDataFiles: group.files.length });
      return undefined;
    }
  }

  async #commit(staged: ReadonlyMap<DataFileGroup, readonly ContentFile[]>): Promise<void> {
    const { settings, request } = this.#parts;
    const { metadata, snapshot } = this.#start;
    const added = [...staged.values()].flat();
    const removed = [...staged.keys()].flatMap(({ files }) => files.map(({ entry }) => entry.file));
    const keepsNumber = settings.useStartingSequenceNumber && metadata.formatVersion > 1;
    const { branch, signal, userMetadata, summary = {} } = request;
    this.#newest = await commitSnapshot(
      this.#context,
      this.#newest,
      {
        kind: 'replace',
        added,
        removed,
        dataSequenceNumber: keepsNumber ? snapshot?.sequenceNumber : undefined,
        validation: { since: snapshot?.snapshotId, noNewDeletesForRemoved: true },
        summary,
      },
      { branch, signal, userMetadata },
    );
    this.#result = { ...this.#result, version: this.#newest.version };
    this.#add({
      rewrittenDataFiles: removed.length,
      addedDataFiles: added.length,
      rewrittenBytes: bytesOf(removed),
      addedBytes: bytesOf(added),
    });
  }

  #add(counts: Partial<Omit<DataRewriteResult, 'version'>>): void {
    const sum = (name: keyof typeof counts): number => this.#result[name] + (counts[name] ?? 0);
    this.#result = {
      version: this.#result.version,
      rewrittenDataFiles: sum('rewrittenDataFiles'),
      addedDataFiles: sum('addedDataFiles'),
      rewrittenBytes: sum('rewrittenBytes'),
      addedBytes: sum('addedBytes'),
      failedDataFiles: sum('failedDataFiles'),
      removedDeleteFiles: sum('removedDeleteFiles'),
    };
  }
}

function bytesOf(files: readonly ContentFile[]): number {
  return files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0);
}

/** Removes the delete files that concern no live data file. @returns how many there were. */
async function removeDanglingDeletes(
  context: TableContext,
  state: SnapshotState,
  options: CommitOptions & { readonly branch: string },
): Promise<number> {
  const dangling = danglingDeletes(await liveFiles(context, state, undefined, options.signal));
  if (dangling.length === 0) return 0;
  const removed = dangling.map(({ file }) => file);
  const validation = { since: state.snapshot?.snapshotId };
  await commitSnapshot(context, state, { kind: 'replace', added: [], removed, validation, summary: {} }, options);
  return removed.length;
}

/** Delete files of a whole state (read without a filter) that concern none of its data files. */
function danglingDeletes({ data, deletes }: LiveFiles): readonly ManifestEntry[] {
  const used = new Set<ManifestEntry>();
  // Files that have their deletes in common have the same arrays.
  const seen = new Set<readonly ManifestEntry[]>();
  for (const { attached } of data) {
    if (attached.vector !== undefined) used.add(attached.vector);
    for (const entries of [attached.own, attached.shared, attached.equality, attached.globalEquality]) {
      if (seen.has(entries)) continue;
      seen.add(entries);
      for (const entry of entries) used.add(entry);
    }
  }
  return deletes.filter((entry) => !used.has(entry));
}
