import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSession, type Row, type Session } from '../../../src/index.ts';
import { type IcebergEngine, IcebergOracle } from '../../engines/iceberg-oracle.ts';
import { sortedLines } from '../../engines/oracle.ts';
import { canonicalRow } from '../../engines/support/canonical-rows.ts';
import { textIn } from '../parity/delta-bench.ts';
import { removeDirectory, temporaryDirectory } from '../servers.ts';

type Config = Readonly<Record<string, string | number | boolean>>;

export interface IcebergAgreeOptions {
  /** Engines that cannot read what the table uses are left out. Default: pyiceberg and DuckDB. */
  readonly engines?: readonly IcebergEngine[] | undefined;
  /** Files that no snapshot refers to are no finding. */
  readonly allowOrphans?: boolean;
}

/** A snapshot as `t.snapshots` shows it, with the summary as an object. */
export interface ShownSnapshot {
  readonly id: bigint;
  readonly parent: bigint | null;
  readonly operation: string;
  readonly summary: Readonly<Record<string, string>>;
}

/** A session whose default catalog `ice` is a directory, with the database `db`, for the tests of one file. */
export interface IcebergBench {
  readonly session: Session;
  readonly directory: string;
  /** Another session over the same directory; it is stopped with the bench. */
  readonly another: (config?: Config) => Session;
  /** The rows a statement gives. */
  readonly sql: (text: string) => Promise<readonly Row[]>;
  /** The rows of a table, in the order of a column. */
  readonly rows: (table: string, orderBy?: string) => Promise<readonly Row[]>;
  /** The snapshots of a table in the order of their commits. */
  readonly snapshots: (table: string) => Promise<readonly ShownSnapshot[]>;
  readonly lastSnapshot: (table: string) => Promise<ShownSnapshot>;
  /** The directory of `db.name`. */
  readonly path: (name: string) => string;
  /** The newest metadata file of `db.name`, by the catalog's hint. */
  readonly metadata: (name: string) => Readonly<Record<string, unknown>>;
  /** Paths of the data files of `db.name` on disk, below the table, in order. */
  readonly dataFiles: (name: string) => readonly string[];
  /** What `show` and its kin printed. */
  readonly printed: () => string;
  /** Expects other engines to read the rows of `db.name` that we read, and the table to keep the rules of the format. */
  readonly agree: (name: string, options?: IcebergAgreeOptions) => Promise<void>;
}

const setUpMs = 900_000;

/** Sets a bench up for the tests of the `describe` block it is called in. */
export function icebergBench(config: Config = {}): () => IcebergBench {
  let bench: Bench | undefined;
  beforeAll(async () => {
    bench = new Bench(await startOracle(), config);
    await bench.sql('CREATE DATABASE db');
  }, setUpMs);
  afterAll(async () => {
    await bench?.close();
  });
  return () => {
    if (bench === undefined) throw new Error('the bench is there during tests only');
    return bench;
  };
}

/** A map that a row holds, as an object. */
export function textMap(value: unknown): Readonly<Record<string, string>> {
  return value instanceof Map ? Object.fromEntries(value as ReadonlyMap<string, string>) : {};
}

function longIn(row: Row, column: string): bigint {
  const value = row[column];
  if (typeof value === 'bigint') return value;
  throw new Error(`column ${column} is no long`);
}

/** The configuration of a catalog `ice` of directories below `directory`, the default one. */
export function directoryCatalog(directory: string): Config {
  return {
    'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
    'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.ice.type': 'hadoop',
    'spark.sql.catalog.ice.warehouse': join(directory, 'ice'),
    'spark.sql.defaultCatalog': 'ice',
  };
}

async function startOracle(): Promise<IcebergOracle | undefined> {
  const oracle = await IcebergOracle.start();
  if (oracle !== undefined) return oracle;
  if (process.env['CI'] !== undefined) throw new Error('other engines cannot be tested: Python 3.10 or later is missing');
  console.error('SKIPPED: Python 3.10 or later is missing, NO other engine has read our tables');
  return undefined;
}

class Bench implements IcebergBench {
  readonly session: Session;
  readonly directory = temporaryDirectory('iceberg-parity');
  readonly #oracle: IcebergOracle | undefined;
  readonly #config: Config;
  readonly #sessions: Session[] = [];
  readonly #printed: string[] = [];

  constructor(oracle: IcebergOracle | undefined, config: Config) {
    this.#oracle = oracle;
    this.#config = config;
    this.session = this.another();
  }

  readonly another = (config: Config = {}): Session => {
    const session = createSession({
      config: { ...directoryCatalog(this.directory), 'tidewater.engine.threads': 2, ...this.#config, ...config },
      print: (text) => {
        this.#printed.push(text);
      },
    });
    this.#sessions.push(session);
    return session;
  };

  readonly sql = async (text: string): Promise<readonly Row[]> => {
    return (await this.session.sql(text)).collect();
  };

  readonly rows = (table: string, orderBy: string = 'id'): Promise<readonly Row[]> => {
    return this.session.table(table).orderBy(orderBy).collect();
  };

  readonly snapshots = async (table: string): Promise<readonly ShownSnapshot[]> => {
    const rows = await this.sql(`SELECT * FROM ${table}.snapshots`);
    return rows.map((row) => ({
      id: longIn(row, 'snapshot_id'),
      parent: row['parent_id'] === null ? null : longIn(row, 'parent_id'),
      operation: textIn(row, 'operation'),
      summary: textMap(row['summary']),
    }));
  };

  readonly lastSnapshot = async (table: string): Promise<ShownSnapshot> => {
    const last = (await this.snapshots(table)).at(-1);
    if (last === undefined) throw new Error(`${table} has no snapshot`);
    return last;
  };

  readonly path = (name: string): string => {
    return join(this.directory, 'ice', 'db', name);
  };

  readonly metadata = (name: string): Readonly<Record<string, unknown>> => {
    const directory = join(this.path(name), 'metadata');
    const version = readFileSync(join(directory, 'version-hint.text'), 'utf8').trim();
    // Ids beyond the safe range stay text.
    const text = readFileSync(join(directory, `v${version}.metadata.json`), 'utf8').replace(/:\s*(-?\d{16,})/g, ':"$1"');
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  };

  readonly dataFiles = (name: string): readonly string[] => {
    const directory = join(this.path(name), 'data');
    if (!existsSync(directory)) return [];
    const found = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return found.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)).sort();
  };

  readonly printed = (): string => {
    return this.#printed.join('');
  };

  readonly agree = async (name: string, { engines = ['pyiceberg', 'duckdb'], allowOrphans }: IcebergAgreeOptions = {}): Promise<void> => {
    if (this.#oracle === undefined) return;
    const ours = sortedLines((await this.session.table(`db.${name}`).collect()).map(canonicalRow));
    for (const engine of engines) {
      expect([engine, ...sortedLines(await this.#oracle.rows(engine, this.path(name)))]).toEqual([engine, ...ours]);
    }
    expect(await this.#oracle.check(this.path(name), allowOrphans === undefined ? {} : { allowOrphans })).toEqual([]);
  };

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.stop();
    await this.#oracle?.stop();
    removeDirectory(this.directory);
  }
}
