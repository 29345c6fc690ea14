import { assert } from '../base/assert.ts';
import { describeError, describeFailure, type ServiceError, serviceError } from '../base/errors.ts';
import type { TableSettings } from '../config/table-settings.ts';
import type { HealthReporter } from '../observability/health.ts';
import type { Table } from '../table/table.ts';
import type { LeaderTable, TwinTable } from '../table/twin.ts';
import { type SharedTable, TwinFollower } from '../twin/twin-follower.ts';
import type { TwinStatus } from '../twin/twin-observer.ts';
import { adaptTwin } from './adapt-twin.ts';
import type { Components } from './components.ts';
import { observeTwin } from './observe/observe-twin.ts';
import { supervisePart } from './supervise.ts';
import { twinDefinition } from './twin-definition.ts';

/** A commit of this process wakes a twin; of what others commit it hears so often. */
const pollIntervalMs = 2_000;

/** The twins of the pipeline's tables, each under its own supervision. Every replica that ingests follows; a version is shown by one of them. */
export class TwinRole {
  readonly #components: Components;
  readonly #settings: readonly TableSettings[];
  readonly #followers = new Map<string, TwinFollower>();

  constructor(components: Components) {
    this.#components = components;
    this.#settings = components.config.tables.filter(({ twinOf }) => twinOf !== undefined);
  }

  get statuses(): readonly TwinStatus[] {
    return [...this.#followers.values()].map(({ status }) => status);
  }

  /** Runs until `signal` fires; a commit that has begun is finished first. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#settings.map((settings) => this.#supervise(settings, signal)));
  }

  /** Resolves when every twin shows what its leader has as of the call, or cannot. */
  async drain(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#followers.values()].map((follower) => follower.drain(signal)));
  }

  #supervise(settings: TableSettings, signal: AbortSignal): Promise<void> {
    const table = settings.name;
    const reporter = this.#components.health.component(`twin:${table}`);
    return supervisePart(this.#components, {
      run: (runSignal) => this.#follow(settings, reporter, runSignal),
      signal,
      reporter,
      labels: { table },
      says: { restarts: 'twin stopped and starts again', standsStill: 'twin stands still until somebody acts' },
    });
  }

  async #follow({ name, twinOf, definition }: TableSettings, reporter: HealthReporter, signal: AbortSignal): Promise<void> {
    const { catalog, events, clock, metrics, logger } = this.#components;
    assert(twinOf !== undefined, 'a twin has a leader');
    const leader = asLeader(await catalog.loadOrCreate(twinOf, signal));
    const made = await twinDefinition(leader, definition.properties, signal);
    const table = await catalog.loadOrCreate(name, signal, made);
    const observer = observeTwin(name, metrics.twin, logger);
    const evolved = (what: string): void => {
      logger.info('twin follows a change of its leader', { table: name, change: what });
    };
    const follower = new TwinFollower({
      leader,
      twin: asTwin(table),
      adapt: adaptTwin(table, { evolved }),
      events,
      clock,
      observer: {
        ...observer,
        state: (state, error) => {
          observer.state(state, error);
          if (state === 'standing') reporter.report('failed', describeFailure(error));
          else reporter.report('running', state === 'retrying' ? describeError(error) : undefined);
        },
      },
      pollIntervalMs,
    });
    this.#followers.set(name, follower);
    await follower.run(signal);
  }
}

function asLeader(table: Table): SharedTable<LeaderTable> {
  const { leader: part } = table;
  if (part === undefined) throw notShared(table, 'shares its files with no other format');
  return { table, part };
}

function asTwin(table: Table): SharedTable<TwinTable> {
  const { twin: part } = table;
  if (part === undefined) throw notShared(table, 'cannot show the files of another format');
  return { table, part };
}

function notShared({ name, format }: Table, why: string): ServiceError {
  return serviceError.unsupported('TWIN_UNSUPPORTED', `table "${name}" of format ${format} ${why}`, {
    hint: 'a Delta table can have an Iceberg table as its twin',
  });
}
