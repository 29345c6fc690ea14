import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IcebergSession, icebergSession, type ResultRow } from '../../../support/iceberg/iceberg-session.ts';

let ice: IcebergSession;
beforeAll(async () => {
  ice = await icebergSession();
});
afterAll(() => ice[Symbol.asyncDispose]());

const rewrite = async (table: string, args = ''): Promise<ResultRow | undefined> => {
  const [row] = await ice.sql(`CALL ice.system.rewrite_position_delete_files(table => 'db.${table}'${args === '' ? '' : `, ${args}`})`);
  return row;
};
const deletesOf = (table: string): Promise<readonly ResultRow[]> => ice.sql(`SELECT * FROM db.${table}.delete_files`);
const ids = async (table: string): Promise<readonly number[]> =>
  (await ice.sql(`SELECT id FROM db.${table} ORDER BY id`)).map(({ id }) => Number(id));

/** Many delete files of few rows: by file, each would take in those before it. */
async function table(name: string): Promise<void> {
  await ice.sql(
    `CREATE TABLE db.${name} (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p)
     TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition')`,
  );
  await ice.sql(`INSERT INTO db.${name} SELECT id, CASE WHEN id < 10 THEN 'a' ELSE 'b' END FROM range(20)`);
  for (const id of [1, 2, 3, 4, 5, 11]) await ice.sql(`DELETE FROM db.${name} WHERE id = ${id}`);
}

const left = [0, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19];

describe('rewrite_position_delete_files', () => {
  it('puts the delete files of a partition together', async () => {
    await table('packed');
    await ice.sql("ALTER TABLE db.packed SET TBLPROPERTIES ('write.delete.granularity' = 'file')");
    expect(await rewrite('packed')).toMatchObject({ rewritten_delete_files_count: 5, added_delete_files_count: 1 });
    expect((await deletesOf('packed')).map(({ record_count: count }) => count).toSorted()).toEqual([1n, 5n]);
    expect(await ids('packed')).toEqual(left);
    const [newest] = await ice.sql('SELECT operation FROM db.packed.snapshots ORDER BY committed_at DESC LIMIT 1');
    expect(newest).toEqual({ operation: 'replace' });
    expect(await rewrite('packed')).toMatchObject({ rewritten_delete_files_count: 0, added_delete_files_count: 0 });
    expect(await rewrite('packed', "where => 'p = \"b\"', options => map('rewrite-all', 'true')")).toMatchObject({
      rewritten_delete_files_count: 1,
      added_delete_files_count: 1,
    });
    expect(await ids('packed')).toEqual(left);
  });

  it('keeps deletes of several data files in one file where the table wants it so', async () => {
    await table('grouped');
    await ice.sql("INSERT INTO db.grouped VALUES (100, 'a'), (101, 'a')");
    await ice.sql('DELETE FROM db.grouped WHERE id IN (6, 100)');
    expect(await rewrite('grouped')).toMatchObject({ rewritten_delete_files_count: 6, added_delete_files_count: 1 });
    expect(await ids('grouped')).toEqual([0, 7, 8, 9, 10, ...left.slice(6), 101]);
  });

  it('drops deletes of data files that are gone', async () => {
    await table('dangling');
    await ice.sql(
      "CALL ice.system.rewrite_data_files(table => 'db.dangling', where => 'p = \"a\"', options => map('rewrite-all', 'true'))",
    );
    expect((await deletesOf('dangling')).length).toBeGreaterThan(1);
    expect(await rewrite('dangling', "options => map('rewrite-all', 'true')")).toMatchObject({ added_delete_files_count: 1 });
    expect((await deletesOf('dangling')).map(({ record_count: count }) => count)).toEqual([1n]);
    expect(await ids('dangling')).toEqual(left);
  });

  it('makes deletion vectors of them where the format has these', async () => {
    await table('upgraded');
    await ice.sql("ALTER TABLE db.upgraded SET TBLPROPERTIES ('format-version' = '3')");
    await ice.sql('DELETE FROM db.upgraded WHERE id = 12');
    expect(await rewrite('upgraded')).toMatchObject({ rewritten_delete_files_count: 5, added_delete_files_count: 1 });
    expect((await deletesOf('upgraded')).map(({ file_format: format, record_count: count }) => [format, count]).toSorted()).toEqual([
      ['PUFFIN', 2n],
      ['PUFFIN', 5n],
    ]);
    expect(await ids('upgraded')).toEqual(left.filter((id) => id !== 12));
  });

  it('refuses options there are not', async () => {
    await table('refused');
    await expect(rewrite('refused', "options => map('delete-ratio-threshold', '1')")).rejects.toThrow(/^Cannot use options \[delete-ratio/);
  });
});
