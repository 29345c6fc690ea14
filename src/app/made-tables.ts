import { printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import { silentCommitObserver } from '../commit/commit-observer.ts';
import { TableCommitter } from '../commit/table-committer.ts';
import { madeTable, takenNames } from '../config/made-table.ts';
import type { Config } from '../config/settings.ts';
import type { TableSettings } from '../config/table-settings.ts';
import type { MadeTables as Made } from '../ingest/divide/growing-division.ts';
import { madeName } from '../ingest/divide/made-name.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import type { DivisionSpec, DivisionTemplate, MadePart } from '../protocol/division.ts';
import { toCommitId } from '../table/commit.ts';
import type { Snapshot, TableCatalog } from '../table/table.ts';

export interface MadeTablesParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly catalog: TableCatalog;
  /** Makes a table one of the catalog's. */
  readonly add: (settings: TableSettings) => void;
}

/** How often somebody else may have made a table first, one after the other. */
const maxTries = 100;

/**
 * The tables of a pipeline: those that its configuration lists, and those that templates have made. Which these are is stored in the table that they
 * are made like, a mark for each key and one that counts them: so there are never more than `max`, whoever makes them, and every process finds the
 * same ones. A key is stored before its table is created.
 */
export class PipelineTables {
  readonly #parts: MadeTablesParts;
  readonly #made = new Map<string, { readonly settings: TableSettings; readonly route: RouteSettings }>();
  /** Keys are stored one after the other. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: MadeTablesParts) {
    this.#parts = parts;
  }

  /** Those known so far. */
  get all(): readonly TableSettings[] {
    return [...this.#parts.config.tables, ...[...this.#made.values()].map(({ settings }) => settings)];
  }

  get routes(): readonly RouteSettings[] {
    return [...this.#parts.config.ingest.routes, ...[...this.#made.values()].map(({ route }) => route)];
  }

  routeOf(name: string): RouteSettings | undefined {
    return this.routes.find(({ table }) => table === name);
  }

  /** Looks for tables that were made meanwhile. Where it cannot be looked, those known before stay. */
  async refresh(onFailed: (like: string, error: unknown) => void, signal?: AbortSignal): Promise<void> {
    for (const spec of this.#templates()) {
      try {
        await this.known(spec, signal);
      } catch (error) {
        if (!isServiceError(error)) throw error;
        onFailed(spec.template?.like ?? '', error);
      }
    }
  }

  /** What the template of a division has made. A pattern that is not there has made nothing. */
  async known(spec: DivisionSpec, signal?: AbortSignal): Promise<Made> {
    const { template } = spec;
    if (template === undefined) return { parts: [], isFull: true };
    try {
      const pattern = await this.#parts.catalog.load(template.like, signal);
      return this.#learn(template, await pattern.refresh(signal));
    } catch (error) {
      if (!isServiceError(error, 'not-found')) throw error;
      return { parts: [], isFull: false };
    }
  }

  /** Stores that the keys have tables, as far as there may be more. */
  make(spec: DivisionSpec, keys: readonly string[], signal?: AbortSignal): Promise<Made> {
    const made = this.#turn.then(() => this.#make(spec, keys, signal));
    this.#turn = made.catch(() => undefined);
    return made;
  }

  async #make(spec: DivisionSpec, keys: readonly string[], signal: AbortSignal | undefined): Promise<Made> {
    const { template } = spec;
    if (template === undefined) return { parts: [], isFull: true };
    const { catalog, clock, random, ids, config, failpoint } = this.#parts;
    const table = await catalog.load(template.like, signal);
    const committer = new TableCommitter({ table, clock, random, observer: silentCommitObserver, settings: config.commit });
    for (let tried = 0; tried < maxTries; tried += 1) {
      const snapshot = await committer.refresh(signal);
      const made = this.#learn(template, snapshot);
      const fresh = freshKeys(keys, made.parts, template, this.reserved);
      if (fresh.length === 0) {
        await failpoint('table-made');
        return made;
      }
      const userMetadata = printJson({ pipeline: config.pipeline, madeTablesFor: fresh });
      const counted = BigInt(made.parts.length);
      const from = snapshot.progressOf(this.#counter());
      const progress = [
        { writerId: this.#counter(), from, until: counted + BigInt(fresh.length) },
        ...fresh.map((key, index) => ({ writerId: this.#markOf(key), from: undefined, until: counted + BigInt(index + 1) })),
      ];
      await failpoint('before-table-made');
      await committer.commit({ commitId: toCommitId(ids.uuid()), files: [], progress, userMetadata }, table.writeSpec(snapshot), signal);
    }
    return this.known(spec, signal);
  }

  #learn(template: DivisionTemplate, snapshot: Snapshot): Made {
    const parts = this.#storedIn(snapshot, template);
    for (const { table, key } of parts) {
      const made = this.#made.has(table) ? undefined : madeTable(this.#parts.config, table);
      if (made === undefined) continue;
      this.#parts.add(made.settings);
      this.#made.set(table, { settings: made.settings, route: { ...made.route, table, madeFor: key } });
    }
    return { parts, isFull: parts.length >= template.max };
  }

  /** In the order they were made. */
  #storedIn(snapshot: Snapshot, { table: template }: DivisionTemplate): readonly MadePart[] {
    const prefix = this.#markOf('');
    const marks = [...snapshot.progressStartingWith(prefix)].toSorted(([, left], [, right]) => Number(left - right));
    return marks.flatMap(([writerId]) => {
      const key = keyOf(writerId.slice(prefix.length));
      const table = key === undefined || key === '' ? undefined : madeName(template, key);
      return key === undefined || table === undefined ? [] : [{ table, key }];
    });
  }

  /** What other tables are called: nothing that is made takes their place. */
  get reserved(): readonly string[] {
    return takenNames(this.#parts.config);
  }

  #templates(): readonly DivisionSpec[] {
    const specs = this.#parts.config.ingest.routes.flatMap(({ divided }) => divided?.spec ?? []);
    return [...new Set(specs)].filter(({ template }) => template !== undefined);
  }

  /** No pipeline is called so that this could be a mark of its sources. */
  #markOf(key: string): string {
    return `made_tables:${this.#parts.config.pipeline}:${encodeURIComponent(key)}`;
  }

  #counter(): string {
    return `made_tables_count:${this.#parts.config.pipeline}`;
  }
}

/** Keys that no table was made for, and whose names are still to be had, as many as may be made. */
function freshKeys(
  keys: readonly string[],
  made: readonly MadePart[],
  template: DivisionTemplate,
  reserved: readonly string[],
): readonly string[] {
  const names = new Set([...made.map(({ table }) => table), ...reserved]);
  const fresh = keys.filter((key) => {
    const name = madeName(template.table, key);
    if (name === undefined || names.has(name)) return false;
    names.add(name);
    return true;
  });
  return fresh.slice(0, Math.max(0, template.max - made.length));
}

function keyOf(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
