import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import { isBelow, outsideTable, parentLocation, plainLocation } from '../../iceberg/location.ts';
import { tableFiles } from '../../iceberg/open-table-files.ts';
import { deleteDroppedMetadata, leaveOnFailure, metadataBytes, readMetadataFile } from '../../iceberg/pointer/metadata-files.ts';
import { metadataCodec, numberedLocation } from '../../iceberg/pointer/metadata-names.ts';
import { tableDirectoryOf } from '../../iceberg/pointer/newest-version.ts';
import { nextMetadata } from '../../iceberg/pointer/next-metadata.ts';
import type { LoadedMetadata, MetadataChange, SwapConflict, SwapOutcome, TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import type { TableFiles } from '../../iceberg/table-files.ts';
import { beyond, refuseElsewhere } from '../../storage/allowed-locations.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { movesMetadata } from './moves-metadata.ts';
import type { SqlTableRows } from './sql-table-rows.ts';

export interface SqlTablePointerParts {
  readonly name: string;
  readonly ident: TableIdent;
  readonly rows: SqlTableRows;
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** The directory that the catalog keeps a table of this name in when nobody says another. Default: not known. */
  readonly home?: ((signal?: AbortSignal) => Promise<string>) | undefined;
  /** Directories that the caller lets tables have files in, beside those the catalog knows. */
  readonly allowedLocations?: readonly string[] | undefined;
  /** Directories that changes may move the metadata to, beside those. Default: any. */
  readonly confinedTo?: readonly string[] | undefined;
}

/** Tries to read metadata that is replaced and deleted meanwhile. */
const maxVanished = 5;

/** A table whose newest metadata file is named by a row of a SQL catalog; a commit replaces the name if it is still the base's. */
export class SqlTablePointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly = undefined;
  readonly #parts: SqlTablePointerParts;
  readonly #files: TableFiles;
  /** Directories of metadata that the catalog has named, or that this pointer writes to. */
  readonly #folders = new Set<string>();

  #home: string | undefined;
  /** What the catalog's row named last. */
  #named: string | undefined;

  constructor(parts: SqlTablePointerParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#files = tableFiles({
      name: parts.name,
      openStore: parts.openStore,
      roots: () => [...this.ownPlaces(), ...beyond([...this.#folders], this.ownPlaces())],
      deletable: () => [...this.ownPlaces(), ...(parts.allowedLocations ?? [])],
    });
  }

  /** Where the catalog's row says that the metadata is, and where the catalog keeps tables of this name. */
  ownPlaces({ metadataLocation: named = this.#named }: Partial<LoadedMetadata> = {}): readonly string[] {
    return [...(named === undefined ? [] : [tableDirectoryOf(named)]), ...(this.#home === undefined ? [] : [this.#home])];
  }

  async load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    for (let vanished = 0; ; vanished += 1) {
      const location = (await this.#parts.rows.find(this.#parts.ident, signal))?.metadataLocation;
      if (location === undefined) return undefined;
      if (location === known?.metadataLocation) return known;
      this.#folders.add(parentLocation(location));
      this.#home ??= await this.#parts.home?.(signal);
      this.#named = location;
      try {
        return await readMetadataFile(this.#files, location, signal);
      } catch (error) {
        if (vanished >= maxVanished || !isServiceError(error, 'not-found')) throw error;
        const again = await this.#parts.rows.find(this.#parts.ident, signal);
        if (again?.metadataLocation === location) throw error;
      }
    }
  }

  async swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> {
    const next = nextMetadata(base, change, this.#parts.clock.now());
    if (next.kind !== 'next') return next;
    const { metadata } = next;
    const location = numberedLocation(metadata, base?.metadataLocation, this.#parts.ids.uuid());
    if (base !== undefined) this.#refuseUnaskedMove(base, location, change);
    await this.#refuseMoveOut(base, location, signal);
    this.#named ??= base?.metadataLocation;
    this.#folders.add(parentLocation(location));
    const bytes = await metadataBytes(metadata, metadataCodec(metadata.properties));
    const sinceMs = this.#parts.clock.monotonicMs();
    await this.#files.put(location, bytes, signal);
    const refusal = await this.#proven(change, location, sinceMs);
    if (refusal !== undefined) return refusal;
    const outcome = await this.#point(base?.metadataLocation, location, signal);
    if (outcome.kind === 'conflicted') await leaveOnFailure(this.#files.discard(location));
    if (outcome.kind !== 'committed') return outcome;
    await deleteDroppedMetadata(this.#files, base?.metadata, metadata);
    return { kind: 'committed', loaded: { metadata, metadataLocation: location } };
  }

  /** Right before the row is changed. The metadata file that was written for it goes when it is not to be. */
  async #proven({ prove }: MetadataChange, location: string, sinceMs: number): Promise<SwapConflict | undefined> {
    let stays = false;
    try {
      const refusal = await prove?.({ paths: [location], sinceMs });
      stays = refusal === undefined;
      return refusal;
    } finally {
      if (!stays) await leaveOnFailure(this.#files.discard(location));
    }
  }

  /**
   * Metadata that claims another directory than the catalog's row names was not written by a commit: following it would make the claim the
   * catalog's own word.
   *
   * @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid) when the next metadata would go elsewhere and the change does not ask for that.
   */
  #refuseUnaskedMove(base: LoadedMetadata, next: string, { updates }: MetadataChange): void {
    const own = [...this.ownPlaces(base), ...(this.#parts.allowedLocations ?? [])].map(plainLocation);
    if (base.metadataLocation === undefined || own.some((place) => isBelow(plainLocation(next), place))) return;
    if (!updates.some(movesMetadata))
      throw outsideTable(next, this.name, 'is where its metadata wants the next version, and not where its catalog has it');
  }

  /** @throws ServiceError `FILE_OUTSIDE_TABLE` (invalid) when a change asks for metadata outside of what the session is confined to. */
  async #refuseMoveOut(base: LoadedMetadata | undefined, next: string, signal: AbortSignal | undefined): Promise<void> {
    const { confinedTo, allowedLocations = [] } = this.#parts;
    if (confinedTo === undefined) return;
    this.#home ??= await this.#parts.home?.(signal);
    const setting = 'tidewater.files.allowedLocations';
    const directories = [...this.ownPlaces(base), ...allowedLocations, ...confinedTo];
    refuseElsewhere(next, { directories, of: `table "${this.name}"`, setting });
  }

  async #point(
    from: string | undefined,
    to: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly kind: 'committed' } | Exclude<SwapOutcome, { readonly kind: 'committed' }>> {
    const { rows, ident } = this.#parts;
    try {
      const pointed = from === undefined ? await rows.insert(ident, to, signal) : await rows.replace(ident, { from, to }, signal);
      if (pointed) return { kind: 'committed' };
      return {
        kind: 'conflicted',
        reason: from === undefined ? `there is a table ${this.name} already` : `${this.name} was changed meanwhile`,
      };
    } catch (error) {
      if (isServiceError(error, 'conflict')) return { kind: 'conflicted', reason: error.message };
      if (isServiceError(error, 'unknown-outcome')) return await this.#lookFor(to, error);
      // Nothing was changed: nobody will ever refer to the file.
      if (isServiceError(error, 'unavailable', 'invalid', 'aborted')) await leaveOnFailure(this.#files.discard(to));
      throw error;
    }
  }

  /** Whether a change that nobody confirmed is there. That it is not there (yet) says nothing. */
  async #lookFor(location: string, cause: unknown): Promise<{ readonly kind: 'committed' } | Extract<SwapOutcome, { kind: 'unknown' }>> {
    try {
      const row = await this.#parts.rows.find(this.#parts.ident);
      if (row?.metadataLocation === location || row?.previousMetadataLocation === location) return { kind: 'committed' };
    } catch {
      // Still not reachable.
    }
    return { kind: 'unknown', cause };
  }
}
