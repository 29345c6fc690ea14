import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataFrame } from '../../src/index.ts';
import { type TemporarySession, temporarySession } from '../support/temporary-session.ts';
import { unpackTar } from '../support/unpack-tar.ts';

/** What Spark showed of the column `v` (`to_json`) in all four tables with variants. */
const written: readonly (readonly [id: number, json: string | null])[] = [
  [1, '{"a":[1,2.5,null,"x",{"k":true}],"b":1,"big":12345678901234567890,"f":1.0E10}'],
  [2, '"text"'],
  // The variant `null`: from files that mark their variants, the engine reads it as NULL.
  [3, null],
  [4, null],
  [5, '{"u":1}'],
  [
    6,
    '{"bin":"AP8=","by":7,"d":"2024-02-29","dec":1.5,"fl":1.5,"l":9007199254740993,"n":"2024-02-29 12:00:00.5","t":"2024-02-29 12:00:00.123456+00:00"}',
  ],
  [7, `{"a":[3],"b":2,"nested":{"y":[{"q":1},{"q":2}],"z":"${'long'.repeat(30)}"}}`],
];
/** The shredded tables were not updated. */
const unchanged = written.map(([id, json]) => (id === 5 ? ([5, '12'] as const) : ([id, json] as const)));

describe('types of tables that Spark wrote', () => {
  let own: TemporarySession;

  beforeAll(async () => {
    own = await temporarySession();
    unpackTar(new URL('packs/spark-types.tar.gz', import.meta.url), own.directory);
  });

  afterAll(() => own[Symbol.asyncDispose]());

  function table(format: 'delta' | 'iceberg', name: string): DataFrame {
    const path = join(own.directory, format === 'iceberg' ? 'ice' : format, name);
    const reader = own.session.read.format(format);
    return (format === 'iceberg' ? reader.option('path-map', `/tmp/hs/ice/db/${name}=${path}`) : reader).load(path);
  }

  async function rowsOf(frame: DataFrame, sql: string): Promise<readonly unknown[]> {
    frame.createOrReplaceTempView('t');
    return (await own.session.sql(sql)).collect();
  }

  it.each([
    ['delta', 'v', written],
    ['iceberg', 'v', written],
    ['delta', 'vs', unchanged],
    ['iceberg', 'vs', unchanged],
  ] as const)('a variant is read as Spark shows it: %s, %s', async (format, name, expected) => {
    const frame = table(format, name);
    const rows = await rowsOf(
      frame,
      `SELECT id, to_json(v) AS j FROM t ${name === 'v' ? '' : "WHERE try_variant_get(v, '$.b', 'string') IS NULL OR try_variant_get(v, '$.b', 'string') NOT LIKE 'x%'"} ORDER BY id`,
    );
    expect(rows).toEqual(expected.map(([id, j]) => ({ id, j })));
  });

  it('variants inside of structs and lists are read, shredded ones too', async () => {
    const rows = await rowsOf(table('delta', 'vs'), 'SELECT id, n FROM t WHERE n IS NOT NULL ORDER BY id');
    expect(rows[0]).toEqual({
      id: 1,
      n: {
        a: { a: [1, 2.5, null, 'x', { k: true }], b: 1, big: 12345678901234567890n, f: 1e10 },
        l: [{ a: [1, 2.5, null, 'x', { k: true }], b: 1, big: 12345678901234567890n, f: 1e10 }, [1]],
      },
    });
  });

  it('a column of type void, or unknown, is null in every row', async () => {
    expect(await rowsOf(table('delta', 'void'), 'SELECT *, w IS NULL AS n, coalesce(w, 5) AS c, st.y AS y FROM t')).toEqual([
      { id: 1, w: null, st: { x: 2, y: null }, w2: null, n: true, c: 5, y: null },
    ]);
    expect(await rowsOf(table('delta', 'voids'), 'SELECT * FROM t')).toEqual([]);
    expect(await rowsOf(table('iceberg', 'u'), 'SELECT * FROM t WHERE w IS NULL')).toEqual([{ id: 1, w: null }]);
  });
});
