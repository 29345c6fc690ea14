import { isServiceError } from '../../../base/errors.ts';
import { mapBounded } from '../../../base/map-bounded.ts';
import type { CommitOptions } from '../../../table/row-operations.ts';
import { discardFiles } from '../../files/discard-files.ts';
import type { ManifestEntry, ManifestFile } from '../../metadata/content-file.ts';
import type { TableMetadata } from '../../metadata/table-metadata.ts';
import { metadataBytes, readMetadataFile } from '../../pointer/metadata-files.ts';
import { fileNameOf } from '../../pointer/metadata-names.ts';
import { entriesOf, manifestsAtOnce, manifestsOf } from '../../scan/manifests.ts';
import type { TableContext } from '../../table-context.ts';
import { illegalArgument } from '../operation-errors.ts';
import { CopyList } from './copy-list.ts';
import { directory, PathPrefix } from './path-prefix.ts';
import { type RewrittenDeletes, relocateDeleteFiles } from './relocate-deletes.ts';
import { type RewrittenManifest, relocateManifest, relocateManifestList } from './relocate-manifests.ts';
import { relocateMetadata } from './relocate-metadata.ts';
import { type MovedSnapshots, snapshotsToMove, type Versions, versionsToMove } from './relocation-plan.ts';

export interface PathRewriteRequest extends Pick<CommitOptions, 'signal'> {
  /** Directory that all files of the table are in. */
  readonly sourcePrefix: string;
  /** Directory that takes its place. */
  readonly targetPrefix: string;
  /** Name of a metadata file that is in the target already, with all it refers to. Default: none is. */
  readonly startVersion?: string | undefined;
  /** Name of the metadata file that is the newest one in the target. Default: the table's. */
  readonly endVersion?: string | undefined;
  /** Directory for what is written. Default: a new one below the table's metadata. */
  readonly stagingLocation?: string | undefined;
  /** Default: true. */
  readonly createFileList?: boolean | undefined;
}

export interface PathRewriteResult {
  /** Name of the newest metadata file of the target. */
  readonly latestVersion: string;
  /** The list of what is to be copied where, `source,target` a line; `undefined`: none was asked for. */
  readonly fileListLocation: string | undefined;
  readonly rewrittenManifests: number;
  readonly rewrittenDeleteFiles: number;
}

/**
 * Writes the metadata of a table anew for a copy of it elsewhere: metadata files, manifest lists, manifests and position deletes with all
 * paths in the target. The table itself is not changed, and nothing is copied: the list says what must be, the target is a table then.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for prefixes that are empty or the same, versions the table does not have, files outside of
 * the source and a staging location that the table may not write to; `UNSUPPORTED_FEATURE` for a version whose snapshots have expired.
 */
export async function rewriteTablePath(context: TableContext, request: PathRewriteRequest): Promise<PathRewriteResult> {
  const { signal } = request;
  const { loaded } = await context.refresh(signal);
  const staging = stagingOf(context, request, loaded.metadataLocation ?? '');
  const prefix = new PathPrefix({ source: checkedSource(request), target: request.targetPrefix, staging });
  const versions = await versionsToMove(context, loaded, request, signal);
  const relocation = new Relocation(context, prefix, signal);
  try {
    const { manifests, deletes } = await relocation.run(versions);
    const fileListLocation = request.createFileList === false ? undefined : `${staging}file-list`;
    if (fileListLocation !== undefined) await context.files.put(fileListLocation, relocation.copies.csv(), signal);
    return {
      latestVersion: fileNameOf(versions.end),
      fileListLocation,
      rewrittenManifests: manifests,
      rewrittenDeleteFiles: deletes,
    };
  } catch (error) {
    await discardFiles(
      context,
      relocation.staged.map((path) => ({ path })),
    );
    throw error;
  }
}

function checkedSource({ sourcePrefix, targetPrefix }: PathRewriteRequest): string {
  if (sourcePrefix === '') throw illegalArgument(`Source prefix('${sourcePrefix}') cannot be empty.`);
  if (targetPrefix === '') throw illegalArgument(`Target prefix('${targetPrefix}') cannot be empty.`);
  if (sourcePrefix === targetPrefix) throw illegalArgument(`Source prefix cannot be the same as target prefix (${sourcePrefix})`);
  return sourcePrefix;
}

function stagingOf({ files, ids }: TableContext, { stagingLocation }: PathRewriteRequest, metadataLocation: string): string {
  if (stagingLocation === undefined)
    return `${metadataLocation.slice(0, metadataLocation.lastIndexOf('/') + 1)}copy-table-staging-${ids.uuid()}/`;
  if (stagingLocation === '') throw illegalArgument(`Staging location('${stagingLocation}') cannot be empty.`);
  try {
    files.openable(stagingLocation);
  } catch (error) {
    if (!isServiceError(error, 'invalid')) throw error;
    throw illegalArgument(
      `Staging location('${stagingLocation}') is not in a place the table may write to`,
      'leave it out, or name its directory in tidewater.iceberg.allowedLocations',
    );
  }
  return directory(stagingLocation);
}

/** One run: what it has staged, and what is to be copied. */
class Relocation {
  readonly staged: string[] = [];
  readonly copies: CopyList;
  readonly #context: TableContext;
  readonly #prefix: PathPrefix;
  readonly #signal: AbortSignal | undefined;

  constructor(context: TableContext, prefix: PathPrefix, signal: AbortSignal | undefined) {
    this.copies = new CopyList(context.name);
    this.#context = context;
    this.#prefix = prefix;
    this.#signal = signal;
  }

  async run({ end, start, files }: Versions): Promise<{ readonly manifests: number; readonly deletes: number }> {
    const startMetadata = start === undefined ? undefined : await this.#metadata(start);
    const before = new Set(startMetadata?.snapshots.map(({ snapshotId }) => snapshotId));
    const moved = new Set<bigint>();
    for (const file of files) {
      for (const { snapshotId } of await this.#version(file)) if (!before.has(snapshotId)) moved.add(snapshotId);
    }
    const metadata = await this.#metadata(end);
    const chosen = await snapshotsToMove(this.#context, { start: startMetadata, end: metadata }, moved, this.#signal);
    const manifests = [...chosen.manifests.values()];
    const { count, rewritten: deletes } = await this.#deletes(metadata, manifests);
    const rewritten = await this.#manifests(metadata, { manifests, deletes, moved });
    await this.#lists(metadata, chosen, rewritten);
    return { manifests: manifests.length, deletes: count };
  }

  async #metadata(location: string): Promise<TableMetadata> {
    return (await readMetadataFile(this.#context.files, location, this.#signal)).metadata;
  }

  /** One metadata file, and the statistics it names. */
  async #version(location: string): Promise<TableMetadata['snapshots']> {
    const metadata = await this.#metadata(location);
    const relocated = relocateMetadata(metadata, this.#prefix);
    const isPacked = /\.gz(?:\.|$)/.test(fileNameOf(location));
    await this.#stage(location, await metadataBytes(relocated, isPacked ? 'gzip' : 'none'), true);
    for (const { statisticsPath } of [...metadata.statistics, ...metadata.partitionStatistics])
      this.copies.add(statisticsPath, this.#prefix.targetOf(statisticsPath));
    return metadata.snapshots;
  }

  /** Live position deletes, vectors counted one by one. */
  async #deletes(
    metadata: TableMetadata,
    manifests: readonly ManifestFile[],
  ): Promise<{ readonly count: number; readonly rewritten: ReadonlyMap<string, RewrittenDeletes> }> {
    const rewritten = new Map<string, RewrittenDeletes>();
    const counted = new Set<string>();
    for (const manifest of manifests.filter(({ content }) => content === 'deletes')) {
      const entries: ManifestEntry[] = [];
      for (const entry of await entriesOf(this.#context, metadata, manifest, this.#signal)) {
        const { content, path, contentOffset, contentSizeBytes } = entry.file;
        if (entry.status === 'deleted' || content !== 'position-deletes') continue;
        counted.add(`${path}\0${contentOffset ?? ''}\0${contentSizeBytes ?? ''}`);
        if (!rewritten.has(path)) entries.push(entry);
      }
      const how = { entries, prefix: this.#prefix, stage: this.#stageDeletes, signal: this.#signal };
      for (const [path, deletes] of await relocateDeleteFiles(this.#context, metadata, how)) rewritten.set(path, deletes);
    }
    return { count: counted.size, rewritten };
  }

  async #manifests(
    metadata: TableMetadata,
    parts: {
      readonly manifests: readonly ManifestFile[];
      readonly deletes: ReadonlyMap<string, RewrittenDeletes>;
      readonly moved: ReadonlySet<bigint>;
    },
  ): Promise<ReadonlyMap<string, RewrittenManifest>> {
    const { manifests, deletes, moved } = parts;
    const rewritten = new Map<string, RewrittenManifest>();
    await mapBounded(manifests, manifestsAtOnce, async (manifest) => {
      const entries = await entriesOf(this.#context, metadata, manifest, this.#signal);
      const { bytes, description } = await relocateManifest(metadata, manifest, { entries, prefix: this.#prefix, deletes });
      await this.#stage(manifest.path, bytes, true);
      rewritten.set(manifest.path, description);
      // What came before the start is in the target, what was deleted need not be.
      for (const { status, snapshotId, file } of entries) {
        if (status === 'deleted' || !moved.has(snapshotId)) continue;
        const source = file.content === 'position-deletes' ? this.#prefix.stagedOf(file.path) : file.path;
        this.copies.add(source, this.#prefix.targetOf(file.path));
      }
    });
    return rewritten;
  }

  async #lists(metadata: TableMetadata, { snapshots }: MovedSnapshots, rewritten: ReadonlyMap<string, RewrittenManifest>): Promise<void> {
    for (const snapshot of snapshots) {
      const { manifestList } = snapshot;
      // The first format version may list manifests in the metadata alone.
      if (manifestList === undefined) continue;
      const manifests = await manifestsOf(this.#context, metadata, snapshot, this.#signal);
      const bytes = await relocateManifestList(metadata, snapshot, { manifests, rewritten, prefix: this.#prefix });
      await this.#stage(manifestList, bytes, true);
    }
  }

  readonly #stageDeletes = (path: string, bytes: Uint8Array): Promise<void> => this.#stage(path, bytes, false);

  async #stage(path: string, bytes: Uint8Array, isCopied: boolean): Promise<void> {
    const staged = this.#prefix.stagedOf(path);
    this.staged.push(staged);
    await this.#context.files.put(staged, bytes, this.#signal);
    if (isCopied) this.copies.add(staged, this.#prefix.targetOf(path));
  }
}
