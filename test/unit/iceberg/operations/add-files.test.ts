import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type IcebergSession, icebergSession, type ResultRow } from '../../../support/iceberg/iceberg-session.ts';

let ice: IcebergSession;
beforeAll(async () => {
  ice = await icebergSession();
});
afterAll(() => ice[Symbol.asyncDispose]());

const add = async (table: string, args: string): Promise<ResultRow | undefined> => {
  const [row] = await ice.sql(`CALL ice.system.add_files(table => 'db.${table}', ${args})`);
  return row;
};

/** Plain Parquet files without field ids, in a directory of the table. */
async function parquet(table: string, query: string, partitionBy: readonly string[] = []): Promise<string> {
  const directory = join(ice.warehouse, 'db', table, 'imported');
  const frame = await ice.session.sql(query);
  await frame.write
    .format('parquet')
    .partitionBy(...partitionBy)
    .mode('append')
    .save(directory);
  return `source_table => '\`parquet\`.\`${directory}\`'`;
}

describe('add_files', () => {
  it('makes files without field ids part of the table by their names, with metrics', async () => {
    await ice.sql('CREATE TABLE db.plain (id BIGINT, s STRING) USING iceberg');
    const source = await parquet('plain', "SELECT id, concat('row ', id) AS s FROM range(5)");
    expect(await add('plain', source)).toEqual({ added_files_count: 1n, changed_partition_count: null });
    expect(await ice.sql('SELECT * FROM db.plain WHERE id > 2 ORDER BY id')).toEqual([
      { id: 3n, s: 'row 3' },
      { id: 4n, s: 'row 4' },
    ]);
    const [file] = await ice.sql('SELECT record_count, readable_metrics.id.upper_bound AS high FROM db.plain.files');
    expect(file).toEqual({ record_count: 5n, high: 4n });
    const [properties] = await ice.sql("SHOW TBLPROPERTIES db.plain ('schema.name-mapping.default')");
    expect(properties?.['value']).toBe('[{"field-id":1,"names":["id"]},{"field-id":2,"names":["s"]}]');
    await expect(add('plain', source)).rejects.toThrow(/^Cannot complete import because data files to be imported already exist within/);
    expect(await add('plain', `${source}, check_duplicate_files => false`)).toMatchObject({ added_files_count: 1n });
  });

  it('takes partition values from directories, those of a filter alone', async () => {
    await ice.sql('CREATE TABLE db.parts (id BIGINT, d DATE) USING iceberg PARTITIONED BY (d)');
    const query = "SELECT id, CASE WHEN id < 3 THEN DATE '2024-02-29' ELSE DATE '2024-03-01' END AS d FROM range(5)";
    const source = await parquet('parts', query, ['d']);
    const filtered = await add('parts', `${source}, partition_filter => map('d', '2024-02-29')`);
    expect(filtered).toEqual({ added_files_count: 1n, changed_partition_count: 1n });
    expect(await ice.sql("SELECT count(*) AS n FROM db.parts WHERE d = DATE '2024-02-29'")).toEqual([{ n: 3n }]);
    await expect(add('parts', `${source}, partition_filter => map('e', '1')`)).rejects.toThrow(/columns that are not partitioned: \['e'\]/);
  });

  it('refuses what the files cannot be part of', async () => {
    await ice.sql('CREATE TABLE db.buckets (id BIGINT) USING iceberg PARTITIONED BY (bucket(4, id))');
    const source = await parquet('buckets', 'SELECT id FROM range(5)');
    await expect(add('buckets', source)).rejects.toThrow(/contains non-identity partition transforms which will not be compatible\.$/);
    await ice.sql('CREATE TABLE db.none (id BIGINT) USING iceberg');
    await expect(add('none', `${source}, partition_filter => map('id', '1')`)).rejects.toThrow(
      /^Cannot use partition filter with an unpart/,
    );
    await expect(add('none', "source_table => 'db.plain'")).rejects.toThrow('Cannot add files of db.plain');
    await expect(add('none', "source_table => '`orc`.`/x/y`'")).rejects.toThrow('Cannot add files of format orc');
    await expect(add('none', "source_table => '`parquet`.`/somewhere/else`'")).rejects.toMatchObject({ code: 'FILE_OUTSIDE_TABLE' });
  });
});
