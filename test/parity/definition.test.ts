import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeltaTable, type Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** CREATE TABLE with every clause, from a query, and by the builder. */
describe('making tables', () => {
  const bench = deltaBench();

  async function detailOf(table: string): Promise<Row> {
    const [detail = {}] = await bench().sql(`DESCRIBE DETAIL ${table}`);
    return detail;
  }

  function parametersOf(entry: Row): Readonly<Record<string, unknown>> {
    return Object.fromEntries(entry['operationParameters'] as ReadonlyMap<string, string>);
  }

  const columnsOf = async (table: string): Promise<readonly (readonly unknown[])[]> =>
    (await bench().sql(`DESCRIBE TABLE ${table}`)).map((row) => [row['col_name'], row['data_type'], row['comment']]);

  it('B15: CREATE TABLE takes columns, partitions, properties, a comment and a location', async () => {
    const { sql, session, path } = bench();
    const location = path('located');
    await sql(`CREATE TABLE events (
        id BIGINT NOT NULL COMMENT 'the key',
        v STRING DEFAULT 'none',
        ts TIMESTAMP,
        day DATE GENERATED ALWAYS AS (CAST(ts AS DATE)),
        tags ARRAY<STRING>,
        place STRUCT<lat: DOUBLE, lon: DOUBLE>,
        more MAP<STRING, INT>)
      USING delta PARTITIONED BY (day) COMMENT 'what happened' LOCATION '${location}'
      TBLPROPERTIES (delta.enableChangeDataFeed = true, 'delta.feature.allowColumnDefaults' = 'supported', team = 'me')`);
    expect((await columnsOf('events')).slice(0, 7)).toEqual([
      ['id', 'bigint', 'the key'],
      ['v', 'string', null],
      ['ts', 'timestamp', null],
      ['day', 'date', null],
      ['tags', 'array<string>', null],
      ['place', 'struct<lat:double,lon:double>', null],
      ['more', 'map<string,int>', null],
    ]);
    expect(await columnsOf('events')).toContainEqual(['# Partition Information', '', '']);
    const detail = await detailOf('events');
    expect(detail).toMatchObject({
      format: 'delta',
      name: 'spark_catalog.default.events',
      description: 'what happened',
      location: `file:${location}`,
      partitionColumns: ['day'],
      numFiles: 0n,
      minReaderVersion: 1,
      minWriterVersion: 7,
      tableFeatures: ['allowColumnDefaults', 'appendOnly', 'changeDataFeed', 'generatedColumns', 'invariants'],
    });
    expect(Object.fromEntries(detail['properties'] as ReadonlyMap<string, string>)).toEqual({
      'delta.enableChangeDataFeed': 'true',
      team: 'me',
    });
    const entry = await bench().lastEntry('located');
    expect(entry).toMatchObject({ version: 0n, operation: 'CREATE TABLE', isBlindAppend: true, isolationLevel: 'Serializable' });
    expect(parametersOf(entry)).toMatchObject({
      partitionBy: '["day"]',
      clusterBy: '[]',
      description: 'what happened',
      isManaged: 'false',
    });
    await sql("INSERT INTO events (id, ts, place) VALUES (1, TIMESTAMP '2024-02-29 10:00:00', named_struct('lat', 0.5, 'lon', 1.5))");
    expect(await session.table('events').select('id', 'v', 'day', 'place').collect()).toEqual([
      { id: 1n, v: 'none', day: '2024-02-29', place: { lat: 0.5, lon: 1.5 } },
    ]);
    expect(existsSync(join(location, 'day=2024-02-29'))).toBe(true);
    await bench().agree('located');
  });

  it('B15: a table of the catalog is managed, IF NOT EXISTS leaves it, OR REPLACE replaces it as a version', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE managed (id INT) USING delta');
    await sql('INSERT INTO managed VALUES (1)');
    expect((await detailOf('managed'))['location']).toBe(`file:${path('warehouse/managed')}`);
    await sql('CREATE TABLE IF NOT EXISTS managed (other STRING) USING delta');
    expect(await sql('SELECT * FROM managed')).toEqual([{ id: 1 }]);
    const taken = await refusalOf(sql('CREATE TABLE managed (id INT) USING delta'));
    expect(taken.errorClass).toMatch(/^(DELTA_TABLE_ALREADY_EXISTS|TABLE_OR_VIEW_ALREADY_EXISTS)$/);
    expect(taken.sqlState).toBe('42P07');
    const { id } = await detailOf('managed');
    await sql('CREATE OR REPLACE TABLE managed (other STRING, n INT) USING delta PARTITIONED BY (n)');
    expect(await sql('SELECT * FROM managed')).toEqual([]);
    expect(await detailOf('managed')).toMatchObject({ id, partitionColumns: ['n'] });
    expect((await sql('DESCRIBE HISTORY managed LIMIT 1'))[0]).toMatchObject({ version: 2n, operation: 'CREATE OR REPLACE TABLE' });
    expect(await sql('SELECT * FROM managed VERSION AS OF 1')).toEqual([{ id: 1 }]);
    expect((await refusalOf(sql('REPLACE TABLE nowhere (id INT) USING delta'))).errorClass).toBe('TABLE_OR_VIEW_NOT_FOUND');
    await bench().agree('warehouse/managed', { allowOrphans: true });
  });

  it('B15: CREATE TABLE … AS SELECT makes table and rows as one version', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('ctas')} USING delta PARTITIONED BY (p) COMMENT 'made' TBLPROPERTIES (delta.enableChangeDataFeed = true)
      AS SELECT CAST(id AS INT) AS id, concat('p', id % 2) AS p FROM range(4)`);
    expect(await bench().rows('ctas')).toEqual([
      { id: 0, p: 'p0' },
      { id: 1, p: 'p1' },
      { id: 2, p: 'p0' },
      { id: 3, p: 'p1' },
    ]);
    const entry = await bench().lastEntry('ctas');
    expect(entry).toMatchObject({ version: 0n, operation: 'CREATE TABLE AS SELECT' });
    expect(Object.fromEntries(entry['operationMetrics'] as ReadonlyMap<string, string>)).toMatchObject({
      numFiles: '2',
      numOutputRows: '4',
    });
    await bench().agree('ctas');
    await sql(`CREATE OR REPLACE TABLE ${at('ctas')} USING delta AS SELECT 9 AS other`);
    expect(await bench().rows('ctas', 'other')).toEqual([{ other: 9 }]);
    expect(await bench().lastEntry('ctas')).toMatchObject({ version: 1n, operation: 'CREATE OR REPLACE TABLE AS SELECT' });
    await bench().agree('ctas', { allowOrphans: true });
  });

  it('B15: DeltaTable builds the same tables step by step', async () => {
    const { session, path, sql } = bench();
    const table = await DeltaTable.create(session)
      .tableName('built')
      .location(path('built'))
      .comment('made')
      .addColumn('id', 'BIGINT', { nullable: false, comment: 'the key' })
      .addColumn('ts', 'TIMESTAMP')
      .addColumn('day', 'DATE', { generatedAlwaysAs: 'CAST(ts AS DATE)' })
      .partitionedBy('day')
      .property('team', 'me')
      .execute();
    expect(await columnsOf('built')).toEqual(expect.arrayContaining([['id', 'bigint', 'the key']]));
    await sql("INSERT INTO built (id, ts) VALUES (1, TIMESTAMP '2024-02-29 10:00:00')");
    expect(await table.toDF().select('id', 'day').collect()).toEqual([{ id: 1n, day: '2024-02-29' }]);
    await bench().agree('built');
    await DeltaTable.createIfNotExists(session).tableName('built').addColumn('other', 'INT').execute();
    expect(await table.toDF().columns).toEqual(['id', 'ts', 'day']);
    await refusalOf(DeltaTable.create(session).tableName('built').addColumn('other', 'INT').execute());
    await DeltaTable.replace(session).tableName('built').location(path('built')).addColumns('other INT').execute();
    expect(await table.toDF().columns).toEqual(['other']);
    const clustered = DeltaTable.createOrReplace(session).location(path('clustered')).addColumns('a INT, b INT').clusterBy('b');
    const made = await clustered.execute();
    expect((await made.detail().collect())[0]).toMatchObject({ clusteringColumns: ['b'] });
  });

  it('B15: a name for a table that is there already takes its columns from it', async () => {
    const { sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('present')} (id INT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at('present')} VALUES (1, 'a')`);
    await sql(`CREATE TABLE named USING delta LOCATION '${path('present')}'`);
    expect(await sql('SELECT * FROM named')).toEqual([{ id: 1, v: 'a' }]);
    await sql('DROP TABLE named');
    expect(existsSync(join(path('present'), '_delta_log'))).toBe(true);
    expect((await refusalOf(sql('SELECT * FROM named'))).errorClass).toBe('TABLE_OR_VIEW_NOT_FOUND');
    const other = await refusalOf(sql(`CREATE TABLE named (other INT) USING delta LOCATION '${path('present')}'`));
    expect(other.errorClass).toBe('DELTA_CREATE_TABLE_SCHEME_MISMATCH');
  });

  it.each([
    ['DELTA_UNKNOWN_CONFIGURATION', 'F0000', '(a INT) USING delta TBLPROPERTIES (delta.unknownThing = 1)'],
    ['_LEGACY_ERROR_TEMP_2045', undefined, "(a INT) USING delta TBLPROPERTIES (delta.checkpointInterval = 'often')"],
    ['DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES', '42K05', '(`a b` INT) USING delta'],
    ['COLUMN_ALREADY_EXISTS', '42711', '(a INT, A STRING) USING delta'],
    ['ALL_PARTITION_COLUMNS_NOT_ALLOWED', 'KD005', '(a INT) USING delta PARTITIONED BY (a)'],
    ['_LEGACY_ERROR_TEMP_3060', undefined, '(a INT, b INT) USING delta PARTITIONED BY (zz)'],
    ['INVALID_PARTITION_COLUMN_DATA_TYPE', '0A000', '(a ARRAY<INT>, b INT) USING delta PARTITIONED BY (a)'],
    ['DELTA_CLUSTER_BY_WITH_PARTITIONED_BY', undefined, '(a INT, b INT) USING delta PARTITIONED BY (a) CLUSTER BY (b)'],
    ['UNSUPPORTED_FEATURE', undefined, '(a INT, b INT) USING delta PARTITIONED BY (bucket(4, a))'],
  ])('B15: %s: a definition that cannot be is refused, and nothing is made', async (errorClass, sqlState, definition) => {
    const refused = await refusalOf(bench().sql(`CREATE TABLE ${bench().at('refused')} ${definition}`));
    expect(refused.errorClass).toMatch(new RegExp(`^${errorClass}`));
    if (sqlState !== undefined) expect(refused.sqlState).toBe(sqlState);
    expect(bench().log('refused')).toEqual([]);
  });

  it('a schema has the directory that the warehouse gives it: another place, and properties, are refused', async () => {
    const { sql } = bench();
    expect(await refusalOf(sql("CREATE DATABASE placed LOCATION '/elsewhere'"))).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    expect(await refusalOf(sql('CREATE DATABASE placed WITH DBPROPERTIES (a = 1)'))).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    expect(await sql("SHOW DATABASES LIKE 'placed'")).toEqual([]);
  });
});
