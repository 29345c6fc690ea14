import { createHash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { printJson } from '../../base/bigint-json.ts';
import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { IdSource } from '../../base/ids.ts';
import type { KeyIndex, KeyIndexOwner, TableKeyIndex } from '../../table/key-index.ts';
import type { KeyIndexObserver } from './key-index-observer.ts';
import { RunSet } from './run-set.ts';

export interface KeyIndexLimits {
  /** Lookups among fewer rows read the table. */
  readonly minRows: number;
  /** On disk, for each table. */
  readonly maxBytes: number;
}

export interface LocalKeyIndexParts {
  /** Of this table alone; absolute. It is made, and what is of another table in it is deleted. */
  readonly directory: string;
  readonly settings: KeyIndexLimits;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly clock: Clock;
  readonly observer: KeyIndexObserver;
}

/** More keys than this share of `minRows` for each row are as fast to find by reading the rows: one in 100 of 10,000,000. */
const keyShare = 1 / 100_000;
const rowsAtOnce = 4_000_000;
/** After a failure it is left alone so long. */
const restMs = 300_000;
/** How the bytes are made of keys: an index of another way is not read. */
const way = 1;

/**
 * An index that lies in a directory: for each table id and each set of columns one of its own, of which there is one at a time. Several processes may
 * have one directory: runs never change, and one that is deleted stays with those who have it open.
 */
export class LocalKeyIndex implements KeyIndex {
  readonly rowsAtOnce: number = rowsAtOnce;
  readonly #parts: LocalKeyIndexParts;
  #opened: { readonly name: string; readonly runs: RunSet } | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(parts: LocalKeyIndexParts) {
    this.#parts = parts;
  }

  pays({ rows, keys }: { readonly rows: number; readonly keys: number }): boolean {
    const { minRows } = this.#parts.settings;
    return rows >= minRows && rows >= keys * minRows * keyShare;
  }

  async of(owner: KeyIndexOwner): Promise<TableKeyIndex | undefined> {
    const { clock, observer } = this.#parts;
    if (clock.monotonicMs() < this.#restsUntilMs) return undefined;
    const name = createHash('sha256')
      .update(printJson([way, owner.tableId, owner.columns, owner.carried]))
      .digest('hex')
      .slice(0, 32);
    if (this.#opened?.name === name && !this.#opened.runs.isBroken) return this.#opened.runs;
    try {
      await this.close();
      this.#opened = { name, runs: await this.#open(name, owner) };
      return this.#opened.runs;
    } catch (error) {
      this.#restsUntilMs = clock.monotonicMs() + restMs;
      observer.failed('open', error);
      return undefined;
    }
  }

  /** Waits until it writes nothing more. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.runs.close();
  }

  async #open(name: string, { columns, carried }: KeyIndexOwner): Promise<RunSet> {
    const { directory, settings, ids, failpoint, observer, clock } = this.#parts;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const other of await readdir(directory)) if (other !== name) await rm(join(directory, other), { recursive: true, force: true });
    return RunSet.open({
      directory: join(directory, name),
      columns,
      carried,
      maxBytes: settings.maxBytes,
      restMs,
      ...{ ids, failpoint, clock, observer },
    });
  }
}
