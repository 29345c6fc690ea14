import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Failpoint, inertFailpoint } from '../../src/base/failpoint.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { DeltaTable } from '../../src/delta/delta-table.ts';
import { CloneSources, DeltaTables } from '../../src/delta/delta-tables.ts';
import { DuckdbEngine } from '../../src/engine/duckdb-engine.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { parseSchema } from '../../src/expr/parse/parse-type.ts';
import { sqlText } from '../../src/expr/sql/engine-sql.ts';
import { LocalObjectStore } from '../../src/storage/local-object-store.ts';
import type { Relation } from '../../src/table/relation.ts';
import type { QueryableTable } from '../../src/table/table.ts';
import type { Version } from '../../src/table/version.ts';

/** Delta tables in a temporary directory with a real engine; removed by `close`. */
export class LocalTables {
  readonly directory: string;
  readonly engine: DuckdbEngine;
  readonly ids: RandomIdSource = new RandomIdSource(new SystemRandom());
  readonly clock: SystemClock = new SystemClock();

  readonly #cloneSources = new CloneSources();

  private constructor(directory: string, engine: DuckdbEngine) {
    this.directory = directory;
    this.engine = engine;
  }

  static async open(options: { readonly memoryLimitBytes?: number } = {}): Promise<LocalTables> {
    const directory = await mkdtemp(join(tmpdir(), 'tidewater-tables-'));
    const ids = new RandomIdSource(new SystemRandom());
    const memoryLimitBytes = options.memoryLimitBytes ?? 256 << 20;
    return new LocalTables(directory, await DuckdbEngine.open({ memoryLimitBytes, threads: 2, temporaryDirectory: directory, ids }));
  }

  async close(): Promise<void> {
    await this.engine.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  /** A driver, as one process has it. */
  driver(failpoint: Failpoint = inertFailpoint, engine: Engine = this.engine, allowedLocations: readonly string[] = []): DeltaTables {
    const { ids, clock } = this;
    return new DeltaTables({
      openStore: (location) => new LocalObjectStore({ directory: location, ids }),
      clock,
      random: new SystemRandom(),
      ids,
      version: 'test',
      rewriter: { rewrite: () => Promise.reject(new TypeError('the engine rewrites local files')) },
      engine: () => Promise.resolve(engine),
      failpoint,
      allowedLocations,
      cloneSources: this.#cloneSources,
    });
  }

  async create(
    name: string,
    columns: string,
    options: { readonly partitionBy?: readonly string[]; readonly properties?: Readonly<Record<string, string>> } = {},
  ): Promise<DeltaTable> {
    const { table } = await this.driver().createTable({
      name,
      location: this.path(name),
      definition: { schema: parseSchema(columns), partitionColumns: options.partitionBy ?? [], properties: options.properties ?? {} },
      mode: 'create',
    });
    return asDelta(table);
  }

  async open(name: string, failpoint?: Failpoint, engine?: Engine): Promise<DeltaTable> {
    const table = await this.driver(failpoint, engine).open(name, this.path(name));
    if (table === undefined) throw new TypeError(`no table ${name}`);
    return asDelta(table);
  }

  /** Rows of a query of the engine, as a relation. */
  async query(sql: string): Promise<Relation> {
    return { sql, schema: await this.engine.describe(sql) };
  }

  async append(table: QueryableTable, sql: string): Promise<void> {
    await table.operations.write({ rows: await this.query(sql), mode: { kind: 'append' }, storeAssignment: true });
  }

  /** The table's rows at a version (default: the newest), as JSON texts in order. */
  async rows(table: QueryableTable, version?: Version): Promise<readonly string[]> {
    const snapshot = version === undefined ? await table.refresh() : await table.snapshotAt(version);
    const relation = await this.engine.scan(await table.scan(snapshot));
    try {
      const found = await this.engine.rows(`SELECT CAST(to_json(t) AS VARCHAR) FROM (${relation.sql}) t ORDER BY 1`);
      return found.map(([text]) => String(text));
    } finally {
      await relation.dispose();
    }
  }

  /** Writes a plain Parquet file below the directory. */
  async parquet(path: string, sql: string): Promise<void> {
    await this.engine.writeParquet(await this.query(sql), {
      directory: this.directory,
      pathOf: () => path,
      partitionBy: [],
      compression: 'snappy',
    });
  }

  text(value: string): string {
    return sqlText(value);
  }
}

function asDelta(table: QueryableTable): DeltaTable {
  if (table instanceof DeltaTable) return table;
  throw new TypeError('the driver makes Delta tables');
}
