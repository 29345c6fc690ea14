import { printJson } from '../base/bigint-json.ts';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { OpenEngine } from '../engine/engine.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { FileRewriter } from '../table/operations.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import { printActions } from './action-json.ts';
import { DeltaLog } from './delta-log.ts';
import { DeltaTable } from './delta-table.ts';
import type { ParquetRowCodec } from './log/codec.ts';
import { commitPath } from './log/log-names.ts';
import { parquetRows } from './log/parquet-rows.ts';
import { firstActions } from './table-definition.ts';

export interface DeltaTablesParts {
  /** The store a table lies in; retries reads but never `putIfAbsent`. */
  readonly openStore: (location: string) => ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Version of this program, for the history of tables. */
  readonly version: string;
  readonly rewriter: FileRewriter;
  /** For row operations and queries; without it they are refused. */
  readonly engine?: OpenEngine | undefined;
  /** For tables that do not say it themselves (`delta.parquet.compression.codec`). Default zstd. */
  readonly compression?: WriteSpec['compression'] | undefined;
  /** Default: the Parquet codec of this process. */
  readonly codec?: ParquetRowCodec | undefined;
  readonly failpoint?: Failpoint | undefined;
}

/** Opens and creates Delta tables. */
export class DeltaTables {
  readonly #parts: DeltaTablesParts;

  constructor(parts: DeltaTablesParts) {
    this.#parts = parts;
  }

  /** The table, or `undefined` when nothing exists at the location. */
  async open(name: string, location: string, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const log = this.#log(name, location);
    return (await log.find(signal)) === undefined ? undefined : this.#table(log, location);
  }

  /**
   * Creates the table as version 0. Of several racing creators one wins and the others get the winner's table.
   *
   * @throws ServiceError what `firstActions` throws for a definition that no table can have.
   */
  async create(name: string, location: string, definition: TableDefinition, signal?: AbortSignal): Promise<QueryableTable> {
    const log = this.#log(name, location);
    if ((await log.find(signal)) === undefined) await this.#putFirstVersion(log, definition);
    await log.refresh(signal);
    return this.#table(log, location);
  }

  async #putFirstVersion(log: DeltaLog, definition: TableDefinition): Promise<void> {
    const { clock, ids } = this.#parts;
    const nowMs = clock.now();
    const { protocol, metadata } = firstActions(log.name, definition, { tableId: ids.uuid(), nowMs });
    const body = {
      timestamp: nowMs,
      operation: 'CREATE TABLE',
      operationParameters: {
        partitionBy: printJson(definition.partitionColumns),
        clusterBy: '[]',
        description: null,
        isManaged: 'false',
        properties: printJson(metadata.configuration),
      },
      isolationLevel: 'Serializable',
      isBlindAppend: true,
      operationMetrics: {},
      engineInfo: this.#engineInfo(),
      txnId: ids.uuid(),
    };
    try {
      await log.store.putIfAbsent(commitPath(0), printActions([{ kind: 'commitInfo', body }, protocol, metadata]));
    } catch (error) {
      // Whether it landed shows when the table is read, which the caller does in any case.
      if (!isServiceError(error, 'unknown-outcome')) throw error;
    }
  }

  #log(name: string, location: string): DeltaLog {
    const { openStore, clock, codec } = this.#parts;
    return new DeltaLog({ name, store: openStore(location), clock, codec: codec ?? parquetRows });
  }

  #table(log: DeltaLog, location: string): QueryableTable {
    const { clock, random, ids, rewriter, engine, failpoint, compression } = this.#parts;
    return new DeltaTable({ log, location, clock, random, ids, engineInfo: this.#engineInfo(), rewriter, engine, failpoint, compression });
  }

  #engineInfo(): string {
    return `Tidewater/${this.#parts.version}`;
  }
}
