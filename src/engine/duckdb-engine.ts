import { mkdir, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DuckDBInstance } from '@duckdb/node-api';
import { throwIfAborted } from '../base/abort.ts';
import { serviceError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import { LocalFileCache } from '../storage/local-file-cache.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';
import type { Relation } from '../table/relation.ts';
import type { FileScan } from '../table/scan.ts';
import { Connections } from './connections.ts';
import { type DuckdbModules, loadDuckdb } from './duckdb-modules.ts';
import {
  type Engine,
  type HeldRelation,
  type ParquetTarget,
  type PreparedRows,
  raiseFunction,
  type ScanOptions,
  type WrittenFile,
} from './engine.ts';
import { engineError } from './engine-errors.ts';
import { registerGeneratedSizeFunction } from './generated-size-function.ts';
import { registerHashFunctions } from './hash-functions.ts';
import { registerRandomFunctions } from './random-functions.ts';
import { heldSchema, RelationNames } from './relation-names.ts';
import { RowQuery } from './row-query.ts';
import { holdRows } from './rows/hold-rows.ts';
import { readRows, schemaOf } from './rows/read-rows.ts';
import { localCopies } from './scan/local-copies.ts';
import { type ScanGroup, samePartitionValues, scanGroups } from './scan/scan-groups.ts';
import { type HeldGroup, scanSql } from './scan/scan-sql.ts';
import {
  factsBatch,
  factsSchema,
  givenRowBatches,
  givenRowsSchema,
  partitionBatches,
  partitionsSchema,
  positionBatches,
  positionsSchema,
} from './scan/scan-tables.ts';
import { registerTextFunctions } from './text-functions.ts';
import { registerVariantFunctions } from './variant-functions.ts';
import { rowGroupRowsFor } from './write/copy-sql.ts';
import { writeParquetFiles } from './write/write-parquet.ts';
import { writeToStore } from './write/write-to-store.ts';

export interface DuckdbEngineOptions {
  /** Memory the engine may use before it spills. */
  readonly memoryLimitBytes: number;
  /** Threads of its own. Default: one for each processor. */
  readonly threads?: number | undefined;
  /** Where it spills: a directory of this engine's own is made in it, and removed when the engine closes. */
  readonly temporaryDirectory: string;
  /** Most bytes it may spill. Default: what the disk has. */
  readonly maxTemporaryBytes?: number | undefined;
  /** Most bytes of files of other stores kept beside it, as local copies. Default 16 GiB. */
  readonly fileCacheBytes?: number | undefined;
  /** Opens files that lie elsewhere and whose scan does not say how. Default: only local ones are opened. */
  readonly openStore?: OpenObjectStore | undefined;
  readonly ids: IdSource;
}

const minMemoryLimitBytes = 64 * 2 ** 20;
const defaultFileCacheBytes = 16 * 2 ** 30;
// Partitions a write keeps open; beyond it one is closed, and its rows come in several files that are joined afterwards.
const maxOpenPartitions = 1_000;

interface DuckdbEngineParts {
  readonly modules: DuckdbModules;
  readonly instance: DuckDBInstance;
  readonly spillDirectory: string;
  readonly ids: IdSource;
  readonly rowGroupRows: number;
  readonly fileCacheBytes: number;
  readonly openStore: OpenObjectStore | undefined;
}

/**
 * The engine on an in-memory DuckDB. Its calls block threads of libuv's pool while they run: `UV_THREADPOOL_SIZE` bounds how many run at
 * once, and the process sets it.
 *
 * Nothing is loaded from elsewhere: extensions are neither installed nor loaded, and the settings are locked after the start.
 */
export class DuckdbEngine implements Engine {
  readonly #parts: DuckdbEngineParts;
  readonly #connections: Connections;
  readonly #names = new RelationNames();
  readonly #cache: LocalFileCache;
  #closing: Promise<void> | undefined;

  private constructor(parts: DuckdbEngineParts) {
    this.#parts = parts;
    this.#connections = new Connections(parts.instance, []);
    this.#cache = new LocalFileCache({ directory: join(parts.spillDirectory, 'copies'), maxBytes: parts.fileCacheBytes });
  }

  /** Starts an engine. The caller closes it. @throws ServiceError `ENGINE_OPTIONS_INVALID`, `ENGINE_UNAVAILABLE`. */
  static async open(options: DuckdbEngineOptions): Promise<DuckdbEngine> {
    if (options.memoryLimitBytes < minMemoryLimitBytes) {
      throw serviceError.invalid(
        'ENGINE_OPTIONS_INVALID',
        `a memory limit of ${options.memoryLimitBytes} bytes is below ${minMemoryLimitBytes}`,
      );
    }
    const modules = await loadDuckdb();
    const threads = options.threads ?? availableParallelism();
    const rowGroupRows = rowGroupRowsFor({ memoryLimitBytes: options.memoryLimitBytes, threads });
    const spillDirectory = join(options.temporaryDirectory, `tidewater-engine-${options.ids.uuid()}`);
    await mkdir(spillDirectory, { recursive: true, mode: 0o700 });
    try {
      const instance = await modules.api.DuckDBInstance.create(':memory:', {
        threads: String(threads),
        memory_limit: `${Math.floor(options.memoryLimitBytes)}B`,
        temp_directory: spillDirectory,
        ...(options.maxTemporaryBytes === undefined ? {} : { max_temp_directory_size: `${Math.floor(options.maxTemporaryBytes)}B` }),
        autoinstall_known_extensions: 'false',
        autoload_known_extensions: 'false',
        allow_community_extensions: 'false',
        allow_unsigned_extensions: 'false',
      });
      const engine = new DuckdbEngine({
        modules,
        instance,
        spillDirectory,
        ids: options.ids,
        rowGroupRows,
        fileCacheBytes: options.fileCacheBytes ?? defaultFileCacheBytes,
        openStore: options.openStore,
      });
      await engine.#start();
      return engine;
    } catch (error) {
      await rm(spillDirectory, { recursive: true, force: true });
      throw engineError(error);
    }
  }

  async scan(scan: FileScan, options: ScanOptions = {}, signal?: AbortSignal): Promise<HeldRelation> {
    throwIfAborted(signal);
    const copies = await localCopies(scan, { cache: this.#cache, openStore: this.#parts.openStore }, signal);
    const held: string[] = [];
    try {
      const groups: HeldGroup[] = [];
      for (const group of scanGroups(scan, copies.paths)) groups.push(await this.#holdGroup(scan, group, held, signal));
      const hasDeleted = options.withDeletedRows !== true && scan.files.some((file) => file.deletedRows !== undefined);
      const deleted = hasDeleted
        ? await this.#holdTable('deleted', positionsSchema, positionBatches(scan, 'deletedRows', signal), held, signal)
        : undefined;
      const hasOnly = scan.files.some((file) => file.onlyRows !== undefined);
      const only = hasOnly
        ? await this.#holdTable('only', positionsSchema, positionBatches(scan, 'onlyRows', signal), held, signal)
        : undefined;
      const facts =
        scan.facts === undefined
          ? undefined
          : await this.#holdTable('facts', factsSchema(scan.facts), [factsBatch(scan.facts)], held, signal);
      const view = this.#names.next('scan');
      const sql = scanSql(scan, groups, { deleted, only, facts }, options);
      this.#connections.scans(
        view,
        scan.files.map(({ path }) => path),
      );
      held.push(`VIEW ${view}`);
      await this.#connections.use((connection) => connection.run(`CREATE VIEW ${view} AS ${sql}`), signal, view);
      return this.#heldRelation(view, scan.schema, held, copies.release);
    } catch (error) {
      copies.release();
      await this.#drop(held);
      throw error;
    }
  }

  async materialize(relation: Relation, signal?: AbortSignal): Promise<HeldRelation> {
    const table = this.#names.next('rows');
    await this.#connections.use((connection) => connection.run(`CREATE TABLE ${table} AS ${relation.sql}`), signal, relation.sql);
    return this.#heldRelation(table, relation.schema, [`TABLE ${table}`]);
  }

  async hold(schema: StructType, batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>, signal?: AbortSignal): Promise<HeldRelation> {
    const held: string[] = [];
    try {
      const table = await this.#holdTable('rows', schema, batches, held, signal);
      return this.#heldRelation(table, schema, held);
    } catch (error) {
      await this.#drop(held);
      throw error;
    }
  }

  read(relation: Relation, signal?: AbortSignal): AsyncIterable<ColumnBatch> {
    return readRows(this.#parts.modules, this.#connections, relation, signal);
  }

  describe(sql: string, signal?: AbortSignal): Promise<StructType> {
    return this.#connections.use(async (connection) => {
      const statement = await connection.prepare(sql);
      try {
        return schemaOf(this.#parts.modules, statement);
      } finally {
        statement.destroySync();
      }
    }, signal);
  }

  rows(sql: string, signal?: AbortSignal): Promise<readonly (readonly unknown[])[]> {
    return this.#connections.use(
      async (connection) => {
        const reader = await connection.runAndReadAll(sql);
        const { DuckDBDecimalValue } = this.#parts.modules.api;
        return reader.getRows().map((row) => row.map((value) => (value instanceof DuckDBDecimalValue ? value.toString() : value)));
      },
      signal,
      sql,
    );
  }

  writeParquet(relation: Relation, target: ParquetTarget, signal?: AbortSignal): Promise<readonly WrittenFile[]> {
    const { store } = target;
    if (store === undefined) return this.#writeFiles(relation, target, signal);
    const directory = join(this.#parts.spillDirectory, `upload-${this.#parts.ids.uuid()}`);
    return writeToStore({ store, directory }, () => this.#writeFiles(relation, { ...target, directory }, signal), signal);
  }

  #writeFiles(relation: Relation, target: ParquetTarget, signal: AbortSignal | undefined): Promise<readonly WrittenFile[]> {
    return this.#connections.use(
      (connection) =>
        writeParquetFiles(
          {
            modules: this.#parts.modules,
            connection,
            names: this.#names,
            ids: this.#parts.ids,
            rowGroupRows: this.#parts.rowGroupRows,
            signal,
          },
          relation,
          target,
        ),
      signal,
      relation.sql,
    );
  }

  prepare(given: StructType, query: (source: string) => Relation): Promise<PreparedRows> {
    const name = this.#names.next('given').slice(heldSchema.length + 1);
    return RowQuery.prepare({ modules: this.#parts.modules, connections: this.#connections, name }, given, query);
  }

  async explain(relation: Relation, signal?: AbortSignal): Promise<string> {
    const rows = await this.rows(`EXPLAIN ${relation.sql}`, signal);
    return rows.map((row) => String(row[1])).join('\n');
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #start(): Promise<void> {
    await this.#connections.use(async (connection) => {
      await connection.run("SET GLOBAL TimeZone = 'UTC'");
      await connection.run(`SET GLOBAL partitioned_write_max_open_files = ${maxOpenPartitions}`);
      await connection.run(`CREATE SCHEMA ${heldSchema}`);
      await connection.run(
        `CREATE MACRO ${raiseFunction}(place, message) AS CASE WHEN CAST(concat('row ', place) AS INTEGER) IS NULL THEN NULL END`,
      );
      registerHashFunctions(this.#parts.modules, connection);
      registerVariantFunctions(this.#parts.modules, connection);
      registerGeneratedSizeFunction(this.#parts.modules, connection);
      registerTextFunctions(this.#parts.modules, connection);
      registerRandomFunctions(this.#parts.modules, connection);
      await connection.run('SET GLOBAL lock_configuration = true');
    });
  }

  async #end(): Promise<void> {
    this.#connections.close();
    this.#parts.instance.closeSync();
    await this.#cache.close();
    await rm(this.#parts.spillDirectory, { recursive: true, force: true });
  }

  async #holdTable(
    noun: 'rows' | 'files' | 'facts' | 'deleted' | 'only',
    schema: StructType,
    batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
    held: string[],
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const table = this.#names.next(noun);
    held.push(`TABLE ${table}`);
    await this.#connections.use(
      (connection) => holdRows({ modules: this.#parts.modules, connection, table, schema, signal }, batches),
      signal,
    );
    return table;
  }

  async #holdGroup(scan: FileScan, group: ScanGroup, held: string[], signal: AbortSignal | undefined): Promise<HeldGroup> {
    const partitions = samePartitionValues(group)
      ? undefined
      : await this.#holdTable('files', partitionsSchema(group), partitionBatches(group), held, signal);
    const rows = group.given
      ? await this.#holdTable('rows', givenRowsSchema(scan, group), givenRowBatches(scan, group, signal), held, signal)
      : undefined;
    return { ...group, partitions, rows };
  }

  #heldRelation(name: string, schema: StructType, held: readonly string[], onDropped: () => void = () => undefined): HeldRelation {
    let dropped: Promise<void> | undefined;
    return {
      sql: `SELECT * FROM ${name}`,
      schema,
      dispose: () => {
        dropped ??= this.#drop(held).finally(onDropped);
        return dropped;
      },
    };
  }

  async #drop(held: readonly string[]): Promise<void> {
    for (const entry of held) this.#connections.scans(entry.replace('VIEW ', ''), undefined);
    if (this.#closing !== undefined) return;
    await this.#connections.use(async (connection) => {
      for (const entry of held.toReversed()) await connection.run(`DROP ${entry.replace(' ', ' IF EXISTS ')}`);
    });
  }
}
