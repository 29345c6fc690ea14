import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSession, type Session } from '../../../src/index.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';
import { obtainEngines } from '../engines.ts';
import {
  type CanonicalRow,
  type IcebergReader,
  type IcebergReading,
  Oracle,
  type OracleError,
  type PyIcebergOperation,
  type Reading,
  sortedLines,
} from '../oracle.ts';
import { canonicalRow } from './canonical-rows.ts';
import { enginesMissing } from './engine-bench.ts';

export type Settings = Readonly<Record<string, string>>;

/** One catalog as each program is told of it. */
export interface SharedCatalog {
  readonly name: string;
  /** Keys below `spark.sql.catalog.<name>.`, for Spark and for us. */
  readonly settings: Settings;
  /** Below it are the tables, by namespace and name. */
  readonly directory: string;
  /** What pyiceberg takes, where it speaks to such a catalog. */
  readonly pyiceberg?: Settings | undefined;
}

/** A table in a catalog, and its directory. */
export interface CatalogTable {
  readonly catalog: SharedCatalog;
  /** `namespace.name` */
  readonly name: string;
  readonly path: string;
}

const setUpMs = 900_000;

/** A session of ours, Spark's and pyiceberg over the same catalogs, for the tests of the `describe` block it is called in. */
export function icebergBench(catalogs: (directory: string) => readonly SharedCatalog[]): () => IcebergBench {
  let bench: IcebergBench | undefined;
  beforeAll(async () => {
    if (enginesMissing) return;
    const directory = temporaryDirectory('iceberg-engines');
    const shared = catalogs(directory);
    bench = new IcebergBench(Oracle.start(await obtainEngines()), directory, shared);
    await bench.prepare();
  }, setUpMs);
  afterAll(async () => {
    await bench?.close();
  });
  return () => {
    if (bench === undefined) throw new Error('the bench is there during tests only');
    return bench;
  };
}

/** A SQLite file that Java's JdbcCatalog, pyiceberg's SqlCatalog and ours keep the same tables in. */
export function sqliteCatalog(directory: string, name = 'lake'): SharedCatalog {
  const [database, warehouse] = [join(directory, `${name}.db`), join(directory, name)];
  return {
    name,
    directory: warehouse,
    settings: {
      type: 'jdbc',
      uri: `jdbc:sqlite:file:${database}?busy_timeout=20000`,
      'jdbc.schema-version': 'V1',
      warehouse,
    },
    pyiceberg: { name, type: 'sql', uri: `sqlite:///${database}`, warehouse, init_catalog_tables: 'false' },
  };
}

/** A directory that Java's HadoopCatalog and ours keep tables in. */
export function directoryCatalog(directory: string, name = 'dirs'): SharedCatalog {
  const warehouse = join(directory, name);
  return { name, directory: warehouse, settings: { type: 'hadoop', warehouse } };
}

/** A REST server that Spark, pyiceberg and we speak to. */
export function restCatalog({ uri, warehouse }: { readonly uri: string; readonly warehouse: string }, name = 'rest'): SharedCatalog {
  return { name, directory: warehouse, settings: { type: 'rest', uri }, pyiceberg: { name, type: 'rest', uri } };
}

export class IcebergBench {
  readonly oracle: Oracle;
  readonly session: Session;
  readonly directory: string;
  readonly catalogs: readonly SharedCatalog[];

  constructor(oracle: Oracle, directory: string, catalogs: readonly SharedCatalog[]) {
    this.oracle = oracle;
    this.directory = directory;
    this.catalogs = catalogs;
    this.session = createSession({
      config: {
        'spark.sql.warehouse.dir': join(directory, 'warehouse'),
        'tidewater.engine.threads': 2,
        ...Object.fromEntries(catalogs.flatMap((catalog) => Object.entries(settingsIn(catalog)))),
      },
      print: () => undefined,
    });
  }

  /** Tells Spark of the catalogs and makes the namespaces of the tests in them. */
  async prepare(): Promise<void> {
    for (const catalog of this.catalogs) {
      await this.oracle.configureSpark({ ...settingsIn(catalog), [`spark.sql.catalog.${catalog.name}.cache-enabled`]: 'false' });
      for (const namespace of ['ours', 'theirs']) await this.session.sql(`CREATE NAMESPACE ${catalog.name}.${namespace}`);
    }
  }

  table(namespace: 'ours' | 'theirs', name: string, catalog: SharedCatalog | undefined = this.catalogs[0]): CatalogTable {
    if (catalog === undefined) throw new Error('the bench has no catalog');
    return { catalog, name: `${namespace}.${name}`, path: join(catalog.directory, namespace, name) };
  }

  /** Rows of a query of ours, as sorted text. */
  async ours(query: string): Promise<readonly string[]> {
    return sortedLines(await this.collect(query));
  }

  async collect(query: string): Promise<readonly CanonicalRow[]> {
    const frame = await this.session.sql(query);
    return (await frame.collect()).map(canonicalRow);
  }

  /** Rows of a query of Spark's, as sorted text. */
  async spark(query: string): Promise<readonly string[]> {
    return sortedLines(await this.oracle.sql(query));
  }

  async read(engine: IcebergReader, readings: readonly IcebergReading[]): Promise<readonly Reading[]> {
    return await this.oracle.readIceberg(engine, readings);
  }

  /** Lets pyiceberg change a table through its catalog. */
  async pyiceberg(
    { catalog, name }: CatalogTable,
    operation: Omit<PyIcebergOperation, 'catalog' | 'table'> & Pick<PyIcebergOperation, 'op'>,
  ): Promise<void> {
    if (catalog.pyiceberg === undefined) throw new Error(`pyiceberg does not speak to ${catalog.name}`);
    await this.oracle.pyiceberg({ ...operation, catalog: catalog.pyiceberg, table: name });
  }

  /** A statement for a table: `{t}`, `{n}`, `{c}`, `{snapshot:2}` and `{time:2}` replaced (see IcebergScript). */
  async filled(statement: string, table: CatalogTable): Promise<string> {
    const text = statement.replaceAll('{t}', fullName(table)).replaceAll('{n}', table.name).replaceAll('{c}', table.catalog.name);
    if (!needsHistory(text)) return text;
    const snapshots = await this.collect(`SELECT snapshot_id, committed_at FROM ${fullName(table)}.snapshots ORDER BY committed_at`);
    return text.replaceAll(ofHistory, (_, what: string, place: string) => {
      const { snapshot_id: id, committed_at: time } = snapshots[Number(place)] ?? {};
      return String(what === 'snapshot' ? id : time);
    });
  }

  async expectSound(path: string): Promise<void> {
    expect(await this.oracle.check(path, { format: 'iceberg', allowOrphans: true })).toEqual([]);
  }

  async close(): Promise<void> {
    await this.session.stop();
    await this.oracle.stop();
    removeDirectory(this.directory);
  }
}

const ofHistory = /\{(snapshot|time):(\d+)\}/g;

/** Whether a statement names snapshots of the statements before it. */
export function needsHistory(statement: string): boolean {
  return statement.search(ofHistory) >= 0;
}

/** `lake.ours.name` */
export function fullName({ catalog, name }: CatalogTable): string {
  return `${catalog.name}.${name}`;
}

/** Rows of a reading as sorted text; the refusal, when it is one, in one line. */
export function linesOf(reading: Reading | undefined): readonly string[] {
  if (reading === undefined) return ['not asked'];
  return 'rows' in reading ? sortedLines(reading.rows) : [`refused: ${refusalOf(reading.error)}`];
}

function refusalOf(error: OracleError): string {
  return error.message;
}

export function settingsIn({ name, settings }: SharedCatalog): Settings {
  const keys = Object.entries(settings).map(([key, value]) => [`spark.sql.catalog.${name}.${key}`, value] as const);
  return { [`spark.sql.catalog.${name}`]: 'org.apache.iceberg.spark.SparkCatalog', ...Object.fromEntries(keys) };
}
