import type { LoadedMetadata } from './pointer/table-pointer.ts';

/** Properties that name directories a table keeps files in (https://iceberg.apache.org/docs/latest/configuration/). */
const pathProperties = ['write.data.path', 'write.metadata.path', 'write.object-storage.path', 'write.folder-storage.path'] as const;

/**
 * The directories whose files a table may refer to. Metadata may name any place at all: what is outside of the table's own location, of the
 * places its properties name and of those the caller allows (a warehouse, or where files that were added in place lie) is not opened.
 */
export class TableRoots {
  readonly #allowed: readonly string[];
  #own: readonly string[];

  /** @param allowed beside what the metadata says; the location a table was opened by among them. */
  constructor(allowed: readonly string[]) {
    this.#allowed = allowed;
    this.#own = [];
  }

  get all(): readonly string[] {
    return [...this.#own, ...this.#allowed];
  }

  /** Takes over what metadata says. */
  follow({ metadata }: LoadedMetadata): void {
    const { location, properties } = metadata;
    const named = pathProperties.flatMap((key) => (Object.hasOwn(properties, key) ? [properties[key] ?? ''] : []));
    this.#own = [location, ...named.filter((path) => path !== '')];
  }
}
