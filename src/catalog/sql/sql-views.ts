import type { Clock } from '../../base/clock.ts';
import { isServiceError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import { isBelow, outsideTable, parentLocation, plainLocation } from '../../iceberg/location.ts';
import { tableFiles } from '../../iceberg/open-table-files.ts';
import { leaveOnFailure } from '../../iceberg/pointer/metadata-files.ts';
import { metadataCodec, numberedLocation } from '../../iceberg/pointer/metadata-names.ts';
import { tableDirectoryOf } from '../../iceberg/pointer/newest-version.ts';
import type { TableFiles } from '../../iceberg/table-files.ts';
import { readViewMetadata, viewBytes } from '../../iceberg/view/view-json.ts';
import type { ViewMetadata } from '../../iceberg/view/view-metadata.ts';
import { applyViewUpdates, type ViewUpdate } from '../../iceberg/view/view-updates.ts';
import { refuseElsewhere } from '../../storage/allowed-locations.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound } from '../../table/table-names.ts';
import type { IcebergViewNames, LoadedView } from '../iceberg-view-names.ts';
import { movesMetadata } from './moves-metadata.ts';
import type { SqlTableRows } from './sql-table-rows.ts';

export interface SqlViewsParts {
  /** Of views. */
  readonly rows: SqlTableRows;
  readonly nameOf: (ident: TableIdent) => string;
  readonly hasNamespace: (namespace: readonly string[], signal?: AbortSignal) => Promise<boolean>;
  /** The directory that the catalog keeps a view of this name in when nobody says another. @throws for names it cannot keep. */
  readonly homeOf: (ident: TableIdent, signal?: AbortSignal) => Promise<string>;
  /** Views need the namespace they are in. */
  readonly strict: boolean;
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Directories that views may have files in beside their own. */
  readonly allowedLocations?: readonly string[] | undefined;
  /** Directories that statements may put metadata in. Default: any. */
  readonly confinedTo?: readonly string[] | undefined;
}

/** Tries to read metadata that is replaced and deleted meanwhile. */
const maxVanished = 5;
/** Metadata files of views are packed unless their properties say otherwise, as other implementations write them. */
const defaultCodec = 'gzip';

/** Views whose newest metadata file is named by a row of a SQL catalog, as in Java's JdbcCatalog; a change replaces the name if it is still the base's. */
export class SqlViews implements IcebergViewNames {
  readonly #parts: SqlViewsParts;

  constructor(parts: SqlViewsParts) {
    this.#parts = parts;
  }

  async views(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    const { rows, hasNamespace } = this.#parts;
    if (!(await hasNamespace(namespace, signal))) return undefined;
    return (await rows.keepsViews(signal)) ? await rows.tables(namespace, signal) : [];
  }

  async load(ident: TableIdent, signal?: AbortSignal): Promise<LoadedView | undefined> {
    const { rows } = this.#parts;
    if (!(await rows.keepsViews(signal))) return undefined;
    for (let vanished = 0; ; vanished += 1) {
      const metadataLocation = (await rows.find(ident, signal))?.metadataLocation;
      if (metadataLocation === undefined) return undefined;
      try {
        const bytes = await this.#files(ident, [tableDirectoryOf(metadataLocation)]).read(metadataLocation, signal);
        return { metadata: readViewMetadata(bytes, metadataLocation), metadataLocation };
      } catch (error) {
        if (vanished >= maxVanished || !isServiceError(error, 'not-found')) throw error;
        if ((await rows.find(ident, signal))?.metadataLocation === metadataLocation) throw error;
      }
    }
  }

  async locationOf(ident: TableIdent, signal?: AbortSignal): Promise<string> {
    return await this.#parts.homeOf(ident, signal);
  }

  async create(ident: TableIdent, view: ViewMetadata, _options: unknown, signal?: AbortSignal): Promise<'done' | 'exists'> {
    const { rows, strict, hasNamespace } = this.#parts;
    if (strict && !(await hasNamespace(ident.namespace, signal))) throw schemaNotFound(ident.namespace);
    const home = await this.#parts.homeOf(ident, signal);
    const location = await this.#written(ident, { view, base: undefined, own: [home] }, signal);
    return (await this.#pointed(ident, location, () => rows.insert(ident, location, signal))) ? 'done' : 'exists';
  }

  async change(ident: TableIdent, base: LoadedView, updates: readonly ViewUpdate[], signal?: AbortSignal): Promise<boolean> {
    const { rows, clock, homeOf } = this.#parts;
    const from = base.metadataLocation ?? '';
    const view = applyViewUpdates(base.metadata, updates, clock.now());
    const own = [tableDirectoryOf(from), await homeOf(ident, signal)];
    const moves = updates.some(movesMetadata);
    const location = await this.#written(ident, { view, base: from, own, moves }, signal);
    try {
      return await this.#pointed(ident, location, () => rows.replace(ident, { from, to: location }, signal));
    } catch (error) {
      // The database undid it for another one's sake.
      if (isServiceError(error, 'conflict')) return false;
      throw error;
    }
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange> {
    const { rows, hasNamespace, homeOf } = this.#parts;
    await homeOf(to, signal);
    if (!(await hasNamespace(to.namespace, signal))) throw schemaNotFound(to.namespace);
    const renamed = await rows.rename(from, to, signal);
    return renamed === 'renamed' ? 'done' : renamed;
  }

  /** The newest metadata file goes with the row. */
  async drop(ident: TableIdent, signal?: AbortSignal): Promise<boolean> {
    const { rows } = this.#parts;
    if (!(await rows.keepsViews(signal))) return false;
    const location = (await rows.find(ident, signal))?.metadataLocation;
    const dropped = await rows.remove(ident, signal);
    if (dropped && location !== undefined) await leaveOnFailure(this.#files(ident, [tableDirectoryOf(location)]).delete(location));
    return dropped;
  }

  /** Writes the metadata file of a view's next state, which nothing refers to yet. */
  async #written(
    ident: TableIdent,
    next: { readonly view: ViewMetadata; readonly base: string | undefined; readonly own: readonly string[]; readonly moves?: boolean },
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { ids, nameOf, allowedLocations = [], confinedTo } = this.#parts;
    const { view, base, own } = next;
    const codec = metadataCodec(view.properties, defaultCodec);
    const location = numberedLocation(view, base, ids.uuid(), codec);
    const places = [...own, ...allowedLocations];
    if (confinedTo !== undefined) {
      const directories = [...places, ...confinedTo];
      refuseElsewhere(location, { directories, of: `view "${nameOf(ident)}"`, setting: 'tidewater.files.allowedLocations' });
    }
    // Metadata that claims another directory than the catalog's row names was not written by a change.
    if (base !== undefined && next.moves !== true && !places.some((place) => isBelow(plainLocation(location), plainLocation(place)))) {
      throw outsideTable(location, nameOf(ident), 'is where its metadata wants the next version, and not where its catalog has it');
    }
    await this.#files(ident, [parentLocation(location)]).put(location, await viewBytes(view, codec), signal);
    return location;
  }

  /** The metadata file goes when it is certain that nothing refers to it. */
  async #pointed(ident: TableIdent, location: string, point: () => Promise<boolean>): Promise<boolean> {
    let stays = false;
    try {
      stays = await point();
      return stays;
    } catch (error) {
      stays = !isServiceError(error, 'unavailable', 'invalid', 'aborted', 'conflict');
      throw error;
    } finally {
      if (!stays) await leaveOnFailure(this.#files(ident, [parentLocation(location)]).discard(location));
    }
  }

  #files(ident: TableIdent, directories: readonly string[]): TableFiles {
    const { nameOf, openStore } = this.#parts;
    return tableFiles({ name: nameOf(ident), openStore, roots: () => directories });
  }
}
