import { EndWatch } from '../ingest/end-watch.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import { parseAccounting } from '../protocol/commit-accounting.ts';
import type { Table } from '../table/table.ts';
import type { Components } from './components.ts';
import { topicsOfTable } from './route-sources.ts';
import { TopicIdentities } from './topic-identities.ts';

/** Through which time the tables that this process writes are whole: in their commits, and in metrics while nothing is committed. */
export class TableTimes {
  readonly #components: Components;
  readonly #watch: EndWatch;
  readonly #tables = new Map<string, () => number | undefined>();

  constructor(components: Components) {
    const { kafka, clock, config, metrics } = components;
    this.#components = components;
    this.#watch = new EndWatch({
      admin: kafka.admin,
      identities: new TopicIdentities({ admin: kafka.admin, pipeline: config.pipeline }),
      clock,
      onSeen: () => {
        for (const [table, known] of this.#tables) {
          const timeMs = known();
          if (timeMs !== undefined) metrics.ingest.validThrough.set(timeMs / 1000, { table });
        }
      },
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#watch.run(signal);
  }

  /** What its commits ask. */
  ofRoute(table: string, route: RouteSettings): (marks: ReadonlyMap<string, bigint>) => number | undefined {
    const { pipeline } = this.#components.config;
    const ask = (marks: ReadonlyMap<string, bigint>): number | undefined =>
      this.#watch.validThrough(table, topicsOfTable(route, pipeline, marks), marks);
    // So that its topics are looked at before its first commit.
    ask(new Map());
    return ask;
  }

  /** `sink`: knows of the newest version known here. */
  track(table: string, sink: { readonly validThrough: number | undefined }): void {
    this.#tables.set(table, () => sink.validThrough);
  }

  of(table: string): number | undefined {
    return this.#tables.get(table)?.();
  }
}

/** The newest versions that are looked at: those of maintenance and of others say nothing. */
const maxLooked = 256;

/** What the commits of a pipeline say of the table; `undefined`: none of the newest does, or the table was put back since. */
export async function storedValidThrough(table: Table, pipeline: string, signal?: AbortSignal): Promise<number | undefined> {
  for (const { operation, userMetadata } of await table.history({ limit: maxLooked }, signal)) {
    if (operation === 'RESTORE') return undefined;
    const accounting = parseAccounting(userMetadata);
    if (accounting?.pipeline === pipeline && accounting.validThrough !== undefined) return accounting.validThrough;
  }
  return undefined;
}
