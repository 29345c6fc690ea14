import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Formats of data files, types of columns, versions of the format. */
describe('files, types and versions of Iceberg tables', () => {
  const bench = icebergBench();
  const extensions = (name: string): readonly (string | undefined)[] =>
    [
      ...new Set(
        bench()
          .dataFiles(name)
          .map((file) => file.split('.').at(-1)),
      ),
    ].sort();

  const everyType = `b BOOLEAN, i INT, l BIGINT, f FLOAT, d DOUBLE, dec DECIMAL(20,4), day DATE, ntz TIMESTAMP_NTZ, ts TIMESTAMP, s STRING, bin BINARY,
    list ARRAY<STRING>, ls ARRAY<STRUCT<x: INT, y: STRING>>, m MAP<STRING, ARRAY<BIGINT>>, st STRUCT<a: INT, b: STRUCT<c: DATE>>`;
  const values = `(1, true, -2147483648, 9223372036854775807, CAST(1.5 AS FLOAT), -0.1, 1234567890123456.7891, DATE '1969-12-31', TIMESTAMP_NTZ '2024-02-29 23:59:59.123456',
    TIMESTAMP '2024-02-29 23:59:59.123456', 'grün 🌊', X'00FF', array('p', NULL), array(named_struct('x', 1, 'y', 'p'), NULL), map('k', array(1L, NULL)), named_struct('a', 1, 'b', named_struct('c', DATE '2024-01-01'))),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, array(), NULL, NULL),
    (3, false, 0, 0, CAST('NaN' AS FLOAT), CAST('-Infinity' AS DOUBLE), 0, DATE '0001-01-01', TIMESTAMP_NTZ '1900-01-01 00:00:00', TIMESTAMP '1900-01-01 00:00:00', '', X'', array(), array(), map(), named_struct('a', NULL, 'b', NULL))`;
  const written = [
    {
      id: 1,
      b: true,
      i: -2147483648,
      l: 9223372036854775807n,
      f: 1.5,
      d: -0.1,
      dec: '1234567890123456.7891',
      day: '1969-12-31',
      ntz: '2024-02-29T23:59:59.123456',
      ts: '2024-02-29T23:59:59.123456Z',
      s: 'grün 🌊',
      bin: new Uint8Array([0, 255]),
      list: ['p', null],
      ls: [{ x: 1, y: 'p' }, null],
      m: new Map([['k', [1n, null]]]),
      st: { a: 1, b: { c: '2024-01-01' } },
    },
    {
      id: 2,
      b: null,
      i: null,
      l: null,
      f: null,
      d: null,
      dec: null,
      day: null,
      ntz: null,
      ts: null,
      s: null,
      bin: null,
      list: null,
      // pyiceberg takes a null list of structs for an empty one.
      ls: [],
      m: null,
      st: null,
    },
    {
      id: 3,
      b: false,
      i: 0,
      l: 0n,
      f: Number.NaN,
      d: Number.NEGATIVE_INFINITY,
      dec: '0.0000',
      day: '0001-01-01',
      ntz: '1900-01-01T00:00:00.000000',
      ts: '1900-01-01T00:00:00.000000Z',
      s: '',
      bin: new Uint8Array([]),
      list: [],
      ls: [],
      m: new Map(),
      st: { a: null, b: null },
    },
  ];

  it.each(['parquet', 'avro', 'orc'])('A19: every type is written to %s files, and read', async (format) => {
    const { sql } = bench();
    await sql(`CREATE TABLE db.in_${format} (id INT, ${everyType}) USING iceberg TBLPROPERTIES ('write.format.default' = '${format}')`);
    await sql(`INSERT INTO db.in_${format} VALUES ${values}`);
    expect(extensions(`in_${format}`)).toEqual([format]);
    expect(await bench().rows(`db.in_${format}`)).toEqual(written);
    expect(await sql(`SELECT id FROM db.in_${format} WHERE s = '' AND day < DATE '1000-01-01'`)).toEqual([{ id: 3 }]);
    await bench().agree(`in_${format}`, {
      engines: format === 'parquet' ? ['pyiceberg', 'duckdb'] : format === 'orc' ? ['pyiceberg'] : [],
    });
  });

  it('A19: files of all formats in one table, read and changed together', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.mixed (id INT, v STRING) USING iceberg');
    for (const [index, format] of ['parquet', 'avro', 'orc'].entries()) {
      await sql(`ALTER TABLE db.mixed SET TBLPROPERTIES ('write.format.default' = '${format}')`);
      await sql(`INSERT INTO db.mixed VALUES (${index}, '${format}'), (${index + 10}, '${format}')`);
    }
    expect(extensions('mixed')).toEqual(['avro', 'orc', 'parquet']);
    expect(await sql('SELECT v, count(*) AS n FROM db.mixed GROUP BY v ORDER BY v')).toEqual([
      { v: 'avro', n: 2n },
      { v: 'orc', n: 2n },
      { v: 'parquet', n: 2n },
    ]);
    expect(await sql('SELECT file_format FROM db.mixed.files ORDER BY file_format')).toEqual([
      { file_format: 'AVRO' },
      { file_format: 'ORC' },
      { file_format: 'PARQUET' },
    ]);
    expect((await session.table('db.mixed').where('id = 12').explanation()).tables[0]?.filesSelected).toBeLessThan(3);
    await sql('DELETE FROM db.mixed WHERE id >= 10');
    await sql("UPDATE db.mixed SET v = concat(v, '!') WHERE id > 0");
    expect(await bench().rows('db.mixed')).toEqual([
      { id: 0, v: 'parquet' },
      { id: 1, v: 'avro!' },
      { id: 2, v: 'orc!' },
    ]);
  });

  it('A19: merge-on-read deletes over Avro and ORC files, with delete files of the same format', async () => {
    const { sql } = bench();
    for (const format of ['avro', 'orc']) {
      await sql(
        `CREATE TABLE db.mor_${format} USING iceberg TBLPROPERTIES ('write.format.default' = '${format}', 'write.delete.mode' = 'merge-on-read') AS SELECT id FROM range(5)`,
      );
      await sql(`DELETE FROM db.mor_${format} WHERE id IN (1, 3)`);
      expect((await bench().rows(`db.mor_${format}`)).map((row) => row['id'])).toEqual([0n, 2n, 4n]);
      expect(extensions(`mor_${format}`)).toEqual([format]);
    }
  });

  it('A22: every type of SQL is written, bounded, filtered by, and shown', async () => {
    const { sql, session } = bench();
    await sql(`CREATE TABLE db.typed (id INT, ${everyType}) USING iceberg`);
    await sql(`INSERT INTO db.typed VALUES ${values}`);
    for (const condition of [
      'b',
      'i < 0',
      'l > 5',
      'f = 1.5',
      'd < 0 AND d > -1',
      'dec > 10',
      "day = DATE '1969-12-31'",
      "ntz > TIMESTAMP_NTZ '2020-01-01 00:00:00'",
      "ts > TIMESTAMP '2020-01-01 00:00:00'",
      "s > 'a'",
      "bin = X'00FF'",
      'size(list) = 2',
      "m['k'][0] = 1",
      "st.b.c = DATE '2024-01-01'",
    ]) {
      expect([condition, await sql(`SELECT id FROM db.typed WHERE ${condition}`)]).toEqual([condition, [{ id: 1 }]]);
    }
    expect(await session.table('db.typed').dtypes).toEqual([
      ['id', 'int'],
      ['b', 'boolean'],
      ['i', 'int'],
      ['l', 'bigint'],
      ['f', 'float'],
      ['d', 'double'],
      ['dec', 'decimal(20,4)'],
      ['day', 'date'],
      ['ntz', 'timestamp_ntz'],
      ['ts', 'timestamp'],
      ['s', 'string'],
      ['bin', 'binary'],
      ['list', 'array<string>'],
      ['ls', 'array<struct<x:int,y:string>>'],
      ['m', 'map<string,array<bigint>>'],
      ['st', 'struct<a:int,b:struct<c:date>>'],
    ]);
  });

  it('A22: times of day, and nanoseconds in version 3', async () => {
    const { sql, session } = bench();
    await sql('CREATE TABLE db.times (id INT, t TIME) USING iceberg');
    await sql("INSERT INTO db.times VALUES (1, '22:31:08.123456'), (2, '00:00:00'), (3, NULL)");
    expect(await bench().rows('db.times')).toEqual([
      { id: 1, t: '22:31:08.123456' },
      { id: 2, t: '00:00:00.000000' },
      { id: 3, t: null },
    ]);
    await bench().agree('times');
    const nanos = 'id INT, n TIMESTAMP_NTZ_NS, z TIMESTAMP_NS';
    await expect(sql(`CREATE TABLE db.nanos (${nanos}) USING iceberg`)).rejects.toMatchObject({
      message: expect.stringContaining('Invalid type for n: timestamp_ns is not supported until v3') as unknown,
    });
    await sql(`CREATE TABLE db.nanos (${nanos}) USING iceberg TBLPROPERTIES ('format-version' = '3')`);
    await sql("INSERT INTO db.nanos VALUES (1, '2024-01-01 00:00:00.123456789', '2024-01-01 00:00:00.123456789')");
    expect(await session.table('db.nanos').collect()).toEqual([
      { id: 1, n: '2024-01-01T00:00:00.123456789', z: '2024-01-01T00:00:00.123456789Z' },
    ]);
  });

  it('A22: a type that tables do not have is refused by name', async () => {
    const { sql } = bench();
    for (const type of ['INTERVAL DAY', 'GEOMETRY(0)', 'CHAR(3) ARRAY'])
      await refusalOf(sql(`CREATE TABLE db.untyped (c ${type}) USING iceberg`));
    for (const [type, name] of [
      ['VARIANT', 'variant'],
      ['VOID', 'unknown'],
    ])
      await expect(sql(`CREATE TABLE db.untyped (c ${type}) USING iceberg`)).rejects.toMatchObject({
        message: expect.stringContaining(`Invalid type for c: ${name} is not supported until v3`) as unknown,
      });
    expect(await sql("SHOW TABLES IN db LIKE 'untyped'")).toEqual([]);
  });

  it.each([1, 2, 3])('A23: version %s is written on request, and 2 by default', async (version) => {
    const { sql } = bench();
    const name = `version${version}`;
    await sql(
      `CREATE TABLE db.${name} (id BIGINT, v STRING) USING iceberg ${version === 2 ? '' : `TBLPROPERTIES ('format-version' = '${version}')`}`,
    );
    await sql(`INSERT INTO db.${name} VALUES (1, 'a'), (2, 'b')`);
    await sql(`UPDATE db.${name} SET v = 'z' WHERE id = 2`);
    await sql(`DELETE FROM db.${name} WHERE id = 1`);
    expect(bench().metadata(name)['format-version']).toBe(version);
    expect(await bench().rows(`db.${name}`)).toEqual([{ id: 2n, v: 'z' }]);
    await bench().agree(name);
  });

  it('A23: a table goes from version 1 to 2 to 3 with its rows, and never back', async () => {
    const { sql } = bench();
    await sql(
      "CREATE TABLE db.upgraded (id INT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '1', 'write.delete.mode' = 'merge-on-read')",
    );
    await sql("INSERT INTO db.upgraded VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
    // Version 1 has no delete files: rows are rewritten whatever the property says.
    await sql('DELETE FROM db.upgraded WHERE id = 1');
    expect((await bench().lastSnapshot('db.upgraded')).summary['total-delete-files']).toBe('0');
    await sql("ALTER TABLE db.upgraded SET TBLPROPERTIES ('format-version' = '2')");
    await sql('DELETE FROM db.upgraded WHERE id = 2');
    expect((await bench().lastSnapshot('db.upgraded')).summary['total-position-deletes']).toBe('1');
    await sql("ALTER TABLE db.upgraded SET TBLPROPERTIES ('format-version' = '3')");
    await sql('DELETE FROM db.upgraded WHERE id = 3');
    expect((await bench().lastSnapshot('db.upgraded')).summary['added-dvs']).toBe('1');
    expect(await bench().rows('db.upgraded')).toEqual([{ id: 4, v: 'd' }]);
    for (const version of ['1', '2', '4', 'x'])
      await refusalOf(sql(`ALTER TABLE db.upgraded SET TBLPROPERTIES ('format-version' = '${version}')`));
    await bench().agree('upgraded', { engines: ['duckdb'] });
  });

  it('A23: version 3 gives each row an id that updates and moves leave alone', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.lineage (id INT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '3')");
    await sql("INSERT INTO db.lineage VALUES (1, 'a'), (2, 'b')");
    await sql("INSERT INTO db.lineage VALUES (3, 'c')");
    const firstIds = async () => (await sql('SELECT first_row_id AS f FROM db.lineage.files ORDER BY f')).map((row) => row['f']);
    expect(await firstIds()).toEqual([0n, 2n]);
    expect(bench().metadata('lineage')['next-row-id']).toBe(3);
    await sql("UPDATE db.lineage SET v = 'z' WHERE id = 2");
    const [moved] = await sql('SELECT file_path FROM db.lineage.files WHERE record_count = 2');
    const stored = bench().session.read.parquet(textIn(moved, 'file_path')).orderBy('id');
    expect(await stored.select('id', '_row_id', '_last_updated_sequence_number').collect()).toEqual([
      { id: 1, _row_id: 0n, _last_updated_sequence_number: 1n },
      { id: 2, _row_id: 1n, _last_updated_sequence_number: null },
    ]);
    // The rewritten file took ids for its rows too, which they do not use.
    expect(bench().metadata('lineage')['next-row-id']).toBe(5);
    await bench().agree('lineage');
  });

  it('A23: version 3 has columns with defaults: old rows read them, new rows get them', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.defaulted (id INT) USING iceberg TBLPROPERTIES ('format-version' = '3')");
    await sql('INSERT INTO db.defaulted VALUES (1)');
    await sql("ALTER TABLE db.defaulted ADD COLUMN v STRING DEFAULT 'none'");
    await sql('INSERT INTO db.defaulted (id) VALUES (2)');
    await sql('INSERT INTO db.defaulted VALUES (3, NULL)');
    expect(await bench().rows('db.defaulted')).toEqual([
      { id: 1, v: 'none' },
      { id: 2, v: 'none' },
      { id: 3, v: null },
    ]);
    await sql('CREATE TABLE db.undefaulted (id INT) USING iceberg');
    await refusalOf(sql("ALTER TABLE db.undefaulted ADD COLUMN v STRING DEFAULT 'none'"));
    await bench().agree('defaulted', { engines: ['duckdb'] });
  });
});
