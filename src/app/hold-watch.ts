import type { HoldStatus } from '../admin/status.ts';
import { describeError } from '../base/errors.ts';
import type { CappedHolds, HoldState } from '../maintenance/capped-holds.ts';
import type { HealthReporter } from '../observability/health.ts';
import type { Components } from './components.ts';
import { noteHolds } from './reader-notes.ts';
import { tableHolds } from './table-holds.ts';

const lookIntervalMs = 60_000;

/** Looks who holds retention back, and tells of those that do for too long before anything is deleted behind their back. */
export class HoldWatch {
  readonly watermarks: CappedHolds;
  readonly #components: Components;
  readonly #reporter: HealthReporter;
  readonly #seen = new Map<string, readonly HoldState[]>();

  constructor(components: Components) {
    this.#components = components;
    this.#reporter = components.health.component('feed holds', { requiredForReadiness: false });
    this.#reporter.report('running');
    this.watermarks = tableHolds(components, (table, holds) => {
      this.#looked(table, holds);
      return noteHolds(components, table, holds).catch((error: unknown) => {
        components.logger.debug('readers not noted', { table, err: error });
      });
    });
  }

  /** As of the newest look at each table. */
  get statuses(): readonly HoldStatus[] {
    return [...this.#seen].flatMap(([table, holds]) => holds.map((hold) => ({ table, ...factsOf(hold) })));
  }

  /** Looks until the signal fires; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { tables, clock, logger } = this.#components;
    while (!signal.aborted) {
      for (const { name } of tables.all) {
        await this.watermarks.look(name).catch((error: unknown) => {
          logger.debug('holds not looked for', { table: name, detail: describeError(error) });
        });
      }
      await clock.sleep(lookIntervalMs, signal).catch(() => undefined);
    }
  }

  #looked(table: string, holds: readonly HoldState[]): void {
    const { metrics, logger } = this.#components;
    const before = new Map(this.#seen.get(table)?.map((hold) => [hold.by, hold]));
    this.#seen.set(table, holds);
    metrics.maintenance.holdAge.set(Math.max(0, ...holds.map(({ ageMs }) => ageMs)) / 1000, { table });
    metrics.maintenance.holdsOver.set(holds.filter(({ isOver }) => isOver).length, { table });
    metrics.maintenance.holdsReleased.set(holds.filter(({ isReleased }) => isReleased).length, { table });
    for (const hold of holds) {
      const last = before.get(hold.by);
      const facts = { table, ...factsOf(hold) };
      if (hold.isReleased && last?.isReleased !== true) {
        logger.error('retention does not wait for a reader any more: the versions that it has yet to read may be deleted', facts);
      } else if (hold.isOver && last?.isOver !== true) {
        logger.warn(
          'a reader holds vacuum, expiry and log cleanup back for longer, or for more bytes, than maintenance.feedHold allows',
          facts,
        );
      } else if (!hold.isOver && last?.isOver === true) logger.info('a reader does not hold retention back any more', facts);
    }
    const over = [...this.#seen].flatMap(([name, states]) =>
      states.filter(({ isOver }) => isOver).map(({ by }) => `${by} (table ${name})`),
    );
    if (over.length === 0) this.#reporter.report('running');
    else this.#reporter.report('degraded', `retention waits, or does not wait any more, for ${over.join(', ')}`);
  }
}

function factsOf({ by, fromVersion, versions, ageMs, bytes, isOver, isReleased }: HoldState): Omit<HoldStatus, 'table'> {
  return { by, fromVersion, versions, ageSeconds: Math.round(ageMs / 1000), ...(bytes === undefined ? {} : { bytes }), isOver, isReleased };
}
