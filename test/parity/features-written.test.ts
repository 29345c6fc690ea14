import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DeltaTable } from '../../src/index.ts';
import { sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { deltaBench, textIn } from '../support/parity/delta-bench.ts';

/** Table features that are used when a table is told to, at its making or later; Spark reads what they write, and writes on. */
describe('table features written on request', () => {
  const bench = deltaBench({}, { spark: true });

  /** What DESCRIBE DETAIL says of the protocol. */
  async function protocolOf(name: string): Promise<Readonly<Record<string, unknown>>> {
    const [detail = {}] = await bench().sql(`DESCRIBE DETAIL ${bench().at(name)}`);
    const { minReaderVersion, minWriterVersion, tableFeatures } = detail;
    return { minReaderVersion, minWriterVersion, tableFeatures };
  }

  /** Spark adds a row, and reads what we read; so do the others. */
  async function sharedWithSpark(name: string, insert: string, engines?: readonly ('delta-rs' | 'duckdb')[]): Promise<void> {
    const { oracle, at, session, path, agree } = bench();
    await agree(name, { engines });
    if (oracle === undefined) return;
    await oracle.sql(`INSERT INTO ${at(name)} ${insert}`);
    const ours = (await session.read.load(path(name)).collect()).map(canonicalRow);
    expect(sortedLines(await oracle.rows('spark', path(name)))).toEqual(sortedLines(ours));
  }

  function actions(name: string, version: number, kind: string): readonly Readonly<Record<string, unknown>>[] {
    return bench()
      .commit(name, version)
      .flatMap((action) => (action[kind] === undefined ? [] : [action[kind]]));
  }

  it('B23: deletion vectors: a delete marks rows and keeps the file, REORG PURGE takes the marked rows out', async () => {
    const { sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('vectors')} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableDeletionVectors = true)`);
    expect(await protocolOf('vectors')).toEqual({
      minReaderVersion: 3,
      minWriterVersion: 7,
      tableFeatures: ['appendOnly', 'deletionVectors', 'invariants'],
    });
    await sql(`INSERT INTO ${at('vectors')} SELECT CAST(id AS INT), concat('v', id) FROM range(10)`);
    expect(await sql(`DELETE FROM ${at('vectors')} WHERE id IN (2, 3)`)).toEqual([{ num_affected_rows: 2n }]);
    const [added] = actions('vectors', 2, 'add');
    expect(added?.['path']).toBe(actions('vectors', 1, 'add')[0]?.['path']);
    expect(added?.['deletionVector']).toMatchObject({ cardinality: 2 });
    const entry = await bench().lastEntry('vectors');
    expect(Object.fromEntries(entry['operationMetrics'] as ReadonlyMap<string, string>)).toMatchObject({
      numDeletedRows: '2',
      numDeletionVectorsAdded: '1',
      numCopiedRows: '0',
    });
    await sql(`UPDATE ${at('vectors')} SET v = 'z' WHERE id = 5`);
    const merge = `MERGE INTO ${at('vectors')} t USING (SELECT 6 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE`;
    expect(await sql(merge)).toMatchObject([{ num_deleted_rows: 1n }]);
    await sharedWithSpark('vectors', "VALUES (20, 'spark')");
    await sql(`REORG TABLE ${at('vectors')} APPLY (PURGE)`);
    const version = await bench().version('vectors');
    expect(actions('vectors', version, 'add').every((add) => add['deletionVector'] === undefined)).toBe(true);
    expect((await bench().lastEntry('vectors'))['operation']).toBe('REORG');
    expect((await bench().rows('vectors')).map((row) => row['id'])).toEqual([0, 1, 4, 5, 7, 8, 9, 20]);
    expect(readdirSync(path('vectors')).some((file) => file.startsWith('deletion_vector_'))).toBe(true);
    await bench().agree('vectors');
  });

  it('B23: deletion vectors can be switched on and off later', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('later')} (id INT) USING delta`);
    await sql(`INSERT INTO ${at('later')} VALUES (1), (2), (3)`);
    await sql(`ALTER TABLE ${at('later')} SET TBLPROPERTIES (delta.enableDeletionVectors = true)`);
    await sql(`DELETE FROM ${at('later')} WHERE id = 1`);
    expect(actions('later', 3, 'add')[0]?.['deletionVector']).toBeDefined();
    await sql(`ALTER TABLE ${at('later')} SET TBLPROPERTIES (delta.enableDeletionVectors = false)`);
    await sql(`DELETE FROM ${at('later')} WHERE id = 2`);
    expect(actions('later', 5, 'add')[0]?.['deletionVector']).toBeUndefined();
    expect(await bench().rows('later')).toEqual([{ id: 3 }]);
    await bench().agree('later');
  });

  it.each(['name', 'id'])(
    'B23: column mapping by %s: columns have names of their own in files, and odd names in the table',
    async (mode) => {
      const { sql, at } = bench();
      const name = `mapped-${mode}`;
      await sql(`CREATE TABLE ${at(name)} (id INT, \`a b\` STRING, p STRING) USING delta PARTITIONED BY (p)
      TBLPROPERTIES (delta.columnMapping.mode = '${mode}')`);
      expect(await protocolOf(name)).toMatchObject({ minReaderVersion: 2 });
      await sql(`INSERT INTO ${at(name)} VALUES (1, 'x', 'q')`);
      await sql(`ALTER TABLE ${at(name)} RENAME COLUMN \`a b\` TO c`);
      await sql(`ALTER TABLE ${at(name)} ADD COLUMN \`a b\` INT`);
      await sql(`INSERT INTO ${at(name)} VALUES (2, 'y', 'q', 7)`);
      expect(await bench().rows(name)).toEqual([
        { id: 1, c: 'x', p: 'q', 'a b': null },
        { id: 2, c: 'y', p: 'q', 'a b': 7 },
      ]);
      await sql(`ALTER TABLE ${at(name)} DROP COLUMN \`a b\``);
      // DuckDB reads nulls for mapped partition columns, of every writer.
      if (mode === 'id') await bench().agree(name, { engines: ['delta-rs'] });
      else await sharedWithSpark(name, "VALUES (3, 'z', 'r')", ['delta-rs']);
    },
  );

  it('B23: column mapping: a table that has rows is mapped by name later', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('upgraded')} (id INT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at('upgraded')} VALUES (1, 'a')`);
    await sql(`ALTER TABLE ${at('upgraded')} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')`);
    await sql(`ALTER TABLE ${at('upgraded')} RENAME COLUMN v TO w`);
    await sql(`INSERT INTO ${at('upgraded')} VALUES (2, 'b')`);
    expect(await bench().rows('upgraded')).toEqual([
      { id: 1, w: 'a' },
      { id: 2, w: 'b' },
    ]);
    await bench().agree('upgraded');
  });

  it('B23: V2 checkpoints are written in place of classic ones', async () => {
    const { sql, at, log, another, path } = bench();
    await sql(`CREATE TABLE ${at('v2')} (id INT) USING delta
      TBLPROPERTIES (delta.checkpointPolicy = 'v2', delta.checkpointInterval = 3)`);
    expect(await protocolOf('v2')).toEqual({
      minReaderVersion: 3,
      minWriterVersion: 7,
      tableFeatures: ['appendOnly', 'invariants', 'v2Checkpoint'],
    });
    for (let id = 0; id < 4; id += 1) await sql(`INSERT INTO ${at('v2')} VALUES (${id})`);
    expect(log('v2').filter((file) => /^0{19}3\.checkpoint\.[0-9a-f-]{36}\.(parquet|json)$/.test(file))).toHaveLength(1);
    expect(await another().read.load(path('v2')).count()).toBe(4);
    await sharedWithSpark('v2', 'VALUES (9)');
  });

  it('B23: in-commit timestamps are in the first action of every version, and never go back', async () => {
    const { sql, at, commit, session, path } = bench();
    await sql(`CREATE TABLE ${at('ict')} (id INT) USING delta TBLPROPERTIES (delta.enableInCommitTimestamps = true)`);
    for (let id = 0; id < 3; id += 1) await sql(`INSERT INTO ${at('ict')} VALUES (${id})`);
    const times = [0, 1, 2, 3].map((version) => Number(commit('ict', version)[0]?.['commitInfo']?.['inCommitTimestamp']));
    expect(times.every((time, index) => index === 0 || time > (times[index - 1] ?? 0))).toBe(true);
    const history = await sql(`DESCRIBE HISTORY ${at('ict')}`);
    expect(history.map((row) => Date.parse(textIn(row, 'timestamp')))).toEqual([...times].reverse());
    const then = new Date(times[1] ?? 0).toISOString().replace('T', ' ').replace('Z', '');
    expect(await session.read.option('timestampAsOf', then).load(path('ict')).count()).toBe(1);
    await sharedWithSpark('ict', 'VALUES (9)');
  });

  it('B23: in-commit timestamps can be switched on later, which is written down', async () => {
    const { sql, at, commit } = bench();
    await sql(`CREATE TABLE ${at('ict-later')} (id INT) USING delta`);
    await sql(`INSERT INTO ${at('ict-later')} VALUES (1)`);
    await sql(`ALTER TABLE ${at('ict-later')} SET TBLPROPERTIES (delta.enableInCommitTimestamps = true)`);
    const time = Number(commit('ict-later', 2)[0]?.['commitInfo']?.['inCommitTimestamp']);
    const properties = await sql(`SHOW TBLPROPERTIES ${at('ict-later')}`);
    expect(properties).toEqual(
      expect.arrayContaining([
        { key: 'delta.inCommitTimestampEnablementVersion', value: '2' },
        { key: 'delta.inCommitTimestampEnablementTimestamp', value: String(time) },
      ]),
    );
    await bench().agree('ict-later');
  });

  it('B23: row tracking gives each row an id that survives updates and compaction', async () => {
    const { sql, at, oracle } = bench();
    await sql(`CREATE TABLE ${at('tracked')} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableRowTracking = true)`);
    expect(await protocolOf('tracked')).toEqual({
      minReaderVersion: 1,
      minWriterVersion: 7,
      tableFeatures: ['appendOnly', 'domainMetadata', 'invariants', 'rowTracking'],
    });
    await sql(`INSERT INTO ${at('tracked')} VALUES (1, 'a')`);
    await sql(`INSERT INTO ${at('tracked')} VALUES (2, 'b')`);
    expect(actions('tracked', 1, 'add')[0]).toMatchObject({ baseRowId: 0, defaultRowCommitVersion: 1 });
    expect(actions('tracked', 2, 'add')[0]).toMatchObject({ baseRowId: 1, defaultRowCommitVersion: 2 });
    const ids = async (): Promise<readonly unknown[] | undefined> =>
      oracle?.sql(`SELECT id, v, _metadata.row_id AS r, _metadata.row_commit_version AS c FROM ${at('tracked')} ORDER BY id`);
    await sql(`UPDATE ${at('tracked')} SET v = 'z' WHERE id = 1`);
    await sql(`OPTIMIZE ${at('tracked')}`);
    if (oracle !== undefined) {
      expect(await ids()).toEqual([
        { id: 1, v: 'z', r: 0, c: 3 },
        { id: 2, v: 'b', r: 1, c: 2 },
      ]);
    }
    await sharedWithSpark('tracked', "VALUES (3, 'c')");
  });

  it('B23: type widening, clustering, defaults and time without zone are written too', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('wide')} (id INT, f FLOAT) USING delta TBLPROPERTIES (delta.enableTypeWidening = true)`);
    await sql(`INSERT INTO ${at('wide')} VALUES (1, 1.5)`);
    await sql(`ALTER TABLE ${at('wide')} ALTER COLUMN id TYPE BIGINT`);
    await sql(`ALTER TABLE ${at('wide')} ALTER COLUMN f TYPE DOUBLE`);
    await sql(`INSERT INTO ${at('wide')} VALUES (3000000000, 0.1)`);
    expect(await bench().rows('wide')).toEqual([
      { id: 1n, f: 1.5 },
      { id: 3000000000n, f: 0.1 },
    ]);
    const { oracle, path } = bench();
    // delta-rs does not read tables with type widening.
    await bench().agree('wide', { engines: ['duckdb', 'spark'] });
    await sql(`CREATE TABLE ${at('clustered')} (id INT, k INT DEFAULT 7, t TIMESTAMP_NTZ) USING delta CLUSTER BY (k)
      TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')`);
    await sql(`INSERT INTO ${at('clustered')} (id, t) VALUES (1, TIMESTAMP_NTZ '2024-02-29 10:00:00')`);
    expect(await bench().rows('clustered')).toEqual([{ id: 1, k: 7, t: '2024-02-29T10:00:00.000000' }]);
    await sharedWithSpark('clustered', "(id, t) VALUES (2, TIMESTAMP_NTZ '2024-03-01 10:00:00')");
    const detail = await oracle?.sql(`DESCRIBE DETAIL delta.\`${path('clustered')}\``);
    if (detail !== undefined) expect(detail[0]?.['clusteringColumns']).toEqual(['k']);
  });

  it('B23: protocol and features are raised and dropped by DeltaTable', async () => {
    const { session, sql, at, path } = bench();
    await sql(`CREATE TABLE ${at('raised')} (id INT) USING delta`);
    expect(await protocolOf('raised')).toMatchObject({ minReaderVersion: 1, minWriterVersion: 2 });
    const table = await DeltaTable.forPath(session, path('raised'));
    await table.upgradeTableProtocol(2, 5);
    expect(await protocolOf('raised')).toMatchObject({ minReaderVersion: 2, minWriterVersion: 5 });
    await table.addFeatureSupport('deletionVectors');
    const raised = await protocolOf('raised');
    expect(raised).toMatchObject({ minReaderVersion: 3, minWriterVersion: 7 });
    expect(raised['tableFeatures']).toContain('deletionVectors');
    await expect(table.addFeatureSupport('timeTurner')).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_FEATURES_IN_CONFIG',
      message: expect.stringContaining('timeTurner') as string,
    });
    const history = await sql(`DESCRIBE HISTORY ${at('raised')}`);
    expect(history.map((entry) => entry['operation'])).toEqual(['SET TBLPROPERTIES', 'UPGRADE PROTOCOL', 'CREATE TABLE']);
    await bench().agree('raised');
  });
});
