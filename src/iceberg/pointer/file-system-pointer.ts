import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Clock } from '../../base/clock.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { ObjectInfo, PutIfAbsentResult } from '../../storage/object-store.ts';
import { isSameObject } from '../../storage/same-object.ts';
import { plainLocation } from '../location.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { TableFiles } from '../table-files.ts';
import { deleteDroppedMetadata, leaveOnFailure, metadataBytes, readMetadataFile } from './metadata-files.ts';
import { fileNameOf, metadataCodec, metadataPathProperty, versionIn, versionName, withoutTrailingSlash } from './metadata-names.ts';
import { findNewest, findVersion, hintLocation, metadataFolderOf, type VersionFile } from './newest-version.ts';
import { nextMetadata } from './next-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from './table-pointer.ts';

export interface FileSystemPointerParts {
  readonly name: string;
  readonly location: string;
  readonly files: TableFiles;
  readonly clock: Clock;
}

/** Newest versions that vanish while they are read, before the table counts as unreadable. */
const maxVanished = 5;

const singleWriterReason =
  'the table is a directory whose versions are file names: writers of this program take a name only when it is free, but Spark and Hadoop rename over it, so only one of them may write at a time';

/**
 * A table that is a directory: `metadata/v<N>.metadata.json` with the highest N is its newest metadata. A commit is the putting of version
 * N+1 when there is none. `version-hint.text` is written afterwards, for others, and decides nothing.
 */
export class FileSystemPointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly: string = singleWriterReason;
  readonly looksAtBase = true;
  readonly #parts: FileSystemPointerParts;
  readonly #location: string;
  /** What the file of a loaded metadata looked like: a table that was dropped and made again has the same names. */
  readonly #seen = new WeakMap<LoadedMetadata, ObjectInfo>();

  constructor(parts: FileSystemPointerParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#location = withoutTrailingSlash(parts.location);
  }

  /** The directory that was opened. */
  ownPlaces(): readonly string[] {
    return [this.#location];
  }

  async load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    if (known !== undefined && (await this.#isNewest(known, signal))) return known;
    for (let vanished = 0; ; vanished += 1) {
      const newest = await findNewest(this.#parts.files, this.#location, signal);
      if (newest === undefined) return undefined;
      try {
        return await this.#read(newest, signal);
      } catch (error) {
        // Deleted by a commit that cleans up, or with the table.
        if (vanished >= maxVanished || !isServiceError(error, 'not-found')) throw error;
      }
    }
  }

  /** @throws AnalysisException `ICEBERG_TABLE_NOT_RELOCATABLE` for a change that would move the table or its metadata. */
  async swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> {
    const next = nextMetadata(base, change, this.#parts.clock.now());
    if (next.kind !== 'next') return next;
    this.#refuseRelocation(base?.metadata, next.metadata);
    const version = await this.#versionAfter(base, signal);
    if (version === undefined) return { kind: 'conflicted', reason: `version ${versionOf(base) + 1} of ${this.name} is there already` };
    return await this.#put(base, next.metadata, version, { prove: change.prove, signal });
  }

  /**
   * Begins the table with metadata of another place, as it is: its files stay where they are. False: there is a table already.
   *
   * @throws AnalysisException `ICEBERG_TABLE_NOT_RELOCATABLE` for metadata that names another place for itself; ServiceError
   * `STORAGE_OUTCOME_UNKNOWN` (kind unknown-outcome).
   */
  async begin(metadata: TableMetadata, signal?: AbortSignal): Promise<boolean> {
    this.#refuseMetadataPath(metadata);
    const version = await this.#versionAfter(undefined, signal);
    if (version === undefined) return false;
    const outcome = await this.#put(undefined, metadata, version, { signal });
    if (outcome.kind !== 'unknown') return outcome.kind === 'committed';
    throw serviceError.unknownOutcome('STORAGE_OUTCOME_UNKNOWN', `nobody knows whether the metadata of ${this.name} was put`, {
      hint: 'look whether the table is there',
      cause: outcome.cause,
    });
  }

  async #put(
    base: LoadedMetadata | undefined,
    metadata: TableMetadata,
    version: number,
    { prove, signal }: Pick<MetadataChange, 'prove'> & { readonly signal: AbortSignal | undefined },
  ): Promise<SwapOutcome> {
    // Named by the base's codec: of two changes of one base, one of which sets another codec, both must want the same name.
    const codec = metadataCodec((base?.metadata ?? metadata).properties);
    const location = `${metadataFolderOf(this.#location)}/${versionName(version, codec)}`;
    const bytes = await metadataBytes(metadata, codec);
    await this.#deleteSidecar(location, signal);
    const refusal = await prove?.();
    if (refusal !== undefined) return refusal;
    let put: PutIfAbsentResult;
    try {
      put = await this.#parts.files.putIfAbsent(location, bytes, signal);
    } catch (error) {
      if (!isServiceError(error, 'unknown-outcome')) throw error;
      const settled = await this.#lookFor(location, bytes);
      if (settled === undefined) return { kind: 'unknown', cause: error };
      put = settled;
    }
    // The answer to a request that was sent twice on its way may be about the second one: what is there may be ours.
    if (put === 'exists') put = (await this.#lookFor(location, bytes)) ?? put;
    if (put === 'exists') return { kind: 'conflicted', reason: `version ${version} of ${this.name} was committed meanwhile` };
    return await this.#afterCommit(base, { metadata, metadataLocation: location }, version);
  }

  /** What follows a commit; nothing of it can undo the commit. */
  async #afterCommit(base: LoadedMetadata | undefined, loaded: LoadedMetadata, version: number): Promise<SwapOutcome> {
    // Versions are deleted oldest first: when the base is gone, version N+1 may have been taken, followed and deleted before ours was put.
    const uncertain = await this.#uncertainty(base, loaded);
    if (uncertain !== undefined) return { kind: 'unknown', cause: uncertain };
    await leaveOnFailure(this.#writeHint(version));
    await deleteDroppedMetadata(this.#parts.files, base?.metadata, loaded.metadata);
    return { kind: 'committed', loaded };
  }

  /** Why it is not sure that what was put is the version after the base. Remembers the look of the file otherwise. */
  async #uncertainty(base: LoadedMetadata | undefined, loaded: LoadedMetadata): Promise<unknown> {
    const { files } = this.#parts;
    try {
      const [kept, made] = await Promise.all(
        [base?.metadataLocation, loaded.metadataLocation].map(async (location) => (location === undefined ? 'none' : files.head(location))),
      );
      if (kept === undefined || made === undefined || made === 'none') return deletedMeanwhile(loaded, base);
      this.#seen.set(loaded, made);
      return undefined;
    } catch (cause) {
      return cause;
    }
  }

  async #isNewest(known: LoadedMetadata, signal: AbortSignal | undefined): Promise<boolean> {
    const { metadataLocation } = known;
    const version = metadataLocation === undefined ? undefined : versionIn(fileNameOf(metadataLocation));
    if (metadataLocation === undefined || version === undefined) return false;
    const [info, next] = await Promise.all([
      this.#parts.files.head(metadataLocation, signal),
      findVersion(this.#parts.files, this.#location, version + 1, signal),
    ]);
    if (info === undefined || next !== undefined) return false;
    const seen = this.#seen.get(known);
    // What this pointer has not read itself it trusts only after having read it.
    return seen !== undefined && isSameObject(seen, info);
  }

  async #read(file: VersionFile, signal: AbortSignal | undefined): Promise<LoadedMetadata> {
    const loaded = await readMetadataFile(this.#parts.files, file.location, signal);
    this.#seen.set(loaded, file.info);
    return loaded;
  }

  /** `undefined`: the base is not the newest any more. */
  async #versionAfter(base: LoadedMetadata | undefined, signal: AbortSignal | undefined): Promise<number | undefined> {
    const { files } = this.#parts;
    if (base?.metadataLocation === undefined) return (await findNewest(files, this.#location, signal)) === undefined ? 1 : undefined;
    const version = versionOf(base) + 1;
    const [kept, next] = await Promise.all([
      files.head(base.metadataLocation, signal),
      findVersion(files, this.#location, version, signal),
    ]);
    const seen = this.#seen.get(base);
    const isBase = kept !== undefined && (seen === undefined || isSameObject(seen, kept));
    return isBase && next === undefined ? version : undefined;
  }

  /** Who put the version, when we never heard whether we did. */
  async #lookFor(location: string, bytes: Uint8Array): Promise<PutIfAbsentResult | undefined> {
    try {
      return Buffer.compare(await this.#parts.files.read(location), bytes) === 0 ? 'created' : 'exists';
    } catch {
      return undefined;
    }
  }

  async #writeHint(version: number): Promise<void> {
    const hint = hintLocation(this.#location);
    await this.#deleteSidecar(hint, undefined);
    await this.#parts.files.put(hint, new TextEncoder().encode(String(version)));
  }

  /** Hadoop's checksum of a local file: it would not fit what we write. */
  async #deleteSidecar(location: string, signal: AbortSignal | undefined): Promise<void> {
    if (/^[a-z][a-z0-9+.-]+:/i.test(location) && !/^file:/i.test(location)) return;
    const name = fileNameOf(location);
    await this.#parts.files.discard(`${location.slice(0, -name.length)}.${name}.crc`, signal);
  }

  #refuseRelocation(base: TableMetadata | undefined, next: TableMetadata): void {
    if (base === undefined && plainLocation(next.location) !== plainLocation(this.#location)) {
      const places = `Expected ${this.#location} but got ${next.location}`;
      throw notRelocatable(this.name, `Cannot set a custom location for a path-based table. ${places}`);
    }
    if (base !== undefined && base.location !== next.location) {
      throw notRelocatable(this.name, 'Hadoop path-based tables cannot be relocated');
    }
    this.#refuseMetadataPath(next);
  }

  #refuseMetadataPath({ properties }: TableMetadata): void {
    if (properties[metadataPathProperty] === undefined) return;
    throw notRelocatable(this.name, 'Hadoop path-based tables cannot relocate metadata');
  }
}

function versionOf(base: LoadedMetadata | undefined): number {
  const version = base?.metadataLocation === undefined ? 0 : versionIn(fileNameOf(base.metadataLocation));
  if (version !== undefined) return version;
  throw new AnalysisException({
    errorClass: 'ICEBERG_METADATA_NAME_UNKNOWN',
    message: `"${base?.metadataLocation ?? ''}" is not a version of a table in the file system`,
    hint: 'load the table again before changing it',
  });
}

function deletedMeanwhile(loaded: LoadedMetadata, base: LoadedMetadata | undefined): ServiceError {
  return serviceError.unknownOutcome(
    'STORAGE_OUTCOME_UNKNOWN',
    `${base?.metadataLocation ?? loaded.metadataLocation ?? ''} was deleted while the version after it was committed`,
  );
}

function notRelocatable(table: string, message: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'ICEBERG_TABLE_NOT_RELOCATABLE',
    kind: 'unsupported',
    message: `${message}: ${table}`,
    hint: 'tables of a SQL or REST catalog can be relocated',
    parameters: { tableName: table },
  });
}
