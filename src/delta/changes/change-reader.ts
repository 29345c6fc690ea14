import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { ScratchFiles } from '../../rows/files/scratch-files.ts';
import type { ChangeFile, ChangesRequest, HeldChanges, SnapshotRows, VersionChanges, VersionLink } from '../../table/changes.ts';
import { changesGone } from '../../table/changes-gone.ts';
import { derivedImageKeys } from '../../table/keyed.ts';
import type { ChangeScan } from '../../table/scan.ts';
import { toVersion, type Version } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { commitDigest } from '../log/read-commit.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { checkReadable } from '../table-features.ts';
import { changeFilesOf, ruledOutFiles } from './change-files.ts';
import { type ReadVersion, scansOf } from './change-scans.ts';
import { emptiesTable } from './empties-table.ts';
import { historyGone } from './history-gone.ts';
import { pairedChanges } from './paired-changes.ts';
import { filesOf, rowChangesOf } from './row-changes.ts';

const headConcurrency = 8;

/**
 * Reads the changes of single versions of one table. Versions asked for in ascending order cost one read of their own commit each and one of the
 * commit before, which must be the one that was read then; any other version is replayed from the log. Calls must not overlap for the memory of the last version to help; they are right anyway.
 */
export class ChangeReader {
  readonly #context: OperationContext;
  readonly #scratch: ScratchFiles;
  #last: { readonly snapshot: DeltaSnapshot; readonly id: string | undefined } | undefined;

  /** @param directory for changes that are computed; without it they are refused. */
  constructor(context: OperationContext, directory?: string) {
    this.#context = context;
    this.#scratch = new ScratchFiles({ directory, ids: context.ids, clock: context.clock });
  }

  /**
   * The changes of exactly one version, files in the order their rows are numbered. Of a keyed table that stores no images (`derivedImageKeys`) a version
   * with rows of both kinds is paired into a file for the reader.
   *
   * @throws ServiceError `CDF_GAP` (not-found) when the version's commit, the history before it or one of the files is gone;
   * `CDF_NOT_ENABLED` (invalid) when the feed is off at that version (the version that turns it on has it on); `CDF_UNSUPPORTED`
   * (unsupported) naming the feature; `TABLE_VERSION_NOT_FOUND` (not-found) beyond the newest version.
   */
  async changesOf(version: Version, request: ChangesRequest = {}, signal?: AbortSignal): Promise<HeldChanges> {
    const commit = await this.#context.readCommit(version, signal);
    if (commit === undefined) throw await this.#absent(version, signal);
    const link = await this.#linkOf(version, commit.digest ?? '', signal);
    // The log may have been put back to an older state since, and have grown again.
    const last = this.#last;
    const previous = last?.id === link.previous ? last?.snapshot : undefined;
    const snapshot = last?.id === link.id ? last.snapshot : await this.#snapshotAt(commit, previous, signal);
    const { name, place } = this.#context;
    checkReadable(snapshot.protocol, snapshot.metadata, name);
    if (!snapshot.settings.changeDataFeed) throw notEnabled(name, version);
    const scans = await this.#gapWhenGone(version, () => this.#scansOf({ commit, snapshot, previous }, signal));
    const ruledOut = ruledOutFiles(filesOf(rowChangesOf(commit.actions)), snapshot, request.filter?.(snapshot.schema));
    const files = await this.#gapWhenGone(version, () => changeFilesOf({ place, snapshot, scans, ruledOut }, signal));
    const stored = await this.#requireStored(files, version, signal);
    const paired = await this.#gapWhenGone(version, () => this.#paired(snapshot, scans, signal));
    this.#last = { snapshot, id: link.id };
    // Rows that are paired into updates are not taken away.
    const empties = paired === undefined && emptiesTable(commit.actions, files, snapshot.fileCount);
    return { ...changesAt(snapshot, stored), link, empties, ...paired };
  }

  async #scansOf(
    { commit, snapshot, previous }: ReadVersion & { readonly snapshot: DeltaSnapshot },
    signal: AbortSignal | undefined,
  ): Promise<readonly ChangeScan[]> {
    const range = { from: snapshot.version, until: snapshot.version };
    const before = previous?.version === snapshot.version - 1 ? previous : undefined;
    const scans: ChangeScan[] = [];
    for await (const scan of scansOf({ context: this.#context, range, last: snapshot, signal }, { commit, snapshot, previous: before }))
      scans.push(scan);
    return scans;
  }

  async #paired(
    snapshot: DeltaSnapshot,
    scans: readonly ChangeScan[],
    signal: AbortSignal | undefined,
  ): Promise<Pick<HeldChanges, 'files' | 'release'> | undefined> {
    const keyColumns = derivedImageKeys(snapshot);
    const has = (kind: ChangeFile['kind']): boolean => scans.some((scan) => scan.kind === kind);
    if (keyColumns.length === 0 || !has('delete') || !has('insert')) return undefined;
    const engine = await this.#context.engine();
    return pairedChanges({ engine, scratch: this.#scratch }, { scans, schema: snapshot.schema, keyColumns }, signal);
  }

  /**
   * The live rows of one version, every file an `insert` file, by path.
   *
   * @throws ServiceError `CDF_GAP` when the version or one of its files is gone, `CDF_UNSUPPORTED` naming the feature.
   */
  async rowsAt(version: Version, request: ChangesRequest = {}, signal?: AbortSignal): Promise<SnapshotRows> {
    const snapshot = await this.#replayed(version, signal);
    const { name, place } = this.#context;
    checkReadable(snapshot.protocol, snapshot.metadata, name);
    const scan = fileScanOf(this.#context, snapshot, [...snapshot.files()]);
    const scans = [{ kind: 'insert', scan }] as const;
    const ruledOut = ruledOutFiles(snapshot.files(), snapshot, request.filter?.(snapshot.schema));
    const files = await this.#gapWhenGone(version, () => changeFilesOf({ place, snapshot, scans, ruledOut }, signal));
    const stored = await this.#requireStored(files, version, signal);
    const id = await commitDigest(this.#context.store, version, signal);
    // The feed goes on with the changes of the version after it.
    this.#last = { snapshot, id };
    return { ...changesAt(snapshot, stored), link: id === undefined ? undefined : await this.#linkOf(version, id, signal) };
  }

  async #linkOf(version: Version, id: string, signal: AbortSignal | undefined): Promise<VersionLink> {
    if (version === 0) return { id, previous: undefined };
    const previous = await commitDigest(this.#context.store, toVersion(version - 1), signal);
    return { id, previous, previousExpired: previous === undefined };
  }

  /** The snapshot that shows which metadata is in force: cheap when the version before was read last. */
  #snapshotAt(commit: DeltaCommit, previous: DeltaSnapshot | undefined, signal: AbortSignal | undefined): Promise<DeltaSnapshot> {
    if (previous?.version === commit.version - 1) return Promise.resolve(previous.apply(commit, this.#context.name));
    return this.#replayed(commit.version, signal);
  }

  async #replayed(version: Version, signal: AbortSignal | undefined): Promise<DeltaSnapshot> {
    try {
      return await this.#context.snapshotAt(version, signal);
    } catch (error) {
      if (!isServiceError(error) || !historyGone.has(error.code)) throw error;
      throw await this.#absent(version, signal, error);
    }
  }

  /** The files with the sizes that they have. */
  #requireStored(files: readonly ChangeFile[], version: Version, signal: AbortSignal | undefined): Promise<readonly ChangeFile[]> {
    const requireOne = async (file: ChangeFile): Promise<ChangeFile> => {
      if (file.ruledOut === true && file.rowCount !== undefined) return file;
      const stored = await this.#context.store.head(file.path, signal);
      if (stored !== undefined) return { ...file, sizeBytes: stored.sizeBytes };
      throw changesGone(this.#context.name, version, `file "${file.path}" is gone (vacuumed)`);
    };
    return mapBounded(files, headConcurrency, requireOne, signal);
  }

  /** A deletion vector whose file is gone is a gap like any other file, and so is a file that goes while it is read. */
  async #gapWhenGone<Result>(version: Version, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (!isServiceError(error) || !filesGone.has(error.code)) throw error;
      throw changesGone(this.#context.name, version, error.message, { cause: error });
    }
  }

  async #absent(version: Version, signal: AbortSignal | undefined, cause?: unknown): Promise<ServiceError> {
    const { name } = this.#context;
    const latest = (await this.#context.refresh(signal)).version;
    if (version <= latest) return changesGone(name, version, `the log no longer has it (newest version ${latest})`, { cause });
    return serviceError.notFound('TABLE_VERSION_NOT_FOUND', `table "${name}": version ${version} not found, latest is ${latest}`, {
      cause,
    });
  }
}

const filesGone: ReadonlySet<string> = new Set(['DELTA_DELETION_VECTOR_MISSING', 'ENGINE_FILE_MISSING', 'DELTA_LOG_FILE_NOT_FOUND']);

function changesAt(snapshot: DeltaSnapshot, files: readonly ChangeFile[]): VersionChanges {
  return {
    version: snapshot.version,
    committedAt: snapshot.committedAt,
    schema: snapshot.schema,
    partitionColumns: snapshot.partitionColumns,
    files,
  };
}

function notEnabled(table: string, version: Version): ServiceError {
  return serviceError.invalid('CDF_NOT_ENABLED', `table "${table}": the change feed is off at version ${version}`, {
    hint: 'set "delta.enableChangeDataFeed" to "true" and start the feed at that version or later',
    context: { version },
  });
}
