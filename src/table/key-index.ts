/** A data file whose rows an index has: what is at a path never changes. */
export interface IndexedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Deleted ones included. */
  readonly rowCount: number;
}

/** What an index is of. Of another table, or of other columns, it is thrown away. */
export interface KeyIndexOwner {
  readonly tableId: string;
  /** Says of the columns what their values depend on. */
  readonly columns: string;
  /** So many numbers go with each row. */
  readonly carried: number;
}

/** Rows as words of 32 bits: four of the hash of the key, ascending by these; number of the file and position there; two for each carried number, low word first. */
export type KeyEntries = Uint32Array;

/** Hashes of keys, four words each, ascending. */
export type KeyHashes = Uint32Array;

/** Where the rows of keys are: member `i` of each list concerns one row, in no order. */
export interface KeyPlaces {
  readonly count: number;
  /** Index into the hashes. */
  readonly keys: Int32Array;
  /** Index into the files that were asked for. */
  readonly files: Int32Array;
  readonly positions: Uint32Array;
  readonly carried: readonly BigInt64Array[];
}

/** An index of one table: it knows of some data files all rows, those that are deleted too, and of others nothing. */
export interface TableKeyIndex {
  /** Goes before a key when its hash is made, so that nobody outside knows of two keys with one hash. */
  readonly salt: string;
  covers(file: IndexedFile): boolean;
  /**
   * Takes in the rows of the files, all of each; entries have indexes into `files`. `false`: it could not, and nothing changed.
   *
   * @throws what reading `entries` throws.
   */
  add(files: readonly IndexedFile[], entries: AsyncIterable<KeyEntries>): Promise<boolean>;
  /** The rows in these files, which are covered, of keys with these hashes. `undefined`: it could not be read, or covers one of them no more. */
  find(hashes: KeyHashes, files: readonly IndexedFile[], signal?: AbortSignal): Promise<KeyPlaces | undefined>;
  /** Whether it is time for `tidy`. */
  readonly isUntidy: boolean;
  /** Puts together what many additions have left, without the rows of files that are not live; returns at once. */
  tidy(live: readonly IndexedFile[]): void;
}

/** Rows of keys without reading the table: a cache on local disk. What it loses is read from the table. */
export interface KeyIndex {
  /** Whether an index is faster than reading the key columns of so many rows. */
  pays(search: { readonly rows: number; readonly keys: number }): boolean;
  /** At most about so many rows are taken in at once: a commit waits for it. */
  readonly rowsAtOnce: number;
  /** Opens it, or makes an empty one. `undefined`: there can be none for now. */
  of(owner: KeyIndexOwner): Promise<TableKeyIndex | undefined>;
}
