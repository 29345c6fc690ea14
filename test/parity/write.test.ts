import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AnalysisException, col, type Row } from '../../src/index.ts';
import { type DeltaBench, deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** What DataFrames write, and what they replace. */

const columns = 'id BIGINT, v STRING, p STRING';
const three = [
  { id: 1n, v: 'a', p: 'x' },
  { id: 2n, v: 'b', p: 'x' },
  { id: 3n, v: 'c', p: 'y' },
];
const four = { id: 4n, v: 'd', p: 'y' };
const seven = { id: 7n, v: 'g', p: 'y' };

describe('writing with DataFrames', () => {
  const bench = deltaBench();

  it('B02: save to a path makes version 0 with the rows, append and overwrite the next ones', async () => {
    const { rows, agree, lastEntry } = bench();
    const made = await frame(bench(), three).write.format('delta').save(bench().path('saved'));
    expect(made).toMatchObject({ version: 0, rowCount: 3 });
    expect(entryOf(await lastEntry('saved'))).toEqual({ version: 0n, operation: 'WRITE', mode: 'ErrorIfExists', partitionBy: '[]' });
    await frame(bench(), [four]).write.format('delta').mode('append').save(bench().path('saved'));
    expect(entryOf(await lastEntry('saved'))).toEqual({ version: 1n, operation: 'WRITE', mode: 'Append', partitionBy: '[]' });
    expect(await rows('saved')).toEqual([...three, four]);
    await agree('saved');
    await frame(bench(), [seven]).write.format('delta').mode('overwrite').save(bench().path('saved'));
    expect(entryOf(await lastEntry('saved'))).toEqual({ version: 2n, operation: 'WRITE', mode: 'Overwrite', partitionBy: '[]' });
    expect(await rows('saved')).toEqual([seven]);
    await agree('saved');
    await agree('saved', { version: 1 });
  });

  it('B02: errorifexists refuses a table that is there, ignore leaves it alone', async () => {
    const { path, rows, version } = bench();
    const write = frame(bench(), three).write.format('delta');
    expect(await write.mode('ignore').save(path('kept'))).toMatchObject({ version: 0 });
    expect(await write.mode('ignore').save(path('kept'))).toBeUndefined();
    for (const mode of ['error', 'errorifexists', 'default']) {
      const refusal = await refusalOf(write.mode(mode).save(path('kept')));
      expect(refusal).toMatchObject({ errorClass: 'DELTA_PATH_EXISTS', sqlState: '42K04' });
      expect(refusal.message).toBe(`Cannot write to already existent path file:${path('kept')} without setting OVERWRITE = 'true'.`);
    }
    expect(await version('kept')).toBe(0);
    expect(await rows('kept')).toEqual(three);
    expect(() => write.mode('upsert')).toThrow(AnalysisException);
  });

  it('B02: saveAsTable makes a table of the catalog, appends to it and replaces its rows', async () => {
    const { session, sql, agree } = bench();
    const write = frame(bench(), three).write.format('delta');
    await write.saveAsTable('people');
    expect(await sql('SELECT * FROM people ORDER BY id')).toEqual(three);
    const [created = {}] = await sql('DESCRIBE HISTORY people');
    expect(created).toMatchObject({ version: 0n, operation: 'CREATE TABLE AS SELECT' });
    const refusal = await refusalOf(write.saveAsTable('people'));
    expect(refusal).toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS', sqlState: '42P07' });
    await frame(bench(), [four]).write.mode('append').saveAsTable('people');
    expect(await session.table('people').orderBy('id').collect()).toEqual([...three, four]);
    await agree('warehouse/people');
    await frame(bench(), [seven]).write.mode('overwrite').saveAsTable('people');
    expect(await sql('SELECT * FROM people')).toEqual([seven]);
    await agree('warehouse/people');
  });

  it('B02: saveAsTable finds columns by name, insertInto by place', async () => {
    const { session, sql } = bench();
    await sql(`CREATE TABLE placed (${columns}) USING delta`);
    const turned = session.createDataFrame([{ p: 'x', v: 'a', id: 1 }], 'p STRING, v STRING, id BIGINT');
    await turned.write.mode('append').saveAsTable('placed');
    expect(await sql('SELECT * FROM placed')).toEqual([{ id: 1n, v: 'a', p: 'x' }]);
    await turned.select('id', 'p', 'v').write.insertInto('placed');
    expect(await sql('SELECT * FROM placed ORDER BY v')).toEqual([
      { id: 1n, v: 'a', p: 'x' },
      { id: 1n, v: 'x', p: 'a' },
    ]);
  });

  it('B02: partitionBy makes a directory for each value, and null has one too', async () => {
    const { path, agree, lastEntry, sql, at } = bench();
    const rows = [...three, { id: 9n, v: 'n', p: null }, { id: 10n, v: 'o', p: 'a/b=c d' }];
    await frame(bench(), rows).write.format('delta').partitionBy('p').save(path('parts'));
    expect(
      readdirSync(path('parts'))
        .filter((name) => name.startsWith('p='))
        .sort(),
    ).toEqual(['p=__HIVE_DEFAULT_PARTITION__', 'p=a%2Fb%3Dc d', 'p=x', 'p=y']);
    expect(entryOf(await lastEntry('parts'))).toEqual({ version: 0n, operation: 'WRITE', mode: 'ErrorIfExists', partitionBy: '["p"]' });
    expect(await sql(`SELECT id FROM ${at('parts')} WHERE p = 'a/b=c d'`)).toEqual([{ id: 10n }]);
    expect(await sql(`SELECT id FROM ${at('parts')} WHERE p IS NULL`)).toEqual([{ id: 9n }]);
    const [detail = {}] = await sql(`DESCRIBE DETAIL ${at('parts')}`);
    expect(detail['partitionColumns']).toEqual(['p']);
    await agree('parts');
  });

  it('B02: another partitioning, or one that no table can have, is refused', async () => {
    const { path, version } = bench();
    const write = frame(bench(), three).write.format('delta');
    await write.partitionBy('p').save(path('otherwise'));
    const other = await refusalOf(write.mode('append').partitionBy('v').save(path('otherwise')));
    expect(other).toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH', sqlState: '42KDG' });
    expect(other.message).toBe('Partition columns do not match the partition columns of the table.\nGiven: [`v`]\nTable: [`p`]\n');
    expect(await version('otherwise')).toBe(0);
    const all = await refusalOf(write.partitionBy('id', 'v', 'p').save(path('all')));
    expect(all).toMatchObject({ errorClass: 'ALL_PARTITION_COLUMNS_NOT_ALLOWED', sqlState: 'KD005' });
    expect(all.message).toBe('Cannot use all columns for partition columns.');
    const absent = await refusalOf(write.partitionBy('zz').save(path('absent')));
    expect(absent).toMatchObject({ errorClass: '_LEGACY_ERROR_TEMP_3060' });
    expect(absent.message).toMatch(/^Couldn't find column zz in:\nroot\n \|-- id: long \(nullable = true\)/);
    const lists = bench().session.createDataFrame([{ id: 1, l: [1] }], 'id BIGINT, l ARRAY<INT>');
    const nested = await refusalOf(lists.write.format('delta').partitionBy('l').save(path('nested')));
    expect(nested).toMatchObject({ errorClass: 'INVALID_PARTITION_COLUMN_DATA_TYPE', sqlState: '0A000' });
    expect(nested.message).toBe('Cannot use "ARRAY<INT>" for partition column.');
    for (const name of ['all', 'absent', 'nested']) expect(existsSync(join(path(name), '_delta_log'))).toBe(false);
  });

  it('B02: replaceWhere replaces the rows of a condition over partitions', async () => {
    const { path, rows, agree, lastEntry } = bench();
    await frame(bench(), three).write.format('delta').partitionBy('p').save(path('where'));
    const replace = (row: Row, condition: string) =>
      frame(bench(), [row]).write.format('delta').mode('overwrite').option('replaceWhere', condition).save(path('where'));
    await replace(seven, "p = 'y'");
    expect(await rows('where')).toEqual([three[0], three[1], seven]);
    expect(entryOf(await lastEntry('where'))).toEqual({
      version: 1n,
      operation: 'WRITE',
      mode: 'Overwrite',
      partitionBy: '[]',
      predicate: "p = 'y'",
    });
    await agree('where');
    const refusal = await refusalOf(replace({ id: 8n, v: 'h', p: 'z' }, "p = 'y'"));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_REPLACE_WHERE_MISMATCH', sqlState: '44000' });
    expect(refusal.message).toMatch(/^Written data does not conform to partial table overwrite condition or constraint 'p = 'y''\.\n/);
    expect(refusal.message).toContain(' - p : z');
    expect(await rows('where')).toEqual([three[0], three[1], seven]);
  });

  it('B02: replaceWhere over data columns keeps the other rows of the files it touches', async () => {
    const { path, rows, agree } = bench();
    await frame(bench(), three).write.format('delta').save(path('data-where'));
    const write = frame(bench(), [{ id: 5n, v: 'e', p: 'z' }])
      .write.format('delta')
      .mode('overwrite');
    await write.option('replaceWhere', 'id >= 2').save(path('data-where'));
    expect(await rows('data-where')).toEqual([three[0], { id: 5n, v: 'e', p: 'z' }]);
    await agree('data-where');
    const missing = await refusalOf(write.option('replaceWhere', 'nope = 1').save(path('data-where')));
    expect(missing).toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION', sqlState: '42703' });
  });

  it('B02: dynamic partition overwrite replaces the partitions that are written, by option or for the session', async () => {
    const { path, rows, agree, lastEntry, another } = bench();
    await frame(bench(), three).write.format('delta').partitionBy('p').save(path('dynamic'));
    const write = frame(bench(), [seven]).write.format('delta').mode('overwrite');
    await write.option('partitionOverwriteMode', 'dynamic').save(path('dynamic'));
    expect(await rows('dynamic')).toEqual([three[0], three[1], seven]);
    expect(entryOf(await lastEntry('dynamic'))).toEqual({
      version: 1n,
      operation: 'WRITE',
      mode: 'Overwrite',
      partitionBy: '[]',
      isDynamicPartitionOverwrite: 'true',
    });
    await agree('dynamic');
    const session = another({ 'spark.sql.sources.partitionOverwriteMode': 'dynamic' });
    const eight = session.createDataFrame([{ id: 8, v: 'h', p: 'x' }], columns);
    await eight.write.format('delta').mode('overwrite').save(path('dynamic'));
    expect(await rows('dynamic')).toEqual([seven, { id: 8n, v: 'h', p: 'x' }]);
    const refusal = await refusalOf(write.options({ partitionOverwriteMode: 'dynamic', overwriteSchema: true }).save(path('dynamic')));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE', sqlState: '42613' });
    await write.option('partitionOverwriteMode', 'static').save(path('dynamic'));
    expect(await rows('dynamic')).toEqual([seven]);
  });

  it('B02: INSERT INTO, INSERT OVERWRITE and REPLACE WHERE do the same in SQL', async () => {
    const { sql, at, rows, agree, lastEntry } = bench();
    await sql(`CREATE TABLE ${at('inserted')} (${columns}) USING delta PARTITIONED BY (p)`);
    expect(await sql(`INSERT INTO ${at('inserted')} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')`)).toEqual([]);
    await sql(`INSERT INTO ${at('inserted')} (p, id) VALUES ('y', 4)`);
    expect(await rows('inserted')).toEqual([...three, { id: 4n, v: null, p: 'y' }]);
    await sql(`INSERT INTO ${at('inserted')} REPLACE WHERE p = 'y' SELECT 7L, 'g', 'y'`);
    expect(await rows('inserted')).toEqual([three[0], three[1], seven]);
    expect((await lastEntry('inserted'))['operation']).toBe('WRITE');
    await agree('inserted');
    await sql(`INSERT OVERWRITE ${at('inserted')} PARTITION (p = 'x') VALUES (8, 'h')`);
    expect(await rows('inserted')).toEqual([seven, { id: 8n, v: 'h', p: 'x' }]);
    await sql(`INSERT OVERWRITE ${at('inserted')} SELECT 3L, 'c', 'y'`);
    expect(await rows('inserted')).toEqual([three[2]]);
    await agree('inserted');
  });

  it('B02: writeTo creates, appends, replaces the rows of a condition and the partitions written', async () => {
    const { session, sql, agree } = bench();
    const write = (...given: readonly Row[]) => frame(bench(), given).writeTo('v2').using('delta');
    await write(...three)
      .partitionedBy('p')
      .tableProperty('owner', 'me')
      .create();
    expect(await refusalOf(write(...three).create())).toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS' });
    await write(four).append();
    expect(await session.table('v2').orderBy('id').collect()).toEqual([...three, four]);
    await write(seven).overwrite(col('p').eq('y'));
    expect(await sql('SELECT id FROM v2 ORDER BY id')).toEqual([{ id: 1n }, { id: 2n }, { id: 7n }]);
    await write({ id: 8n, v: 'h', p: 'x' }).overwritePartitions();
    expect(await sql('SELECT id FROM v2 ORDER BY id')).toEqual([{ id: 7n }, { id: 8n }]);
    await agree('warehouse/v2');
    await write(seven).createOrReplace();
    expect(await sql('SELECT * FROM v2')).toEqual([seven]);
    const gone = 'Table spark_catalog.default.v2 does not have property: owner';
    expect(await sql("SHOW TBLPROPERTIES v2 ('owner')")).toEqual([{ key: 'owner', value: gone }]);
    await agree('warehouse/v2');
  });

  it('B02: options that no write has, or of no use, are refused by name', async () => {
    const { path } = bench();
    const write = frame(bench(), three).write.format('delta');
    const unknown = await refusalOf(write.option('mergeSchemas', 'true').save(path('options')));
    expect(unknown).toMatchObject({ errorClass: 'UNKNOWN_OPTION', sqlState: '42616', hint: 'did you mean "mergeSchema"?' });
    expect(await refusalOf(write.option('mergeSchema', 'ja').save(path('options')))).toMatchObject({ errorClass: 'DELTA_ILLEGAL_OPTION' });
    expect(await refusalOf(write.option('delta.nothing', '1').save(path('options')))).toMatchObject({
      errorClass: 'DELTA_UNKNOWN_CONFIGURATION',
      sqlState: 'F0000',
    });
    expect(existsSync(path('options'))).toBe(false);
  });
});

function frame({ session }: DeltaBench, rows: readonly Row[]) {
  return session.createDataFrame(rows, columns);
}

/** Version, operation and what of the parameters is given. */
function entryOf(entry: Row): Row {
  const { version = null, operation = null, operationParameters } = entry;
  return { version, operation, ...Object.fromEntries(operationParameters as ReadonlyMap<string, string>) };
}
