/** What an index is like. */
export interface KeyIndexSize {
  /** Data files whose rows it has. */
  readonly files: number;
  /** Rows it has, those included of files that are gone. */
  readonly entries: number;
  readonly bytes: number;
}

export interface KeyIndexObserver {
  /** After each change, and at the beginning. */
  changed(size: KeyIndexSize): void;
  /** It does without: nothing of the table is lost. `what`: what could not be done. */
  failed(what: 'open' | 'read' | 'add' | 'tidy', error: unknown): void;
  /** It takes in no more files: it would have more bytes than it may. */
  full(size: KeyIndexSize): void;
}
