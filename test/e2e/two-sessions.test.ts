import { writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession, type Row, type Session } from '../../src/index.ts';
import { runProduct } from '../support/process.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/**
 * A session that holds a table while another process changes it: what was read of the table before counts for nothing that is written
 * or streamed afterwards. The other process is the command line of the built product.
 */
const directory = temporaryDirectory('two-sessions');
const config = join(directory, 'tidewater.yaml');
writeFileSync(config, 'pipeline: two-sessions\n');
const lake = {
  'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
  'spark.sql.catalog.lake.type': 'hadoop',
  'spark.sql.catalog.lake.warehouse': join(directory, 'lake'),
};
const sessions: Session[] = [];
afterAll(async () => {
  for (const session of sessions) await session.stop();
  removeDirectory(directory);
});

/** Statements of the other process, to its end. */
async function elsewhere(...statements: readonly string[]): Promise<void> {
  const settings = Object.entries(lake).flatMap(([key, value]) => ['--conf', `${key}=${value}`]);
  const texts = statements.flatMap((statement) => ['-e', statement]);
  const { code, log } = await runProduct({ config, args: ['sql', '--warehouse', join(directory, 'warehouse'), ...settings, ...texts] });
  expect(code, log).toBe(0);
}

function ours(): Session {
  const session = createSession({
    config: { ...lake, 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': 1 },
    print: () => undefined,
  });
  sessions.push(session);
  return session;
}

interface Format {
  readonly format: 'delta' | 'iceberg';
  readonly nameOf: (table: string) => string;
  /** Where the files of a table are. */
  readonly placeOf: (table: string) => string;
  readonly refusals: Readonly<Record<'update' | 'insert' | 'text' | 'gone', string>>;
}

const formats: readonly Format[] = [
  {
    format: 'delta',
    nameOf: (table) => `delta.\`${join(directory, 'delta', table)}\``,
    placeOf: (table) => join(directory, 'delta', table),
    refusals: {
      update: 'DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION',
      insert: 'DELTA_INSERT_COLUMN_ARITY_MISMATCH',
      text: 'CAST_INVALID_INPUT',
      gone: 'PATH_NOT_FOUND',
    },
  },
  {
    format: 'iceberg',
    nameOf: (table) => `lake.db.${table}`,
    placeOf: (table) => join(directory, 'lake', 'db', table),
    refusals: {
      update: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_FIND_DATA',
      insert: 'INCOMPATIBLE_DATA_FOR_TABLE.STRUCT_MISSING_FIELDS',
      text: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST',
      gone: 'TABLE_OR_VIEW_NOT_FOUND',
    },
  },
];

describe.each(formats)('a $format table that another process changes under a session', ({ format, nameOf, placeOf, refusals }) => {
  const session = ours();
  const rows = async (table: string): Promise<readonly Row[]> => (await session.sql(`SELECT * FROM ${table} ORDER BY id`)).collect();

  /** Numbers of the versions that the table's metadata has, in order. */
  async function versions(table: string): Promise<readonly number[]> {
    const [log, ending] = format === 'delta' ? ['_delta_log', /^(\d{20})\.json$/u] : ['metadata', /^v(\d+)\.metadata\.json$/u];
    const names = await readdir(join(placeOf(table), log));
    return names.flatMap((name) => (ending.test(name) ? [Number(ending.exec(name)?.[1])] : [])).sort((a, b) => a - b);
  }

  const upTo = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => first + index);
  const first = format === 'delta' ? 0 : 1;

  it('dropped and made again takes appended rows as the new one, and keeps a log without gaps', async () => {
    const t = nameOf('replaced');
    await session.sql(`CREATE TABLE ${t} (id INT, v STRING) USING ${format}`);
    await session.sql(`INSERT INTO ${t} VALUES (1, 'old')`);
    await session.sql(`INSERT INTO ${t} VALUES (2, 'old')`);
    await rows(t);
    if (format === 'delta') await rm(placeOf('replaced'), { recursive: true });
    await elsewhere(
      ...(format === 'iceberg' ? [`DROP TABLE ${t} PURGE`] : []),
      `CREATE TABLE ${t} (w INT, id INT) USING ${format}`,
      `INSERT INTO ${t} VALUES (7, 1)`,
    );
    await expect(session.sql(`INSERT INTO ${t} SELECT 3, 'three'`)).rejects.toMatchObject({ errorClass: refusals.text });
    expect(await rows(t)).toEqual([{ w: 7, id: 1 }]);
    await session.sql(`INSERT INTO ${t} VALUES (8, 2)`);
    await session.sql(`UPDATE ${t} SET w = w + 1`);
    expect(await rows(t)).toEqual([
      { w: 8, id: 1 },
      { w: 9, id: 2 },
    ]);
    expect(await versions('replaced')).toEqual(upTo(first, 4));
  });

  it('dropped and made again leaves no row behind when it is overwritten', async () => {
    const t = nameOf('overwritten');
    await session.sql(`CREATE TABLE ${t} (id INT) USING ${format}`);
    await session.sql(`INSERT INTO ${t} VALUES (1)`);
    const old = await session.sql(`SELECT id + 10 AS id FROM ${t}`);
    if (format === 'delta') await rm(placeOf('overwritten'), { recursive: true });
    await elsewhere(
      ...(format === 'iceberg' ? [`DROP TABLE ${t} PURGE`] : []),
      `CREATE TABLE ${t} (id INT) USING ${format}`,
      `INSERT INTO ${t} VALUES (5), (6)`,
    );
    await session.sql(`INSERT OVERWRITE ${t} VALUES (9)`);
    expect(await rows(t)).toEqual([{ id: 9 }]);
    expect(await old.collect()).toEqual([{ id: 19 }]);
    expect(await versions('overwritten')).toEqual(upTo(first, 3));
  });

  it('that is gone takes no rows, and no part of it comes back', async () => {
    const t = nameOf('gone');
    await session.sql(`CREATE TABLE ${t} (id INT) USING ${format}`);
    await session.sql(`INSERT INTO ${t} VALUES (1)`);
    if (format === 'delta') await rm(placeOf('gone'), { recursive: true });
    else await elsewhere(`DROP TABLE ${t} PURGE`);
    await expect(session.sql(`INSERT INTO ${t} VALUES (2)`)).rejects.toMatchObject({ errorClass: refusals.gone });
    await expect(versions('gone')).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('keeps values with their columns in a stream when a column moves and one is added', async () => {
    const t = nameOf('streamed');
    await session.sql(`CREATE TABLE ${t} (id INT, a STRING, b STRING) USING ${format}`);
    await session.sql(`INSERT INTO ${t} VALUES (1, 'a1', 'b1')`);
    const source = session.readStream.format(format);
    const frame = format === 'delta' ? source.option('startingVersion', '0').load(placeOf('streamed')) : source.load(t);
    const taken: Row[] = [];
    const drain = async (): Promise<void> => {
      const query = await frame.writeStream
        .foreachBatch(async (batch) => {
          taken.push(...(await batch.select('id', 'a', 'b').collect()));
        })
        .option('checkpointLocation', join(directory, `checkpoint-${format}`))
        .trigger({ availableNow: true })
        .start();
      await query.awaitTermination();
    };
    await drain();
    await elsewhere(
      `ALTER TABLE ${t} ALTER COLUMN b FIRST`,
      `INSERT INTO ${t} (id, a, b) VALUES (2, 'a2', 'b2')`,
      `ALTER TABLE ${t} ADD COLUMN c STRING`,
      `INSERT INTO ${t} (id, a, b, c) VALUES (3, 'a3', 'b3', 'c3')`,
    );
    await drain();
    expect(taken).toEqual([1, 2, 3].map((id) => ({ id, a: `a${id}`, b: `b${id}` })));
  });

  it('takes structs by its newest members, of UPDATE and of INSERT by place', async () => {
    const t = nameOf('nested');
    await session.sql(`CREATE TABLE ${t} (id INT, x STRUCT<a: INT, b: INT>) USING ${format}`);
    await session.sql(`INSERT INTO ${t} SELECT 1, struct(1, 2)`);
    await elsewhere(`ALTER TABLE ${t} ADD COLUMN x.c INT`, `UPDATE ${t} SET x.c = 3`);
    await expect(session.sql(`UPDATE ${t} SET x = named_struct('a', 5, 'b', 6)`)).rejects.toMatchObject({ errorClass: refusals.update });
    await expect(session.sql(`INSERT INTO ${t} SELECT 2, struct(5, 6)`)).rejects.toMatchObject({ errorClass: refusals.insert });
    await session.sql(`INSERT INTO ${t} SELECT 2, struct(5, 6, 7)`);
    await session.sql(`UPDATE ${t} SET x.a = 4 WHERE id = 1`);
    expect(await rows(t)).toEqual([
      { id: 1, x: { a: 4, b: 2, c: 3 } },
      { id: 2, x: { a: 5, b: 6, c: 7 } },
    ]);
  });
});
