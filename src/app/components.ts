import type { Clock } from '../base/clock.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { Config } from '../config/settings.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { KafkaClient } from '../kafka/client.ts';
import type { HealthRegistry } from '../observability/health.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { TableEvents } from '../protocol/table-events.ts';
import type { SchemaRegistry } from '../registry/schema-registry.ts';
import type { TableCatalog } from '../table/table.ts';
import type { PipelineTables } from './made-tables.ts';
import type { ProcessMemory } from './process-memory.ts';

/** What every role of a process shares. */
export interface Components {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  readonly failpoint: Failpoint;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: HealthRegistry;
  readonly kafka: KafkaClient;
  readonly catalog: TableCatalog;
  /** Those of the configuration, and those that were made. */
  readonly tables: PipelineTables;
  readonly events: TableEvents;
  /** Schemas that records name; `undefined`: the configuration has no registry. */
  readonly registry: SchemaRegistry | undefined;
  /** The engine of the process. */
  readonly openEngine: OpenEngine;
  /** `undefined`: the process reads no topics. */
  readonly memory: ProcessMemory | undefined;
}
