import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

const modes = ['copy-on-write', 'merge-on-read'] as const;
const versions = [1, 2, 3] as const;
const markedCases = versions.flatMap((version) =>
  modes.filter((mode) => version > 1 || mode === 'copy-on-write').map((mode) => ({ version, mode })),
);

/** DELETE, INSERT, UPDATE and MERGE in SQL. */
describe('row operations on Iceberg tables', () => {
  const bench = icebergBench();

  /** (0 'a'), (1 'b'), (2 'a'), (3 'b'), … in one file for each value of p. */
  async function made(
    name: string,
    { version, mode }: { readonly version: number; readonly mode: string },
    count: number = 6,
  ): Promise<void> {
    await bench().sql(`CREATE TABLE db.${name} (id BIGINT, v STRING, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES
      ('format-version' = '${version}', 'write.delete.mode' = '${mode}', 'write.update.mode' = '${mode}', 'write.merge.mode' = '${mode}')`);
    await bench().sql(`INSERT INTO db.${name} SELECT id, concat('v', id), CASE id % 2 WHEN 0 THEN 'a' ELSE 'b' END FROM range(${count})`);
  }

  const ids = async (name: string): Promise<readonly unknown[]> => (await bench().rows(`db.${name}`)).map((row) => row['id']);

  it('A13: DELETE rewrites files: an overwrite with the previous snapshot as parent', async () => {
    await made('deleted', { version: 2, mode: 'copy-on-write' });
    const before = await bench().lastSnapshot('db.deleted');
    await bench().sql('DELETE FROM db.deleted WHERE id = 2');
    const after = await bench().lastSnapshot('db.deleted');
    expect(after).toMatchObject({ operation: 'overwrite', parent: before.id });
    expect(after.summary).toMatchObject({
      'added-data-files': '1',
      'deleted-data-files': '1',
      'added-records': '2',
      'deleted-records': '3',
      'total-records': '5',
    });
    expect(await ids('deleted')).toEqual([0n, 1n, 3n, 4n, 5n]);
    // The old file is still there for the older snapshot.
    expect(await bench().sql(`SELECT count(*) AS n FROM db.deleted VERSION AS OF ${String(before.id)}`)).toEqual([{ n: 6n }]);
    expect(bench().dataFiles('deleted')).toHaveLength(3);
    await bench().agree('deleted');
  });

  it('A13: a DELETE of whole files or partitions is a delete that writes no file; one that matches nothing makes an empty snapshot', async () => {
    await made('whole', { version: 2, mode: 'copy-on-write' });
    const files = bench().dataFiles('whole');
    await bench().sql("DELETE FROM db.whole WHERE p = 'a'");
    expect(await bench().lastSnapshot('db.whole')).toMatchObject({
      operation: 'delete',
      summary: expect.objectContaining({ 'deleted-data-files': '1', 'deleted-records': '3' }) as unknown,
    });
    expect(bench().dataFiles('whole')).toEqual(files);
    expect(await ids('whole')).toEqual([1n, 3n, 5n]);
    const before = await bench().snapshots('db.whole');
    expect(await bench().sql('DELETE FROM db.whole WHERE id > 1000')).toEqual([{ num_affected_rows: 0n }]);
    // As in Spark: a snapshot that changes nothing, and none where the condition is plainly false.
    const after = await bench().snapshots('db.whole');
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({
      operation: 'delete',
      summary: expect.objectContaining({ 'total-records': '3', 'total-data-files': '1' }) as unknown,
    });
    await bench().sql('DELETE FROM db.whole WHERE false');
    expect(await bench().snapshots('db.whole')).toEqual(after);
    await bench().sql('DELETE FROM db.whole');
    expect(await bench().lastSnapshot('db.whole')).toMatchObject({
      operation: 'delete',
      summary: expect.objectContaining({ 'total-records': '0', 'total-data-files': '0' }) as unknown,
    });
    expect(await ids('whole')).toEqual([]);
    await bench().agree('whole', { engines: ['pyiceberg'] });
  });

  it('A13: with merge-on-read rows are marked in delete files: position deletes, from version 3 on deletion vectors', async () => {
    await made('marked2', { version: 2, mode: 'merge-on-read' });
    await bench().sql('DELETE FROM db.marked2 WHERE id IN (2, 3)');
    const second = await bench().lastSnapshot('db.marked2');
    expect(second.operation).toBe('delete');
    expect(second.summary).toMatchObject({ 'added-position-deletes': '2', 'total-position-deletes': '2', 'total-data-files': '2' });
    expect(Number(second.summary['added-position-delete-files'])).toBeGreaterThan(0);
    expect(await ids('marked2')).toEqual([0n, 1n, 4n, 5n]);
    await bench().agree('marked2');
    await bench().sql('DELETE FROM db.marked2 WHERE id = 4');
    // The delete file of a data file takes the place of the one before it.
    expect((await bench().lastSnapshot('db.marked2')).summary).toMatchObject({
      'removed-position-delete-files': '1',
      'total-position-deletes': '3',
    });
    expect(await ids('marked2')).toEqual([0n, 1n, 5n]);
    await bench().agree('marked2');
    await made('marked3', { version: 3, mode: 'merge-on-read' });
    await bench().sql('DELETE FROM db.marked3 WHERE id = 2');
    await bench().sql('DELETE FROM db.marked3 WHERE id = 4');
    const third = await bench().lastSnapshot('db.marked3');
    expect(third.summary).toMatchObject({
      'added-dvs': '1',
      'removed-dvs': '1',
      'added-position-deletes': '2',
      'total-position-deletes': '2',
    });
    expect(
      bench()
        .dataFiles('marked3')
        .some((file) => file.endsWith('.puffin')),
    ).toBe(true);
    expect(await ids('marked3')).toEqual([0n, 1n, 3n, 5n]);
    await bench().agree('marked3', { engines: ['duckdb'] });
  });

  it('A13: null is neither true nor false: such rows stay', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.nulls USING iceberg AS SELECT * FROM VALUES (1, 'a'), (2, NULL), (3, 'c') AS t(id, v)");
    await sql("DELETE FROM db.nulls WHERE v <> 'a'");
    expect((await bench().rows('db.nulls')).map((row) => row['id'])).toEqual([1, 2]);
    await refusalOf(sql('DELETE FROM db.nulls WHERE nope = 1'));
    await bench().agree('nulls');
  });

  it('A13: TRUNCATE TABLE empties a table by its metadata alone', async () => {
    await made('truncated', { version: 2, mode: 'copy-on-write' });
    const files = bench().dataFiles('truncated');
    await bench().sql('TRUNCATE TABLE db.truncated');
    expect(await bench().lastSnapshot('db.truncated')).toMatchObject({ operation: 'delete' });
    expect(bench().dataFiles('truncated')).toEqual(files);
    expect(await ids('truncated')).toEqual([]);
  });

  it('A14: INSERT by place and by name, of values and of queries, appends', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.inserted (id BIGINT, v STRING, s STRUCT<a: INT, b: INT>) USING iceberg');
    await sql("INSERT INTO db.inserted VALUES (1, 'a', struct(1, 2)), (2, NULL, NULL)");
    await sql("INSERT INTO db.inserted (v, id) VALUES ('c', 3)");
    await sql("INSERT INTO db.inserted BY NAME SELECT 'd' AS v, 4 AS id, named_struct('b', 8, 'a', 7) AS s");
    await sql('INSERT INTO db.inserted SELECT id + 10, v, s FROM db.inserted WHERE id = 1');
    expect(await bench().rows('db.inserted')).toEqual([
      { id: 1n, v: 'a', s: { a: 1, b: 2 } },
      { id: 2n, v: null, s: null },
      { id: 3n, v: 'c', s: null },
      { id: 4n, v: 'd', s: { a: 7, b: 8 } },
      { id: 11n, v: 'a', s: { a: 1, b: 2 } },
    ]);
    expect((await bench().snapshots('db.inserted')).map(({ operation }) => operation)).toEqual(['append', 'append', 'append', 'append']);
    expect(await refusalOf(sql("INSERT INTO db.inserted VALUES (1, 'a', struct(1, 2, 3))"))).toMatchObject({
      errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_STRUCT_FIELDS',
    });
    await bench().agree('inserted');
  });

  it('A14: INSERT OVERWRITE replaces everything, a partition, or the partitions that come', async () => {
    const { sql, session } = bench();
    await made('static', { version: 2, mode: 'copy-on-write' });
    await sql("INSERT OVERWRITE db.static PARTITION (p = 'a') SELECT 100, 'x'");
    expect(await ids('static')).toEqual([1n, 3n, 5n, 100n]);
    await sql("INSERT OVERWRITE db.static VALUES (7, 'y', 'c')");
    expect(await ids('static')).toEqual([7n]);
    expect((await bench().snapshots('db.static')).map(({ operation }) => operation)).toEqual(['append', 'overwrite', 'overwrite']);
    await bench().agree('static');
    await made('dynamic', { version: 2, mode: 'copy-on-write' });
    session.conf.set('spark.sql.sources.partitionOverwriteMode', 'dynamic');
    await sql("INSERT OVERWRITE db.dynamic VALUES (100, 'x', 'a'), (200, 'y', 'c')");
    session.conf.unset('spark.sql.sources.partitionOverwriteMode');
    expect(await ids('dynamic')).toEqual([1n, 3n, 5n, 100n, 200n]);
    expect((await bench().lastSnapshot('db.dynamic')).summary).toMatchObject({ 'replace-partitions': 'true' });
    await bench().agree('dynamic');
  });

  it.each(markedCases)('A14: UPDATE in version $version, $mode: values see the row as it was, rows may move', async ({ version, mode }) => {
    const name = `updated${version}${mode === 'copy-on-write' ? 'c' : 'm'}`;
    await made(name, { version, mode });
    expect(await bench().sql(`UPDATE db.${name} SET v = concat(p, v), p = 'c' WHERE id IN (2, 3)`)).toEqual([{ num_affected_rows: 2n }]);
    expect(await bench().rows(`db.${name}`)).toEqual([
      { id: 0n, v: 'v0', p: 'a' },
      { id: 1n, v: 'v1', p: 'b' },
      { id: 2n, v: 'av2', p: 'c' },
      { id: 3n, v: 'bv3', p: 'c' },
      { id: 4n, v: 'v4', p: 'a' },
      { id: 5n, v: 'v5', p: 'b' },
    ]);
    expect(await bench().lastSnapshot(`db.${name}`)).toMatchObject({ operation: 'overwrite' });
    await bench().sql(`UPDATE db.${name} SET v = 'all'`);
    expect(await bench().sql(`SELECT DISTINCT v FROM db.${name}`)).toEqual([{ v: 'all' }]);
    await bench().agree(name, version === 3 && mode === 'merge-on-read' ? { engines: ['duckdb'] } : {});
  });

  it.each(markedCases)('A14: MERGE with every clause in version $version, $mode', async ({ version, mode }) => {
    const name = `merged${version}${mode === 'copy-on-write' ? 'c' : 'm'}`;
    await made(name, { version, mode });
    const result =
      await bench().sql(`MERGE INTO db.${name} t USING (SELECT * FROM VALUES (0, 'gone'), (1, 'new'), (8, 'in'), (9, 'out') AS s(k, n)) s ON t.id = s.k
      WHEN MATCHED AND s.n = 'gone' THEN DELETE
      WHEN MATCHED THEN UPDATE SET v = s.n
      WHEN NOT MATCHED AND s.n = 'in' THEN INSERT (id, v, p) VALUES (s.k, s.n, 'c')
      WHEN NOT MATCHED BY SOURCE AND t.id = 5 THEN DELETE
      WHEN NOT MATCHED BY SOURCE AND t.id > 3 THEN UPDATE SET v = 'kept'`);
    expect(result).toEqual([{ num_affected_rows: 5n, num_updated_rows: 2n, num_deleted_rows: 2n, num_inserted_rows: 1n }]);
    expect(await bench().rows(`db.${name}`)).toEqual([
      { id: 1n, v: 'new', p: 'b' },
      { id: 2n, v: 'v2', p: 'a' },
      { id: 3n, v: 'v3', p: 'b' },
      { id: 4n, v: 'kept', p: 'a' },
      { id: 8n, v: 'in', p: 'c' },
    ]);
    const { operation, summary } = await bench().lastSnapshot(`db.${name}`);
    expect(operation).toBe('overwrite');
    expect(summary['total-records'] === '5' || summary['total-position-deletes'] !== '0').toBe(true);
    await bench().agree(name, version === 3 && mode === 'merge-on-read' ? { engines: ['duckdb'] } : {});
  });

  it('A14: MERGE with UPDATE * and INSERT *, and the refusal of several matches', async () => {
    const { sql } = bench();
    await made('starred', { version: 2, mode: 'copy-on-write' });
    await sql(
      "MERGE INTO db.starred t USING (SELECT 1L AS id, 'one' AS v, 'b' AS p UNION ALL SELECT 77L, 'new', 'z') s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    );
    expect(await sql('SELECT id, v FROM db.starred WHERE id IN (1, 77) ORDER BY id')).toEqual([
      { id: 1n, v: 'one' },
      { id: 77n, v: 'new' },
    ]);
    const before = await bench().snapshots('db.starred');
    const twice = refusalOf(
      sql(
        "MERGE INTO db.starred t USING (SELECT 1L AS id, explode(array('x', 'y')) AS v) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",
      ),
    );
    expect(await twice).toMatchObject({
      errorClass: 'MERGE_CARDINALITY_VIOLATION',
      sqlState: '23K01',
      message: expect.stringMatching(
        /^The ON search condition of the MERGE statement matched a single row from the target table with multiple rows of the source table\./,
      ) as string,
    });
    expect(await bench().snapshots('db.starred')).toEqual(before);
    await bench().agree('starred');
  });

  it('A14: what cannot be assigned is refused, and nothing is changed', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.assigned (id INT NOT NULL, v STRING) USING iceberg');
    await sql("INSERT INTO db.assigned VALUES (1, 'a')");
    expect(await refusalOf(sql('UPDATE db.assigned SET id = NULL'))).toMatchObject({
      errorClass: 'NOT_NULL_ASSERT_VIOLATION',
      sqlState: '42000',
    });
    await refusalOf(sql('UPDATE db.assigned SET nope = 1'));
    await refusalOf(sql("UPDATE db.assigned SET id = 'x'"));
    await refusalOf(sql('UPDATE db.assigned SET id = 3000000000'));
    expect(await bench().snapshots('db.assigned')).toHaveLength(1);
    expect(await bench().rows('db.assigned')).toEqual([{ id: 1, v: 'a' }]);
  });
});
