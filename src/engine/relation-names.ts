/** The schema of the in-memory catalog that everything held lies in. */
export const heldSchema = 'held';

/** Unique names of held tables and views of one engine. */
export class RelationNames {
  #count = 0;

  /** A name to be used unquoted: `held.rows_7`. */
  next(noun: 'rows' | 'scan' | 'files' | 'facts' | 'deleted' | 'only' | 'given'): string {
    this.#count += 1;
    return `${heldSchema}.${noun}_${this.#count}`;
  }
}
