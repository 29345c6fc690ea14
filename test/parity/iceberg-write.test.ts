import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { col, functions } from '../../src/index.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** DataFrames to Iceberg tables, and what a failed write leaves. */
describe('writing Iceberg tables', () => {
  const bench = icebergBench();
  const people = (...ids: readonly number[]) =>
    bench().session.createDataFrame(
      ids.map((id) => ({ id, v: `v${id}` })),
      'id INT, v STRING',
    );

  it('A04: an overwrite saved as a new table makes v1.metadata.json and a first snapshot, append, without a parent', async () => {
    await people(1, 2).write.format('iceberg').mode('overwrite').saveAsTable('db.first');
    expect(readdirSync(join(bench().path('first'), 'metadata'))).toEqual(expect.arrayContaining(['v1.metadata.json', 'version-hint.text']));
    const [snapshot, ...others] = await bench().snapshots('db.first');
    expect(others).toEqual([]);
    expect(snapshot).toMatchObject({ operation: 'append', parent: null });
    expect(snapshot?.summary).toMatchObject({ 'added-records': '2', 'total-records': '2', 'total-data-files': '1' });
    expect(bench().metadata('first')['current-snapshot-id']).toBe(String(snapshot?.id));
    expect(await bench().rows('db.first')).toEqual([
      { id: 1, v: 'v1' },
      { id: 2, v: 'v2' },
    ]);
    await bench().agree('first');
  });

  it('A04: append adds a snapshot, ignore and errorifexists leave the table alone', async () => {
    await people(1).write.format('iceberg').mode('append').saveAsTable('db.modes');
    await people(2).write.format('iceberg').mode('append').saveAsTable('db.modes');
    const [first, second] = await bench().snapshots('db.modes');
    expect(second).toMatchObject({ operation: 'append', parent: first?.id });
    await people(3).write.format('iceberg').mode('ignore').saveAsTable('db.modes');
    for (const mode of ['errorifexists', 'error']) {
      const refused = await refusalOf(people(3).write.format('iceberg').mode(mode).saveAsTable('db.modes'));
      expect(refused).toMatchObject({ errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS', sqlState: '42P07' });
      expect(refused.message).toMatch(/^Cannot create table or view `db`\.`modes` because it already exists\./);
    }
    expect(await bench().snapshots('db.modes')).toHaveLength(2);
    expect((await bench().rows('db.modes')).map((row) => row['id'])).toEqual([1, 2]);
    await bench().agree('modes');
  });

  it('A04: an overwrite saved again replaces the table: a snapshot without a parent', async () => {
    await people(1).write.format('iceberg').mode('overwrite').saveAsTable('db.again');
    const before = bench().metadata('again');
    const frame = bench().session.createDataFrame([{ id: 9n, other: 1.5 }], 'id BIGINT, other DOUBLE');
    await frame.write.format('iceberg').mode('overwrite').saveAsTable('db.again');
    const snapshots = await bench().snapshots('db.again');
    expect(snapshots.map(({ parent }) => parent)).toEqual([null, null]);
    expect(bench().metadata('again')['table-uuid']).toBe(before['table-uuid']);
    expect(await bench().rows('db.again')).toEqual([{ id: 9n, other: 1.5 }]);
    await bench().agree('again');
  });

  it('A04: save with mode overwrite keeps the table and replaces its rows in an overwrite', async () => {
    await people(1, 2).write.format('iceberg').saveAsTable('db.saved');
    await people(3).write.format('iceberg').mode('overwrite').save('db.saved');
    const [first, second] = await bench().snapshots('db.saved');
    expect(second).toMatchObject({ operation: 'overwrite', parent: first?.id });
    expect(second?.summary).toMatchObject({
      'added-records': '1',
      'deleted-records': '2',
      'total-records': '1',
      'deleted-data-files': '1',
    });
    expect(await bench().rows('db.saved')).toEqual([{ id: 3, v: 'v3' }]);
    await bench().agree('saved');
  });

  it('A04: options of a write choose format, size and properties of the snapshot; unknown ones are refused by name', async () => {
    const options = { 'write-format': 'avro', 'snapshot-property.ticket': 'T-1' };
    await people(1).write.format('iceberg').mode('append').saveAsTable('db.options');
    await people(2).write.format('iceberg').mode('append').options(options).saveAsTable('db.options');
    expect((await bench().lastSnapshot('db.options')).summary).toMatchObject({ ticket: 'T-1' });
    expect(
      bench()
        .dataFiles('options')
        .map((name) => name.split('.').at(-1))
        .sort(),
    ).toEqual(['avro', 'parquet']);
    expect(await refusalOf(people(3).write.format('iceberg').option('write-fromat', 'orc').save('db.options'))).toMatchObject({
      message: expect.stringContaining('write-fromat') as string,
    });
  });

  it('A05: writeTo creates once, and appends by name', async () => {
    await people(1).writeTo('db.two').using('iceberg').create();
    expect(await bench().lastSnapshot('db.two')).toMatchObject({ operation: 'append', parent: null });
    expect(await refusalOf(people(1).writeTo('db.two').using('iceberg').create())).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    await people(2).select(col('v'), col('id')).writeTo('db.two').append();
    // A column that is missing is null.
    await people(3).select('id').writeTo('db.two').append();
    expect(await bench().rows('db.two')).toEqual([
      { id: 1, v: 'v1' },
      { id: 2, v: 'v2' },
      { id: 3, v: null },
    ]);
    expect((await bench().snapshots('db.two')).map(({ operation }) => operation)).toEqual(['append', 'append', 'append']);
    await bench().agree('two');
  });

  it('A05: createOrReplace keeps uuid and history, and its snapshot has no parent', async () => {
    await people(1).writeTo('db.replaced').using('iceberg').tableProperty('owner', 'me').createOrReplace();
    const before = bench().metadata('replaced');
    await people(2, 3)
      .withColumn('n', functions.lit(7))
      .writeTo('db.replaced')
      .using('iceberg')
      .partitionedBy(functions.bucket(4, col('id')))
      .createOrReplace();
    const after = bench().metadata('replaced');
    expect(after['table-uuid']).toBe(before['table-uuid']);
    const snapshots = await bench().snapshots('db.replaced');
    expect(snapshots.map(({ parent }) => parent)).toEqual([null, null]);
    expect(await bench().rows('db.replaced')).toEqual([
      { id: 2, v: 'v2', n: 7 },
      { id: 3, v: 'v3', n: 7 },
    ]);
    // The rows of before are there as long as their snapshot is.
    expect(await bench().sql(`SELECT * FROM db.replaced VERSION AS OF ${String(snapshots[0]?.id)}`)).toEqual([{ id: 1, v: 'v1' }]);
    expect(await bench().sql('SHOW CREATE TABLE db.replaced')).toEqual([
      { createtab_stmt: expect.stringContaining('PARTITIONED BY (bucket(4, id))') as string },
    ]);
    expect(await refusalOf(people(1).writeTo('db.absent').using('iceberg').replace())).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    });
    await bench().agree('replaced');
  });

  it('A05: overwritePartitions replaces the partitions that the rows have, overwrite the rows of a condition', async () => {
    const parted = (...rows: readonly (readonly [number, string])[]) =>
      bench().session.createDataFrame(
        rows.map(([id, p]) => ({ id, p })),
        'id INT, p STRING',
      );
    await parted([1, 'a'], [2, 'a'], [3, 'b']).writeTo('db.parted').using('iceberg').partitionedBy('p').create();
    await parted([4, 'a'], [5, 'c']).writeTo('db.parted').overwritePartitions();
    expect(await bench().rows('db.parted')).toEqual([
      { id: 3, p: 'b' },
      { id: 4, p: 'a' },
      { id: 5, p: 'c' },
    ]);
    const dynamic = await bench().lastSnapshot('db.parted');
    expect(dynamic).toMatchObject({ operation: 'overwrite' });
    expect(dynamic.summary).toMatchObject({ 'replace-partitions': 'true', 'changed-partition-count': '2', 'deleted-records': '2' });
    await parted([6, 'b']).writeTo('db.parted').overwrite("p = 'b'");
    expect((await bench().rows('db.parted')).map((row) => row['id'])).toEqual([4, 5, 6]);
    await bench().agree('parted');
  });

  it('A21: a write that does not fit is refused as Spark refuses it, and leaves no snapshot and no file', async () => {
    const { session, sql } = bench();
    await sql('CREATE TABLE db.strict (id INT NOT NULL, v STRING) USING iceberg');
    await sql("INSERT INTO db.strict VALUES (1, 'a')");
    const before = [await bench().snapshots('db.strict'), bench().dataFiles('strict')];
    const wide = session.createDataFrame([{ id: 2, v: 'b', x: 1 }], 'id INT, v STRING, x INT');
    expect(await refusalOf(wide.writeTo('db.strict').append())).toMatchObject({
      errorClass: 'INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS',
      sqlState: '21S01',
      message:
        'Cannot write to `ice`.`db`.`strict`, the reason is too many data columns:\nTable columns: `id`, `v`.\nData columns: `id`, `v`, `x`.',
    });
    expect(await refusalOf(sql('INSERT INTO db.strict VALUES (2)'))).toMatchObject({
      errorClass: 'INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS',
      sqlState: '21S01',
      message:
        'Cannot write to `ice`.`db`.`strict`, the reason is not enough data columns:\nTable columns: `id`, `v`.\nData columns: `col1`.',
    });
    const text = session.createDataFrame([{ id: 'x', v: 'b' }], 'id STRING, v STRING');
    expect(await refusalOf(text.writeTo('db.strict').append())).toMatchObject({
      errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST',
      sqlState: 'KD000',
      message: 'Cannot write incompatible data for the table `ice`.`db`.`strict`: Cannot safely cast `id` "STRING" to "INT".',
    });
    const nulls = await refusalOf(sql("INSERT INTO db.strict SELECT CASE WHEN id < 500 THEN id END, 'n' FROM range(1000)"));
    expect(nulls).toMatchObject({ errorClass: 'NOT_NULL_ASSERT_VIOLATION', sqlState: '42000' });
    expect(nulls.message).toMatch(/^NULL value appeared in non-nullable field: id/);
    await expect(sql("INSERT INTO db.strict SELECT id, CAST(raise_error('stop') AS STRING) FROM range(10)")).rejects.toThrow('stop');
    expect([await bench().snapshots('db.strict'), bench().dataFiles('strict')]).toEqual(before);
    await bench().agree('strict');
  });

  it('A21: a table whose first rows cannot be written is not made', async () => {
    await refusalOf(bench().sql("CREATE TABLE db.unmade USING iceberg AS SELECT CAST('x' AS INT) AS id"));
    expect(await bench().sql("SHOW TABLES IN db LIKE 'unmade'")).toEqual([]);
    expect(existsSync(join(bench().path('unmade'), 'metadata', 'v1.metadata.json'))).toBe(false);
    expect(bench().dataFiles('unmade')).toEqual([]);
  });

  it('A21: eight sessions that append at once lose nothing', async () => {
    await bench().sql("CREATE TABLE db.shared (id BIGINT, writer INT) USING iceberg TBLPROPERTIES ('commit.retry.num-retries' = '50')");
    const sessions = Array.from({ length: 8 }, () => bench().another({ 'tidewater.engine.threads': 1 }));
    await Promise.all(
      sessions.map(async (session, writer) => {
        for (let turn = 0; turn < 3; turn += 1) await session.sql(`INSERT INTO db.shared VALUES (${turn}, ${writer})`);
      }),
    );
    expect(await bench().sql('SELECT writer, count(*) AS n FROM db.shared GROUP BY writer ORDER BY writer')).toEqual(
      Array.from({ length: 8 }, (_, writer) => ({ writer, n: 3n })),
    );
    const snapshots = await bench().snapshots('db.shared');
    expect(snapshots).toHaveLength(24);
    expect(snapshots.map(({ parent }) => parent)).toEqual([null, ...snapshots.slice(0, -1).map(({ id }) => id)]);
    expect(snapshots.at(-1)?.summary).toMatchObject({ 'total-records': '24', 'total-data-files': '24' });
    expect(bench().metadata('shared')['last-sequence-number']).toBe(24);
    await bench().agree('shared');
  });

  it('A21: updates of the same rows at once conflict or follow one another, never both of one file', async () => {
    await bench().sql('CREATE TABLE db.contended USING iceberg AS SELECT id, 0 AS n FROM range(4)');
    const sessions = Array.from({ length: 4 }, () => bench().another({ 'tidewater.engine.threads': 1 }));
    const outcomes = await Promise.allSettled(sessions.map((session) => session.sql('UPDATE db.contended SET n = n + 1 WHERE id = 1')));
    const done = outcomes.filter(({ status }) => status === 'fulfilled').length;
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(String(outcome.reason)).toMatch(/Found conflicting files|Missing required files to delete/);
    }
    expect(await bench().sql('SELECT n FROM db.contended WHERE id = 1')).toEqual([{ n: done }]);
    expect(await bench().snapshots('db.contended')).toHaveLength(1 + done);
    await bench().agree('contended');
  });
});
