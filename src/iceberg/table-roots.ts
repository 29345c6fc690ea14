import { beyond, liesWithin } from '../storage/allowed-locations.ts';
import type { TableMetadata } from './metadata/table-metadata.ts';
import type { LoadedMetadata, TablePointer } from './pointer/table-pointer.ts';
import { leaderLocationProperty } from './twin/twin-properties.ts';

/** Properties that name directories a table keeps files in (https://iceberg.apache.org/docs/latest/configuration/). */
export const pathProperties = ['write.data.path', 'write.metadata.path', 'write.object-storage.path', 'write.folder-storage.path'] as const;

/** The directories that metadata names as the table's: its location and those of its properties. */
export function namedPlaces({ location, properties }: TableMetadata): readonly string[] {
  const named = pathProperties.flatMap((key) => (Object.hasOwn(properties, key) ? [properties[key] ?? ''] : []));
  return [location, ...named.filter((path) => path !== '')];
}

/**
 * The directories whose files a table may refer to, and those whose files may be deleted. Metadata may name any place at all: what is outside
 * of the table's own location, of the places its properties name and of those the caller allows (where files that were added in place lie) is
 * not opened, and the places it names count only where the caller lets them. It never says what may be deleted: that are the places its catalog knows, and those the caller allows.
 */
export class TableRoots {
  readonly #places: readonly string[];
  readonly #allowed: readonly string[];
  readonly #confinedTo: readonly string[] | undefined;
  #named: readonly string[] = [];
  #own: readonly string[] = [];

  /**
   * @param parts.places where the table was opened; files are read there.
   * @param parts.allowed by the caller, to read and to delete.
   * @param parts.confinedTo where the places that metadata names must lie to count; empty: they never do.
   */
  constructor(parts: {
    readonly places: readonly string[];
    readonly allowed: readonly string[];
    readonly confinedTo?: readonly string[] | undefined;
  }) {
    this.#places = parts.places;
    this.#allowed = parts.allowed;
    this.#confinedTo = parts.confinedTo;
  }

  get all(): readonly string[] {
    return [...this.#named, ...this.#own, ...this.#places, ...this.#allowed];
  }

  get deletable(): readonly string[] {
    return [...this.#own, ...this.#allowed];
  }

  /** Takes over what metadata and its catalog say. */
  follow(loaded: LoadedMetadata, pointer: Pick<TablePointer, 'ownPlaces'>): void {
    const confinedTo = this.#confinedTo;
    this.#own = pointer.ownPlaces(loaded);
    const leader = loaded.metadata.properties[leaderLocationProperty];
    const places = [...namedPlaces(loaded.metadata), ...(leader === undefined ? [] : [leader])];
    const named = beyond(places, [...this.#own, ...this.#places, ...this.#allowed]);
    this.#named = confinedTo === undefined ? named : named.filter((place) => liesWithin(place, confinedTo));
  }
}
