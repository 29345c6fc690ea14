import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSession, type Session } from '../../../src/app/session.ts';

export type ResultRow = Readonly<Record<string, unknown>>;

/** A session whose catalog `ice` keeps Iceberg tables in a temporary directory. */
export interface IcebergSession {
  readonly session: Session;
  /** Directory of the catalog's tables. */
  readonly warehouse: string;
  /** Rows of a statement. */
  sql(text: string): Promise<readonly ResultRow[]>;
  /** Paths of all files of a table of the namespace `db`, below its directory. */
  paths(table: string): Promise<readonly string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** With the namespace `db`, which tables are named by. Session and files go with `await using`. */
export async function icebergSession(): Promise<IcebergSession> {
  const directory = await mkdtemp(join(tmpdir(), 'tidewater-iceberg-'));
  const warehouse = join(directory, 'warehouse');
  const session = createSession({
    config: {
      'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.ice.type': 'hadoop',
      'spark.sql.catalog.ice.warehouse': warehouse,
      'spark.sql.defaultCatalog': 'ice',
      'tidewater.engine.threads': '2',
    },
    print: () => undefined,
  });
  const sql = async (text: string): Promise<readonly ResultRow[]> => {
    const frame = await session.sql(text);
    return frame.collect();
  };
  await sql('CREATE NAMESPACE IF NOT EXISTS db');
  return {
    session,
    warehouse,
    sql,
    paths: async (table) => {
      const entries = await readdir(join(warehouse, 'db', table), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return files.map((path) => path.slice(join(warehouse, 'db', table).length + 1)).toSorted();
    },
    [Symbol.asyncDispose]: async () => {
      await session.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
