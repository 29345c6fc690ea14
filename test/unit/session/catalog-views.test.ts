import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../../src/app/session.ts';
import { openSqlConnection } from '../../../src/catalog/sql/open-sql-connection.ts';
import type { RowInput } from '../../../src/session/rows/row.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';

// Cases without another origin are those of TestViews (apache/iceberg, spark/v4.0/spark-extensions), over a SQL catalog.

const directory = mkdtempSync(join(tmpdir(), 'tidewater-views-'));
let session: Session;
let views = 0;

const jdbc = (name: string, properties: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({
      type: 'jdbc',
      uri: `jdbc:sqlite:file:${join(directory, `${name}.db`)}`,
      warehouse: join(directory, name),
      ...properties,
    }).map(([key, value]) => [`spark.sql.catalog.${name}.${key}`, value]),
  );

beforeAll(async () => {
  session = createSession({
    config: {
      'spark.sql.warehouse.dir': join(directory, 'warehouse'),
      'tidewater.engine.threads': '2',
      ...jdbc('lake'),
      ...jdbc('other'),
      'spark.sql.catalog.files.type': 'hadoop',
      'spark.sql.catalog.files.warehouse': join(directory, 'files'),
    },
  });
  await session.sql('USE lake');
  await session.sql('CREATE NAMESPACE default');
  await session.sql('CREATE TABLE default.t (id INT, data STRING)');
  await session.sql(`INSERT INTO t VALUES ${Array.from({ length: 10 }, (_, index) => `(${index + 1}, '${(index + 1) * 2}')`).join(', ')}`);
});

afterAll(async () => {
  await session.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function sql(text: string): Promise<readonly RowInput[]> {
  return (await (await session.sql(text)).collect()).map((row) => Object.values(row.asDict()) as RowInput);
}

function named(name: string): string {
  views += 1;
  return `${name}${views}`;
}

async function refused(text: string): Promise<unknown> {
  return await sql(text).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('views of a catalog', () => {
  it('are read', async () => {
    const view = named('simple');
    await sql(`CREATE VIEW ${view} AS SELECT id FROM t WHERE id <= 3`);
    expect(await sql(`SELECT * FROM ${view} ORDER BY id`)).toEqual([[1], [2], [3]]);
    expect(await sql(`SELECT ${view}.id FROM lake.default.${view} ${view} WHERE id = 2`)).toEqual([[2]]);
    expect((await session.table(view).collect()).length).toBe(3);
    expect((await session.read.table(`lake.default.${view}`).filter('id > 1').collect()).length).toBe(2);
  });
});
