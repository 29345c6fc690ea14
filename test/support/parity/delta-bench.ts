import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSession, type DataFrame, type Row, type Session } from '../../../src/index.ts';
import { missingTool, obtainEngines } from '../../engines/engines.ts';
import { Oracle, sortedLines } from '../../engines/oracle.ts';
import { canonicalRow } from '../../engines/support/canonical-rows.ts';
import { removeDirectory, temporaryDirectory } from '../servers.ts';

type Config = Readonly<Record<string, string | number | boolean>>;

export interface AgreeOptions {
  /** The version that is compared; default: the newest. */
  readonly version?: number | undefined;
  /** Engines that cannot read what the table uses are left out. Default: delta-rs and DuckDB. */
  readonly engines?: readonly ('delta-rs' | 'duckdb' | 'spark')[] | undefined;
  /** Files that no version refers to are no finding. */
  readonly allowOrphans?: boolean;
}

/** A session with a directory of its own, and the other engines, for the tests of one file. */
export interface DeltaBench {
  readonly session: Session;
  /** Other engines; `undefined` where they are missing. */
  readonly oracle: Oracle | undefined;
  /** Another session over the same directory; it is stopped with the bench. */
  readonly another: (config?: Config) => Session;
  /** The place of a table of that name. */
  readonly path: (name: string) => string;
  /** The same as SQL has it: `` delta.`/path` ``. */
  readonly at: (name: string) => string;
  /** The rows a statement gives. */
  readonly sql: (text: string) => Promise<readonly Row[]>;
  /** The rows of a table at a path, in the order of a column. */
  readonly rows: (name: string, orderBy?: string) => Promise<readonly Row[]>;
  /** The newest entry of a table's history. */
  readonly lastEntry: (name: string) => Promise<Row>;
  /** The number of the newest version. */
  readonly version: (name: string) => Promise<number>;
  /** Names of the files in the table's log. */
  readonly log: (name: string) => readonly string[];
  /** The actions of one version. */
  readonly commit: (name: string, version: number) => readonly Readonly<Record<string, Readonly<Record<string, unknown>>>>[];
  /** What `show` and its kin printed. */
  readonly printed: () => string;
  /** Expects other engines to read the rows we read, and the table to keep the rules of the protocol. */
  readonly agree: (name: string, options?: AgreeOptions) => Promise<void>;
}

const setUpMs = 900_000;

/**
 * Sets a bench up for the tests of the `describe` block it is called in.
 *
 * @param options.spark whether tests ask Spark, which takes long to start: it is started before them.
 */
export function deltaBench(config: Config = {}, { spark = false }: { readonly spark?: boolean } = {}): () => DeltaBench {
  let bench: Bench | undefined;
  beforeAll(async () => {
    bench = new Bench(await startOracle(), config);
    if (spark) await bench.oracle?.sql('SELECT 1');
  }, setUpMs);
  afterAll(async () => {
    await bench?.close();
  });
  return () => {
    if (bench === undefined) throw new Error('the bench is there during tests only');
    return bench;
  };
}

/** The text in a column of a row; fails when it is something else. */
export function textIn(row: Row | undefined, column: string): string {
  const value = row?.[column];
  if (typeof value === 'string') return value;
  throw new Error(`column ${column} is not text`);
}

async function startOracle(): Promise<Oracle | undefined> {
  const missing = await missingTool();
  if (missing === undefined) return Oracle.start(await obtainEngines());
  if (process.env['CI'] !== undefined) throw new Error(`other engines cannot be tested: ${missing} is missing`);
  console.error(`SKIPPED: ${missing} is missing, NO other engine has read our tables`);
  return undefined;
}

class Bench implements DeltaBench {
  readonly session: Session;
  readonly oracle: Oracle | undefined;
  readonly #directory = temporaryDirectory('parity');
  readonly #sessions: Session[] = [];
  readonly #printed: string[] = [];

  constructor(oracle: Oracle | undefined, config: Config) {
    this.oracle = oracle;
    this.session = this.another(config);
  }

  readonly another = (config: Config = {}): Session => {
    const session = createSession({
      config: { 'spark.sql.warehouse.dir': join(this.#directory, 'warehouse'), 'tidewater.engine.threads': 2, ...config },
      print: (text) => {
        this.#printed.push(text);
      },
    });
    this.#sessions.push(session);
    return session;
  };

  readonly path = (name: string): string => {
    return join(this.#directory, name);
  };

  readonly at = (name: string): string => {
    return `delta.\`${this.path(name)}\``;
  };

  readonly sql = async (text: string): Promise<readonly Row[]> => {
    return (await this.session.sql(text)).collect();
  };

  readonly rows = (name: string, orderBy: string = 'id'): Promise<readonly Row[]> => {
    return this.#frame(name).orderBy(orderBy).collect();
  };

  readonly lastEntry = async (name: string): Promise<Row> => {
    const [entry = {}] = await this.sql(`DESCRIBE HISTORY ${this.at(name)} LIMIT 1`);
    return entry;
  };

  readonly version = async (name: string): Promise<number> => {
    return Number((await this.lastEntry(name))['version']);
  };

  readonly log = (name: string): readonly string[] => {
    const directory = join(this.path(name), '_delta_log');
    return existsSync(directory) ? readdirSync(directory).sort() : [];
  };

  readonly commit = (name: string, version: number): ReturnType<DeltaBench['commit']> => {
    return readFileSync(join(this.path(name), '_delta_log', `${String(version).padStart(20, '0')}.json`), 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Readonly<Record<string, Readonly<Record<string, unknown>>>>);
  };

  readonly printed = (): string => {
    return this.#printed.join('');
  };

  readonly agree = async (name: string, { version, engines = ['delta-rs', 'duckdb'], allowOrphans }: AgreeOptions = {}): Promise<void> => {
    if (this.oracle === undefined) return;
    const ours = sortedLines((await this.#frame(name, version).collect()).map(canonicalRow));
    for (const engine of engines) {
      expect([engine, ...sortedLines(await this.oracle.rows(engine, this.path(name), { version }))]).toEqual([engine, ...ours]);
    }
    expect(await this.oracle.check(this.path(name), allowOrphans === undefined ? {} : { allowOrphans })).toEqual([]);
  };

  async close(): Promise<void> {
    for (const session of this.#sessions) await session.stop();
    await this.oracle?.stop();
    removeDirectory(this.#directory);
  }

  #frame(name: string, version?: number): DataFrame {
    const reader = this.session.read.format('delta');
    return (version === undefined ? reader : reader.option('versionAsOf', version)).load(this.path(name));
  }
}
