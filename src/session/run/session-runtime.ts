import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { HeldRelation, OpenEngine } from '../../engine/engine.ts';
import type { StatementTime } from '../../expr/time-zone.ts';
import type { KafkaClient } from '../../kafka/client.ts';
import type { OpenObjectStore } from '../../storage/object-store.ts';
import type { SessionConf } from '../conf/session-conf.ts';
import type { SessionTables } from '../names/session-tables.ts';
import type { LiveTables } from '../plan/live-table.ts';
import type { Plan } from '../plan/plan.ts';

/** What a session gives to its DataFrames, readers and writers. */
export interface SessionRuntime {
  readonly openEngine: OpenEngine;
  readonly openStore: OpenObjectStore;
  readonly clock: Clock;
  /** Of this product: what views say that they were made by. */
  readonly version: string;
  /** The present, and the zone of local times. */
  now(): StatementTime;
  readonly ids: IdSource;
  readonly conf: SessionConf;
  readonly tables: SessionTables;
  /** Temporary views by lower-case name. */
  readonly views: Map<string, Plan>;
  /** Where `show`, `printSchema` and `explain` print. */
  readonly print: (text: string) => void;
  /** A tag no other DataFrame of the session has. */
  nextFrame(): string;
  /** Rows kept by `cache`, to be let go when the session stops. */
  readonly kept: Set<HeldRelation>;
  /** Streaming queries, to be stopped when the session stops. */
  readonly queries: Set<{ readonly isActive: boolean; stop(): Promise<void> }>;
  /** Tables of pipelines with what their topics hold behind them. */
  readonly live?: LiveTables | undefined;
  /** A client of the brokers (`host:port,…`) for streams that go to topics. */
  readonly openKafka?: ((servers: string) => KafkaClient) | undefined;
  /** @throws AnalysisException `SESSION_STOPPED`. */
  assertRunning(): void;
}
