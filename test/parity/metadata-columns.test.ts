import { realpathSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { col, type Row } from '../../src/index.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { deltaBench, textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Columns that Spark has beside those of a table: where a row lies, and what it is known by. */
describe('metadata columns of Iceberg tables', () => {
  const bench = icebergBench();

  /** Rows of several files, partitions and specs, some deleted and some moved. */
  async function made(name: string, properties: Readonly<Record<string, string>>): Promise<string> {
    const { sql } = bench();
    const table = `db.${name}`;
    const all = { 'write.delete.mode': 'merge-on-read', 'write.update.mode': 'merge-on-read', ...properties };
    const list = Object.entries(all).map(([key, value]) => `'${key}' = '${value}'`);
    await sql(`CREATE TABLE ${table} (id BIGINT, p STRING, n INT) USING iceberg PARTITIONED BY (p) TBLPROPERTIES (${list.join(', ')})`);
    await sql(`INSERT INTO ${table} SELECT id, concat('p', id % 2), CAST(id AS INT) FROM range(8)`);
    await sql(`DELETE FROM ${table} WHERE id = 3`);
    await sql(`UPDATE ${table} SET n = 100 WHERE id = 4`);
    await sql(`ALTER TABLE ${table} ADD PARTITION FIELD bucket(4, id)`);
    await sql(`INSERT INTO ${table} VALUES (20, 'p1', 5)`);
    return table;
  }

  it.each(['parquet', 'avro', 'orc'])('A23: rows of %s files tell their ids and the versions that changed them', async (format) => {
    const { sql } = bench();
    const table = await made(`ids_${format}`, { 'format-version': '3', 'write.format.default': format });
    expect(
      await sql(`SELECT id, _pos, _spec_id, _partition, _row_id AS r, _last_updated_sequence_number AS s FROM ${table} ORDER BY id`),
    ).toEqual([
      { id: 0n, _pos: 0n, _spec_id: 0, _partition: { p: 'p0', id_bucket_4: null }, r: 0n, s: 1n },
      { id: 1n, _pos: 0n, _spec_id: 0, _partition: { p: 'p1', id_bucket_4: null }, r: 4n, s: 1n },
      { id: 2n, _pos: 1n, _spec_id: 0, _partition: { p: 'p0', id_bucket_4: null }, r: 1n, s: 1n },
      { id: 4n, _pos: 0n, _spec_id: 0, _partition: { p: 'p0', id_bucket_4: null }, r: 2n, s: 3n },
      { id: 5n, _pos: 2n, _spec_id: 0, _partition: { p: 'p1', id_bucket_4: null }, r: 6n, s: 1n },
      { id: 6n, _pos: 3n, _spec_id: 0, _partition: { p: 'p0', id_bucket_4: null }, r: 3n, s: 1n },
      { id: 7n, _pos: 3n, _spec_id: 0, _partition: { p: 'p1', id_bucket_4: null }, r: 7n, s: 1n },
      { id: 20n, _pos: 0n, _spec_id: 1, _partition: { p: 'p1', id_bucket_4: 3 }, r: 9n, s: 4n },
    ]);
  });

  it('A23: a row keeps its id when files are rewritten, and time travel shows it as it was', async () => {
    const { sql } = bench();
    const table = await made('rewritten', { 'format-version': '3' });
    const query = (at = ''): string => `SELECT id, _row_id AS r, _last_updated_sequence_number AS s FROM ${table}${at} ORDER BY id`;
    const before = await sql(query());
    await sql(`ALTER TABLE ${table} CREATE BRANCH kept`);
    await sql(`CALL ice.system.rewrite_data_files(table => '${table}', options => map('rewrite-all', 'true'))`);
    expect(await sql(query())).toEqual(before);
    expect(await sql(query(" VERSION AS OF 'kept'"))).toEqual(before);
    const [first] = await bench().snapshots(table);
    expect(await sql(query(` VERSION AS OF ${first?.id}`))).toEqual(
      [0, 4, 1, 5, 2, 6, 3, 7].map((r, id) => ({ id: BigInt(id), r: BigInt(r), s: 1n })),
    );
    const positions = `SELECT id, _pos FROM ${table}.branch_kept WHERE _spec_id = 1`;
    expect(await sql(positions)).toEqual([{ id: 20n, _pos: 0n }]);
  });

  it('A23: the file of a row is named as the metadata names it', async () => {
    const { sql } = bench();
    const table = await made('files', { 'format-version': '2' });
    const live = `SELECT file_path AS f, spec_id AS s, partition AS p FROM ${table}.data_files ORDER BY f`;
    expect(await sql(`SELECT DISTINCT _file AS f, _spec_id AS s, _partition AS p FROM ${table} ORDER BY f`)).toEqual(await sql(live));
    expect(await sql(`SELECT count(*) AS n FROM ${table} t JOIN ${table}.data_files f ON t._file = f.file_path`)).toEqual([{ n: 8n }]);
    // Ids of rows are those of format version 3.
    for (const name of ['_row_id', '_last_updated_sequence_number'])
      expect(await refusalOf(sql(`SELECT ${name} FROM ${table}`))).toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
    await sql(`ALTER TABLE ${table} SET TBLPROPERTIES ('format-version' = '3')`);
    expect(await sql(`SELECT DISTINCT _row_id AS r, _last_updated_sequence_number AS s FROM ${table}`)).toEqual([{ r: null, s: null }]);
    await sql(`INSERT INTO ${table} VALUES (30, 'p0', 1)`);
    const known = await sql(`SELECT count(_row_id) AS n, count(DISTINCT _row_id) AS d, count(*) AS a FROM ${table}`);
    expect(known).toEqual([{ n: 9n, d: 9n, a: 9n }]);
  });

  it('A23: tables without partitions have no partition to name, tables without rows all the others', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.plain (id BIGINT, s STRING) USING iceberg TBLPROPERTIES ('format-version' = '3')");
    const query = 'SELECT _file, _pos, _spec_id, _row_id, _last_updated_sequence_number FROM db.plain';
    expect(await sql(query)).toEqual([]);
    await sql("INSERT INTO db.plain VALUES (1, 'a')");
    expect(await sql(query)).toEqual([expect.objectContaining({ _pos: 0n, _spec_id: 0, _row_id: 0n, _last_updated_sequence_number: 1n })]);
    await refusalOf(sql('SELECT _partition FROM db.plain'));
  });

  it('A06: metadata columns come when they are named, in every clause, and never with a star', async () => {
    const { sql, session } = bench();
    const table = await made('named', { 'format-version': '3' });
    expect((await sql(`SELECT * FROM ${table} WHERE _spec_id = 1`))[0]).toEqual({ id: 20n, p: 'p1', n: 5 });
    expect(await sql(`SELECT t.*, t._pos FROM ${table} t WHERE t._spec_id = 1`)).toEqual([{ id: 20n, p: 'p1', n: 5, _pos: 0n }]);
    expect(await sql(`SELECT _pos, count(*) AS c FROM ${table} GROUP BY _pos HAVING _pos > 0 ORDER BY _pos DESC`)).toEqual([
      { _pos: 3n, c: 2n },
      { _pos: 2n, c: 1n },
      { _pos: 1n, c: 1n },
    ]);
    expect((await sql(`SELECT id FROM ${table} ORDER BY _pos DESC, id LIMIT 2`)).map(({ id }) => id)).toEqual([6n, 7n]);
    expect(await sql(`SELECT x._pos FROM ${table} x JOIN ${table} y ON x._row_id = y._row_id WHERE y.id = 5`)).toEqual([{ _pos: 2n }]);
    expect(await sql(`SELECT (SELECT max(_pos) FROM ${table} i WHERE i._spec_id = o._spec_id) AS m FROM ${table} o WHERE id = 1`)).toEqual([
      { m: 3n },
    ]);
    expect((await sql(`SELECT _partition.* FROM ${table} WHERE id = 20`))[0]).toEqual({ p: 'p1', id_bucket_4: 3 });
    expect(Object.keys((await sql(`SELECT * FROM ${table} a NATURAL JOIN (SELECT 0L AS _pos) b`))[0] ?? {})).toEqual([
      'id',
      'p',
      'n',
      '_pos',
    ]);
    await sql(`CREATE TABLE db.copied USING iceberg AS SELECT *, _pos AS at FROM ${table}`);
    expect(await session.table('db.copied').columns).toEqual(['id', 'p', 'n', 'at']);
    const described = (await sql(`DESCRIBE TABLE ${table}`)).map((row) => textIn(row, 'col_name'));
    expect(described.some((name) => name.startsWith('_'))).toBe(false);
  });

  it('A07: a condition on the file of a row reads the files it names', async () => {
    const { sql, session } = bench();
    const table = await made('pruned', { 'format-version': '2' });
    const files = (await sql(`SELECT DISTINCT _file AS f FROM ${table}`)).map((row) => textIn(row, 'f'));
    const [first = '', second = ''] = files;
    const rows = async (condition: string): Promise<unknown> =>
      (await sql(`SELECT count(*) AS n FROM ${table} WHERE ${condition}`))[0]?.['n'];
    const filesRead = async (condition: string): Promise<unknown> => {
      const frames = [session.table(table).where(condition), await session.sql(`SELECT * FROM ${table} t WHERE ${condition}`)];
      const [read, other] = await Promise.all(frames.map(async (frame) => (await frame.explanation()).tables[0]?.filesSelected));
      expect(other).toBe(read);
      return read;
    };
    expect(files).toHaveLength(4);
    expect(await filesRead(`_file = '${first}'`)).toBe(1);
    expect(await filesRead(`_file IN ('${first}', '${second}') AND _pos >= 0 AND id >= 0`)).toBe(2);
    expect(await filesRead(`_file = 'none' OR _pos = 0`)).toBe(4);
    expect(await rows(`_file IN ('${files.join("', '")}')`)).toBe(8n);
    expect(await rows(`_file = 'none'`)).toBe(0n);
    const counts = await Promise.all(files.map((file) => rows(`_file = '${file}'`)));
    expect(counts.map(Number).reduce((sum, count) => sum + count, 0)).toBe(8);
    const outer = await sql(`SELECT count(*) AS n FROM ${table} a LEFT JOIN ${table} b ON a.id = b.id AND b._file = '${first}'`);
    expect(outer).toEqual([{ n: 8n }]);
  });

  it('A06: DataFrames hand metadata columns on through filters, sorts, limits, samples, aliases and joins', async () => {
    const { session } = bench();
    const table = await made('frames', { 'format-version': '3' });
    const frame = session.table(table);
    expect(await frame.columns).toEqual(['id', 'p', 'n']);
    expect(await frame.select('_pos', 'id').where('id = 5').collect()).toEqual([{ _pos: 2n, id: 5n }]);
    expect(await frame.where(col('_pos').lt(1)).count()).toBe(4);
    const chained = frame.where('id > 0').orderBy(col('_row_id').desc()).limit(2).alias('q');
    expect(await chained.select('q.id', 'q._row_id').collect()).toEqual([
      { id: 20n, _row_id: 9n },
      { id: 7n, _row_id: 7n },
    ]);
    expect(await chained.collect()).toEqual([
      { id: 20n, p: 'p1', n: 5 },
      { id: 7n, p: 'p1', n: 7 },
    ]);
    expect(await frame.sample(1).select(frame.col('_spec_id')).distinct().count()).toBe(2);
    expect(await frame.groupBy('_spec_id').count().orderBy('_spec_id').collect()).toEqual([
      { _spec_id: 0, count: 7n },
      { _spec_id: 1, count: 1n },
    ]);
    const [a, b] = [frame.alias('a'), frame.alias('b')];
    const joined = a.join(b, col('a._row_id').eq(col('b._row_id')).and(col('a._pos').eq(3)));
    expect(await joined.select('a.id', 'b._pos').orderBy('id').collect()).toEqual([
      { id: 6n, _pos: 3n },
      { id: 7n, _pos: 3n },
    ]);
    expect(await joined.columns).toEqual(['id', 'p', 'n', 'id', 'p', 'n']);
    expect(await frame.withColumn('at', col('_pos').plus(1)).select('at').distinct().count()).toBe(4);
    const loaded = session.read.format('iceberg').load(table);
    expect(await loaded.selectExpr('max(_pos) AS m').collect()).toEqual([{ m: 3n }]);
  });

  it('A06: what a subquery, view or projection does not select is not to be had of it', async () => {
    const { sql, session } = bench();
    const table = await made('views', { 'format-version': '3' });
    await sql(`CREATE TEMPORARY VIEW shown AS SELECT * FROM ${table}`);
    session.table(table).where('id > 0').createOrReplaceTempView('filtered');
    for (const from of [`(SELECT * FROM ${table}) q`, 'shown', 'filtered', `${table} AS t(a, b, c)`]) {
      expect(await refusalOf(sql(`SELECT _pos FROM ${from}`))).toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
    }
    await refusalOf(sql(`WITH q AS (SELECT * FROM ${table}) SELECT _pos FROM q`));
    await refusalOf(sql(`SELECT * EXCEPT (_pos) FROM ${table}`));
    await refusalOf(session.table(table).select('id').where('_pos = 0').count());
    await refusalOf(session.table(table).withColumn('x', col('id')).select('_pos').count());
    expect(await refusalOf(sql(`SELECT * FROM ${table} a JOIN (SELECT 0L AS _pos) b USING (_pos)`))).toMatchObject({
      errorClass: 'UNRESOLVED_USING_COLUMN_FOR_JOIN',
    });
    expect(await refusalOf(sql(`SELECT _pos FROM ${table} a CROSS JOIN ${table} b`))).toMatchObject({ errorClass: 'AMBIGUOUS_REFERENCE' });
    expect((await refusalOf(sql(`SELECT _position FROM ${table}`))).message).not.toContain('_pos`');
    expect(await sql(`SELECT m FROM (SELECT _pos AS m, id FROM ${table}) WHERE id = 5`)).toEqual([{ m: 2n }]);
    expect(await sql(`SELECT _pos FROM ${table} AS t(_pos, b, c) WHERE b = 'p0' ORDER BY 1 DESC LIMIT 1`)).toEqual([{ _pos: 6n }]);
    for (const statement of [`DELETE FROM ${table} WHERE _pos = 0`, `UPDATE ${table} SET n = 1 WHERE _pos = 0`])
      expect((await refusalOf(sql(statement))).errorClass).toBe('UNRESOLVED_COLUMN.WITH_SUGGESTION');
  });

  it("A06: a column of the table's own hides the metadata column of its name", async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.own (id BIGINT, _POS STRING) USING iceberg');
    await sql("INSERT INTO db.own VALUES (1, 'x')");
    expect(await sql('SELECT _pos, _spec_id FROM db.own')).toEqual([{ _pos: 'x', _spec_id: 0 }]);
    expect(await session.table('db.own').select('_pos').collect()).toEqual([{ _pos: 'x' }]);
  });
});

describe('metadata columns of Delta tables', () => {
  const bench = deltaBench();

  it('B05: _metadata tells the file of a row and its place in it', async () => {
    const { sql, at, session, path } = bench();
    const name = 'a b+c%20';
    await sql(
      `CREATE TABLE ${at(name)} (id BIGINT, p STRING) USING delta PARTITIONED BY (p) TBLPROPERTIES (delta.enableDeletionVectors = true)`,
    );
    await sql(`INSERT INTO ${at(name)} SELECT id, concat('p ü=/%', id % 2) FROM range(8)`);
    await sql(`DELETE FROM ${at(name)} WHERE id = 2`);
    expect(await sql(`SELECT id, _metadata.row_index AS i FROM ${at(name)} WHERE p = 'p ü=/%0' ORDER BY i`)).toEqual([
      { id: 0n, i: 0n },
      { id: 4n, i: 2n },
      { id: 6n, i: 3n },
    ]);
    const add = bench()
      .commit(name, 1)
      .flatMap((action) => (action['add'] === undefined ? [] : [action['add']]))
      .find((file) => (file['partitionValues'] as Record<string, string>)['p'] === 'p ü=/%0');
    const [row] = await sql(`SELECT _metadata FROM ${at(name)} WHERE id = 0`);
    const metadata = row?.['_metadata'] as Row;
    const file = decodeURIComponent(String(add?.['path']));
    expect(decodeURIComponent(textIn(metadata, 'file_path'))).toBe(`file:${realpathSync(path(name))}/${file}`);
    expect(metadata['file_path']).toContain('/a%20b+c%2520/');
    expect(metadata['file_path']).toContain('ü');
    expect(metadata).toEqual({
      file_path: metadata['file_path'],
      file_name: file.slice(file.lastIndexOf('/') + 1),
      file_size: BigInt(Number(add?.['size'])),
      file_block_start: 0n,
      file_block_length: BigInt(Number(add?.['size'])),
      file_modification_time: new Date(Number(add?.['modificationTime'])).toISOString().replace('Z', '000Z'),
      row_index: 0n,
    });
    expect(await session.read.format('delta').load(path(name)).columns).toEqual(['id', 'p']);
    const files = session.read.load(path(name)).groupBy('_metadata.file_name').count();
    expect((await files.collect()).map((each) => each['count']).sort()).toEqual([3n, 4n]);
    expect(await refusalOf(sql(`SELECT _metadata.row_id FROM ${at(name)}`))).toMatchObject({ errorClass: 'FIELD_NOT_FOUND' });
    const past = await sql(`SELECT max(_metadata.row_index) AS m, count(*) AS n FROM ${at(name)} VERSION AS OF 1`);
    expect(past).toEqual([{ m: 3n, n: 8n }]);
  });

  it.each(['none', 'name', 'id'])(
    'B23: _metadata tells ids of rows and the versions that changed them, columns mapped by %s',
    async (mode) => {
      const { sql, at } = bench();
      const table = at(`rows-${mode}`);
      await sql(
        `CREATE TABLE ${table} (id INT, v STRING) USING delta TBLPROPERTIES (delta.enableRowTracking = true, delta.columnMapping.mode = '${mode}')`,
      );
      await sql(`INSERT INTO ${table} VALUES (1, 'a'), (2, 'b')`);
      await sql(`INSERT INTO ${table} VALUES (3, 'c')`);
      await sql(`UPDATE ${table} SET v = 'z' WHERE id = 1`);
      const query = `SELECT id, _metadata.row_id AS r, _metadata.row_commit_version AS c FROM ${table} ORDER BY id`;
      const known = [
        { id: 1, r: 0n, c: 3n },
        { id: 2, r: 1n, c: 1n },
        { id: 3, r: 2n, c: 2n },
      ];
      expect(await sql(query)).toEqual(known);
      await sql(`OPTIMIZE ${table}`);
      expect(await sql(query)).toEqual(known);
      const { baseRowId, defaultRowCommitVersion } =
        bench()
          .commit(`rows-${mode}`, 4)
          .find(({ add }) => add !== undefined)?.['add'] ?? {};
      expect(await sql(`SELECT DISTINCT _metadata.base_row_id AS b, _metadata.default_row_commit_version AS d FROM ${table}`)).toEqual([
        { b: BigInt(Number(baseRowId)), d: BigInt(Number(defaultRowCommitVersion)) },
      ]);
    },
  );

  it("B05: a column of the table's own hides _metadata, and the change feed has none", async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('own')} (id INT, _metadata STRING) USING delta`);
    await sql(`INSERT INTO ${at('own')} VALUES (1, 'x')`);
    expect(await sql(`SELECT _metadata FROM ${at('own')}`)).toEqual([{ _metadata: 'x' }]);
    await sql(`CREATE TABLE ${at('fed')} (id INT) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)`);
    await sql(`INSERT INTO ${at('fed')} VALUES (1)`);
    await refusalOf(sql(`SELECT _metadata FROM table_changes_by_path('${bench().path('fed')}', 0)`));
  });
});
