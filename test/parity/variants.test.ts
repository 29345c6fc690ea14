import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TemporarySession, temporarySession } from '../support/temporary-session.ts';

describe.each([
  ['delta', "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"],
  ['iceberg', "TBLPROPERTIES ('format-version' = '3')"],
] as const)('columns of type VARIANT in %s', (format, properties) => {
  let own: TemporarySession;
  let warehouse: string;

  beforeAll(async () => {
    warehouse = await mkdtemp(join(tmpdir(), 'tidewater-variants-'));
    own = await temporarySession(
      format === 'delta'
        ? {}
        : {
            'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
            'spark.sql.catalog.lake.type': 'hadoop',
            'spark.sql.catalog.lake.warehouse': warehouse,
          },
    );
    if (format === 'delta') return;
    await own.session.sql('CREATE NAMESPACE lake.db');
    await own.session.sql('USE lake.db');
  });

  afterAll(async () => {
    await own[Symbol.asyncDispose]();
    await rm(warehouse, { recursive: true, force: true });
  });

  const rowsOf = async (sql: string): Promise<readonly unknown[]> => (await own.session.sql(sql)).collect();

  it('are inserted, updated, merged, made by CTAS, and read', async () => {
    await own.session.sql(`CREATE TABLE t (id INT, v VARIANT) USING ${format} ${properties}`);
    await own.session.sql(
      `INSERT INTO t VALUES (1, parse_json('{"a":[1,2.50,{"b":"x"}],"n":null}')), (2, parse_json('"text"')), (3, NULL), (4, parse_json('null'))`,
    );
    await own.session.sql(`UPDATE t SET v = parse_json('{"u":' || id || '}') WHERE id = 2`);
    await own.session.sql(`MERGE INTO t USING (SELECT 5 AS id, parse_json('[5]') AS v) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *`);
    await own.session.sql('DELETE FROM t WHERE id = 3');
    expect(
      await rowsOf(
        'SELECT id, v, to_json(v) AS j, CAST(v AS STRING) AS s, is_variant_null(v) AS n, schema_of_variant(v) AS t FROM t ORDER BY id',
      ),
    ).toEqual([
      {
        id: 1,
        v: { a: [1, 2.5, { b: 'x' }], n: null },
        j: '{"a":[1,2.5,{"b":"x"}],"n":null}',
        s: '{"a":[1,2.5,{"b":"x"}],"n":null}',
        n: false,
        t: 'OBJECT<a: ARRAY<VARIANT>, n: VOID>',
      },
      { id: 2, v: { u: 2 }, j: '{"u":2}', s: '{"u":2}', n: false, t: 'OBJECT<u: BIGINT>' },
      { id: 4, v: null, j: 'null', s: null, n: true, t: 'VOID' },
      { id: 5, v: [5], j: '[5]', s: '[5]', n: false, t: 'ARRAY<BIGINT>' },
    ]);
    await own.session.sql(
      `CREATE TABLE c USING ${format} ${properties} AS SELECT id, variant_get(v, '$.a[2]') AS w, variant_get(v, '$.u', 'int') AS u FROM t`,
    );
    expect(await rowsOf('SELECT * FROM c ORDER BY id')).toEqual([
      { id: 1, w: { b: 'x' }, u: null },
      { id: 2, w: null, u: 2 },
      { id: 4, w: null, u: null },
      { id: 5, w: null, u: null },
    ]);
    expect((await rowsOf('DESCRIBE c')).slice(0, 2)).toMatchObject([{ data_type: 'int' }, { data_type: 'variant' }]);
  });

  it('are written from rows of the language', async () => {
    const frame = own.session.createDataFrame([{ id: 1, v: { a: [1, 1.5, 9007199254740993n, true, null] } }], {
      kind: 'struct',
      fields: [
        { name: 'id', type: { kind: 'integer' }, nullable: true },
        { name: 'v', type: { kind: 'variant' }, nullable: true },
      ],
    });
    await own.session.sql(`CREATE TABLE d (id INT, v VARIANT) USING ${format} ${properties}`);
    await frame.write.mode('append').insertInto('d');
    expect(await rowsOf('SELECT v, schema_of_variant(v) AS t FROM d')).toEqual([
      { v: { a: [1, 1.5, 9007199254740993n, true, null] }, t: 'OBJECT<a: ARRAY<VARIANT>>' },
    ]);
  });

  it('are cast to plain types, and refused by name where they hold another', async () => {
    expect(
      await rowsOf(
        `SELECT variant_get(parse_json('{"a":{"b":[1.5]}}'), '$.a.b[0]', 'decimal(10,2)') AS d, try_variant_get(parse_json('"z"'), '$', 'int') AS n, CAST(parse_json('"2024-02-29"') AS DATE) AS t, CAST(parse_json('1e3') AS INT) AS i, try_parse_json('{bad') AS b`,
      ),
    ).toEqual([{ d: '1.50', n: null, t: '2024-02-29', i: 1000, b: null }]);
    await expect(rowsOf(`SELECT variant_get(parse_json('"z"'), '$', 'int')`)).rejects.toMatchObject({ errorClass: 'INVALID_VARIANT_CAST' });
    await expect(rowsOf(`SELECT parse_json('{bad')`)).rejects.toMatchObject({ errorClass: 'MALFORMED_RECORD_IN_PARSING' });
  });

  it('are neither compared, sorted, grouped nor partitioned by', async () => {
    for (const sql of [
      "SELECT parse_json('1') = parse_json('1')",
      "SELECT parse_json('1') AS v ORDER BY v",
      "SELECT min(v) FROM (SELECT parse_json('1') AS v)",
    ]) {
      await expect(rowsOf(sql)).rejects.toMatchObject({ errorClass: 'DATATYPE_MISMATCH.INVALID_ORDERING_TYPE' });
    }
    await expect(rowsOf("SELECT count(*) FROM (SELECT parse_json('1') AS v) GROUP BY v")).rejects.toMatchObject({
      errorClass: 'GROUP_EXPRESSION_TYPE_IS_NOT_ORDERABLE',
    });
    await expect(own.session.sql(`CREATE TABLE p (id INT, v VARIANT) USING ${format} PARTITIONED BY (v) ${properties}`)).rejects.toThrow(
      /variant/i,
    );
  });

  it('inside of structs and lists are written too', async () => {
    await own.session.sql(`CREATE TABLE n (id INT, s STRUCT<a: VARIANT, l: ARRAY<VARIANT>>) USING ${format} ${properties}`);
    await own.session.sql(
      `INSERT INTO n VALUES (1, named_struct('a', parse_json('{"x":1}'), 'l', array(parse_json('[1]'), NULL))), (2, NULL)`,
    );
    expect(await rowsOf('SELECT s FROM n ORDER BY id')).toEqual([{ s: { a: { x: 1 }, l: [[1], null] } }, { s: null }]);
  });

  it('of type VOID are NULL in every row, and refused where they are all there is inside of a list', async () => {
    await own.session.sql(`CREATE TABLE w (id INT, w VOID, s STRUCT<x: INT, y: VOID>) USING ${format} ${properties}`);
    await own.session.sql("INSERT INTO w VALUES (1, NULL, named_struct('x', 2, 'y', NULL)), (2, NULL, NULL)");
    await own.session.sql('UPDATE w SET id = 3 WHERE w IS NULL AND id = 2');
    expect(await rowsOf('SELECT * FROM w ORDER BY id')).toEqual([
      { id: 1, w: null, s: { x: 2, y: null } },
      { id: 3, w: null, s: null },
    ]);
    await own.session.sql(`CREATE TABLE wl (id INT, l ARRAY<VOID>) USING ${format} ${properties}`);
    await expect(own.session.sql('INSERT INTO wl VALUES (1, array(NULL))')).rejects.toMatchObject({ code: 'ENGINE_TYPE_UNSUPPORTED' });
  });
});
