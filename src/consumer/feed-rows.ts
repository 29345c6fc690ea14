import { serviceError } from '../base/errors.ts';
import type { FeedChange, FeedRow } from './feed-change.ts';

/** A snapshot of one partition that is being read: the rows that it has not told yet. */
interface OpenSnapshot {
  readonly version: bigint;
  readonly untold: Set<string>;
}

/** The rows of a table, folded from its feed: what the table has at the last version that was applied. */
export class FeedRows {
  readonly #rows = new Map<string, FeedRow>();
  /** Keys by partition: what a snapshot leaves out is gone. */
  readonly #keys = new Map<number, Set<string>>();
  readonly #snapshots = new Map<number, OpenSnapshot>();

  /** Rows by the text of their key (`FeedChange.keyText`). */
  get rows(): ReadonlyMap<string, FeedRow> {
    return this.#rows;
  }

  /**
   * Puts a change in. Changes of a key come in order; those of other keys may come in any. A snapshot that follows changes, as after a gap, ends
   * with the first change behind it: rows that it did not tell are gone then. A truncation takes all rows of its partition; a feed that has them has one.
   *
   * @throws ServiceError `CONSUMER_KEY_MISSING` (kind invalid) for a feed without keys.
   */
  apply(change: FeedChange): void {
    const { operation, keyText, partition, snapshot, version, after } = change;
    if (operation === 'truncate') {
      this.#truncate(partition);
      return;
    }
    if (keyText === undefined) {
      throw serviceError.invalid('CONSUMER_KEY_MISSING', `feed "${change.feed}" has no key, so its rows cannot be told apart`, {
        hint: "name the columns of a key in the feed's keyColumns, or take the changes as they come",
      });
    }
    const keys = this.#keys.get(partition) ?? new Set<string>();
    this.#keys.set(partition, keys);
    if (snapshot) this.#tell(partition, version, keyText);
    else this.#endSnapshot(partition);
    if (after === undefined) {
      keys.delete(keyText);
      this.#rows.delete(keyText);
    } else {
      keys.add(keyText);
      this.#rows.set(keyText, after);
    }
  }

  #truncate(partition: number): void {
    for (const keyText of this.#keys.get(partition) ?? []) this.#rows.delete(keyText);
    this.#keys.delete(partition);
    this.#snapshots.delete(partition);
  }

  #tell(partition: number, version: bigint, keyText: string): void {
    let open = this.#snapshots.get(partition);
    if (open?.version !== version) {
      open = { version, untold: new Set(this.#keys.get(partition)) };
      this.#snapshots.set(partition, open);
    }
    open.untold.delete(keyText);
  }

  #endSnapshot(partition: number): void {
    const open = this.#snapshots.get(partition);
    if (open === undefined) return;
    this.#snapshots.delete(partition);
    for (const keyText of open.untold) {
      this.#rows.delete(keyText);
      this.#keys.get(partition)?.delete(keyText);
    }
  }
}
