import { isServiceError } from '../base/errors.ts';
import type { TableMaker } from '../ingest/divide/growing-division.ts';
import { LaneReader } from '../ingest/divide/lane-reader.ts';
import type { MemoryLedger } from '../ingest/memory/memory-ledger.ts';
import { consumerGroupOf } from '../ingest/settings.ts';
import type { KafkaClient } from '../kafka/client.ts';
import type { DivisionSpec, DivisionTemplate, RecordDivider } from '../protocol/division.ts';
import type { Components } from './components.ts';

export interface DividedRoutesParts {
  readonly components: Components;
  readonly divider: RecordDivider;
  /** What the process may hold; `undefined`: nothing bounds it. */
  readonly memory: MemoryLedger | undefined;
  /** Told of each table that a template has made, or is found to have made. */
  readonly onMade: (table: string) => void;
}

/** The readers of divided routes: one for each, shared by the ingests of its tables. */
export class DividedRoutes {
  readonly #parts: DividedRoutesParts;
  readonly #readers = new Map<DivisionSpec, LaneReader>();
  readonly #toldFull = new Set<DivisionSpec>();

  constructor(parts: DividedRoutesParts) {
    this.#parts = parts;
  }

  /** What reads the topics of a route for all of its tables, as it looks to one of them. */
  kafkaOf(table: string, spec: DivisionSpec): Pick<KafkaClient, 'admin' | 'consumer'> {
    const reader = this.readerOf(spec);
    return { admin: this.#parts.components.kafka.admin, consumer: (options) => reader.consumer(table, options) };
  }

  /** Tables that were made before, so that they are read for from the start; those not found now are when the one they are made like is. */
  async findMade(signal: AbortSignal): Promise<void> {
    const { tables, config, logger } = this.#parts.components;
    const specs = new Set(config.ingest.routes.flatMap(({ divided }) => divided?.spec ?? []));
    for (const spec of specs) {
      if (spec.template === undefined) continue;
      try {
        this.readerOf(spec).add(await tables.known(spec, signal));
      } catch (error) {
        if (!isServiceError(error)) throw error;
        logger.warn('tables that were made are looked for again later', { like: spec.template.like, err: error });
      }
    }
  }

  readerOf(spec: DivisionSpec): LaneReader {
    const { components, divider, memory, onMade } = this.#parts;
    const { config, kafka, clock, logger, tables } = components;
    const { groupId, deadLetters } = config.ingest;
    const known = this.#readers.get(spec);
    if (known !== undefined) return known;
    const { template } = spec;
    const reader = new LaneReader({
      ...{ kafka, clock, divider, memory },
      division: template === undefined ? spec : { ...spec, template: { ...template, reserved: tables.reserved } },
      groupId: consumerGroupOf(groupId, spec),
      isWhole: (topic) => topic === deadLetters.replayTopic,
      onLeftBehind: (table, at) => {
        logger.warn('table takes nothing more, the others of its route go on without it', { table, ...at });
      },
      ...(template === undefined ? {} : { maker: this.#makerOf(spec, template) }),
      onMade: (made) => {
        for (const { table } of made) onMade(table);
      },
      onNotMade: (keys, error) => {
        logger.warn('tables could not be made, it is tried again', { like: template?.like, keys: shownKeys(keys), err: error });
      },
    });
    this.#readers.set(spec, reader);
    return reader;
  }

  #makerOf(spec: DivisionSpec, template: DivisionTemplate): TableMaker {
    const { tables, logger } = this.#parts.components;
    return {
      known: (signal) => tables.known(spec, signal),
      make: async (keys, signal) => {
        const made = await tables.make(spec, keys, signal);
        const without = keys.filter((key) => !made.parts.some((part) => part.key === key));
        for (const { table, key } of made.parts) if (keys.includes(key)) logger.info('table is made', { table, key, like: template.like });
        if (made.isFull && without.length > 0 && !this.#toldFull.has(spec)) {
          this.#toldFull.add(spec);
          const hint = 'records of further keys are handled by divide.unmatched; raise divide.template.max if they are to have tables';
          logger.warn('no more tables are made, there are as many as divide.template.max allows', {
            ...{ like: template.like, max: template.max, keys: shownKeys(without), hint },
          });
        }
        return made;
      },
    };
  }
}

const maxShownKeys = 10;

function shownKeys(keys: readonly string[]): string {
  return [...keys.slice(0, maxShownKeys), ...(keys.length > maxShownKeys ? ['…'] : [])].join(', ');
}
