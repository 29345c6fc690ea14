import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createSession, type Session } from '../../src/app/session.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { openSqlConnection } from '../../src/catalog/sql/open-sql-connection.ts';
import type { SqlConnection, SqlRow } from '../../src/catalog/sql/sql-connection.ts';
import { readViewMetadata, viewBytes } from '../../src/iceberg/view/view-json.ts';
import type { ViewMetadata, ViewRepresentation } from '../../src/iceberg/view/view-metadata.ts';
import type { RowValue } from '../../src/session/rows/row.ts';

/** A session over two SQL catalogs, `lake` (the current one) and `other`, one of directories, and ten rows in `lake.default.t`. */
export interface ViewSession {
  readonly session: Session;
  readonly directory: string;
  /** The rows that a statement gives, in order, each as its values. */
  readonly sql: (text: string) => Promise<readonly (readonly RowValue[])[]>;
  /** The error of a statement. */
  readonly refusal: (text: string) => Promise<unknown>;
  /** The metadata of a view of `lake.default`. */
  readonly stored: (name: string) => Promise<ViewMetadata>;
  /** A view of `lake.default` that another program made. */
  readonly made: (name: string, change: (view: ViewMetadata) => ViewMetadata) => Promise<void>;
  /** Of `lake`, with this name of a table or view. */
  readonly rowsOf: (name: string) => Promise<readonly SqlRow[]>;
  readonly close: () => Promise<void>;
}

let made = 0;

export async function openViewSession(): Promise<ViewSession> {
  const directory = mkdtempSync(join(tmpdir(), 'tidewater-views-'));
  const session = createSession({
    config: {
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'tidewater.engine.threads': '2',
      ...jdbc(directory, 'lake'),
      ...jdbc(directory, 'other'),
      'spark.sql.catalog.files.type': 'hadoop',
      'spark.sql.catalog.files.warehouse': join(directory, 'files'),
    },
  });
  const sql = async (text: string): Promise<readonly (readonly RowValue[])[]> =>
    (await (await session.sql(text)).collect()).map((row) => Object.values(row));
  const rowsOf = async (name: string): Promise<readonly SqlRow[]> => {
    const connection = connectTo(directory, 'lake');
    try {
      return await connection.query('SELECT * FROM iceberg_tables WHERE table_name = ?', [name]);
    } finally {
      await connection.close();
    }
  };
  const locationOf = async (name: string): Promise<string> => (await rowsOf(name))[0]?.['metadata_location'] ?? '';
  const read = (location: string): ViewMetadata => readViewMetadata(readFileSync(location), location);
  for (const statement of ['USE lake', 'CREATE NAMESPACE default', 'CREATE TABLE default.t (id INT, data STRING)']) await sql(statement);
  await sql(`INSERT INTO t VALUES ${Array.from({ length: 10 }, (_, index) => `(${index + 1}, '${(index + 1) * 2}')`).join(', ')}`);
  return {
    session,
    directory,
    sql,
    refusal: (text) =>
      sql(text).then(
        () => 'no error',
        (reason: unknown) => reason,
      ),
    stored: async (name) => read(await locationOf(name)),
    made: async (name, change) => {
      await sql(`CREATE VIEW ${name} AS SELECT id FROM t`);
      const location = await locationOf(name);
      writeFileSync(location, await viewBytes(change(read(location)), 'gzip'));
    },
    rowsOf,
    close: async () => {
      await session.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Settings of a SQL catalog in a directory. */
export function jdbc(directory: string, name: string): Readonly<Record<string, string>> {
  const settings = { type: 'jdbc', uri: uriOf(directory, name), warehouse: join(directory, name) };
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [`spark.sql.catalog.${name}.${key}`, value]));
}

export function connectTo(directory: string, name: string): SqlConnection {
  return openSqlConnection({ uri: uriOf(directory, name) }, { clock: new SystemClock(), random: new SystemRandom() });
}

function uriOf(directory: string, name: string): string {
  return `jdbc:sqlite:file:${join(directory, `${name}.db`)}`;
}

/** A name that nothing has yet. */
export function named(name: string): string {
  made += 1;
  return `${name}${made}`;
}

export function names<const Names extends readonly string[]>(...wanted: Names): { readonly [Index in keyof Names]: string } {
  // A list of the same length.
  return wanted.map(named) as { readonly [Index in keyof Names]: string };
}

export function error(errorClass: string, message: string): unknown {
  return expect.objectContaining({ errorClass, message: expect.stringContaining(message) as unknown });
}

export function text(query: string, dialect = 'spark'): ViewRepresentation {
  return { kind: 'sql', sql: query, dialect };
}

export function withText(...representations: readonly ViewRepresentation[]): (view: ViewMetadata) => ViewMetadata {
  return (view) => ({ ...view, versions: view.versions.map((version) => ({ ...version, representations })) });
}

/** Rows of one number. */
export function ids(from: number, until: number): readonly (readonly number[])[] {
  return Array.from({ length: until - from + 1 }, (_, index) => [from + index]);
}
