import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/**
 * `rewrite_table_path`: a table that is copied by its list is read elsewhere, by us and by others, when the original is gone too. After the
 * cases of TestRewriteTablePathProcedure and TestRewriteTablePathsAction (apache/iceberg, spark/v4.0).
 */
describe('copies of Iceberg tables', () => {
  const bench = icebergBench();
  type Pair = readonly [from: string, to: string];

  const listed = (list: string): readonly Pair[] =>
    readFileSync(list, 'utf8')
      .split('\n')
      .flatMap((line): Pair[] => (line === '' ? [] : [[line.split(',')[0] ?? '', line.split(',')[1] ?? '']]));

  interface Rewritten {
    readonly latest: string;
    readonly manifests: unknown;
    readonly deletes: unknown;
    readonly pairs: readonly Pair[];
  }

  async function rewritten(from: string, to: string, more = ''): Promise<Rewritten> {
    const [row] = await bench().sql(
      `CALL ice.system.rewrite_table_path(table => 'db.${from}', source_prefix => '${bench().path(from)}', target_prefix => '${bench().path(to)}'${more})`,
    );
    return {
      latest: textIn(row, 'latest_version'),
      manifests: row?.['rewritten_manifest_file_paths_count'],
      deletes: row?.['rewritten_delete_file_paths_count'],
      pairs: listed(textIn(row, 'file_list_location')),
    };
  }

  function copy({ pairs }: Rewritten): void {
    for (const [from, to] of pairs) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
  }

  /** Copies `db.name` to `db.name_moved`, takes the original away, and expects the same rows in every snapshot. */
  async function survives(name: string): Promise<Rewritten> {
    const { sql, rows, path, agree, snapshots } = bench();
    const moved = `${name}_moved`;
    const before = await rows(`db.${name}`);
    const history = await snapshots(`db.${name}`);
    const old = await Promise.all(history.map(({ id }) => sql(`SELECT * FROM db.${name} VERSION AS OF ${id} ORDER BY id`)));
    const result = await rewritten(name, moved);
    copy(result);
    rmSync(path(name), { recursive: true });
    expect(await rows(`db.${moved}`)).toEqual(before);
    expect(await snapshots(`db.${moved}`)).toEqual(history);
    for (const [index, { id }] of history.entries())
      expect(await sql(`SELECT * FROM db.${moved} VERSION AS OF ${id} ORDER BY id`)).toEqual(old[index]);
    await agree(moved);
    await sql(`INSERT INTO db.${moved} SELECT * FROM db.${moved} LIMIT 1`);
    await agree(moved);
    return result;
  }

  const versions = (name: string): number => readdirSync(join(bench().path(name), 'metadata')).filter((file) => /^v\d/.test(file)).length;
  const suffixes = (pairs: readonly Pair[]): readonly number[] =>
    [/\.metadata\.json$/, /\/snap-[^/]*\.avro$/, /\/[^/]*-m\d+\.avro$/, /\/data\//].map(
      (pattern) => pairs.filter(([, to]) => pattern.test(to)).length,
    );

  it('A25: rewrite_table_path lists metadata, manifest lists, manifests and data, which make the table elsewhere', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.plain (id INT, v STRING) USING iceberg');
    const bare = await rewritten('plain', 'elsewhere');
    expect(bare).toMatchObject({ latest: 'v1.metadata.json', manifests: 0, deletes: 0 });
    expect(suffixes(bare.pairs)).toEqual([1, 0, 0, 0]);
    await sql("INSERT INTO db.plain VALUES (1, 'a')");
    await sql("INSERT INTO db.plain VALUES (2, 'b')");
    const files = versions('plain');
    const { latest, manifests, pairs } = await survives('plain');
    expect(latest).toBe(`v${files}.metadata.json`);
    expect(manifests).toBe(2);
    expect(suffixes(pairs)).toEqual([files, 2, 2, 2]);
  });

  it.each(['parquet', 'avro', 'orc'])('A25: rewrite_table_path rewrites position deletes in %s', async (format) => {
    const { sql } = bench();
    const name = `marked_${format}`;
    await sql(
      `CREATE TABLE db.${name} (id INT, v STRING) USING iceberg PARTITIONED BY (bucket(2, id))
       TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.delete.granularity' = 'partition', 'write.delete.format.default' = '${format}')`,
    );
    for (const base of [0, 10]) await sql(`INSERT INTO db.${name} SELECT CAST(id + ${base} AS INT), 'v' FROM range(10)`);
    await sql(`DELETE FROM db.${name} WHERE id IN (1, 2, 3, 12, 17)`);
    await sql(`DELETE FROM db.${name} WHERE id = 5`);
    const [{ n: deletes } = { n: 0 }] = await sql(`SELECT count(*) AS n FROM db.${name}.delete_files`);
    if (format === 'parquet') expect((await survives(name)).deletes).toBe(Number(deletes));
    else {
      // pyiceberg reads no such delete files: only we look.
      const before = await bench().rows(`db.${name}`);
      copy(await rewritten(name, `${name}_moved`));
      rmSync(bench().path(name), { recursive: true });
      expect(await bench().rows(`db.${name}_moved`)).toEqual(before);
    }
  });

  it('A25: rewrite_table_path keeps deletion vectors where they are, and row ids', async () => {
    const { sql } = bench();
    await sql(
      `CREATE TABLE db.vectors (id INT, v STRING) USING iceberg
       TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read')`,
    );
    for (const base of [0, 10]) await sql(`INSERT INTO db.vectors SELECT CAST(id + ${base} AS INT), 'v' FROM range(10)`);
    await sql('DELETE FROM db.vectors WHERE id IN (1, 12)');
    await sql('DELETE FROM db.vectors WHERE id = 4');
    const ids = await sql('SELECT id, _row_id AS r FROM db.vectors ORDER BY id');
    const before = await bench().rows('db.vectors');
    const result = await rewritten('vectors', 'vectors_moved_far_away');
    // The first snapshot's two, and the one that took the place of one of them.
    expect(result.deletes).toBe(3);
    copy(result);
    rmSync(bench().path('vectors'), { recursive: true });
    expect(await bench().rows('db.vectors_moved_far_away')).toEqual(before);
    expect(await sql('SELECT id, _row_id AS r FROM db.vectors_moved_far_away ORDER BY id')).toEqual(ids);
    await bench().agree('vectors_moved_far_away', { engines: ['duckdb'] });
    await sql('DELETE FROM db.vectors_moved_far_away WHERE id = 5');
    expect(await bench().rows('db.vectors_moved_far_away')).toHaveLength(16);
  });

  it('A25: rewrite_table_path takes along what tables have from before they were upgraded', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.grown (id INT, v STRING) USING iceberg TBLPROPERTIES ('format-version' = '1')");
    await sql("INSERT INTO db.grown VALUES (1, 'a'), (2, 'b')");
    await sql("ALTER TABLE db.grown SET TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')");
    await sql("INSERT INTO db.grown VALUES (3, 'c')");
    await sql('DELETE FROM db.grown WHERE id = 1');
    await sql("ALTER TABLE db.grown SET TBLPROPERTIES ('format-version' = '3')");
    await sql("INSERT INTO db.grown VALUES (4, 'd')");
    const ids = await sql('SELECT id, _row_id AS r FROM db.grown ORDER BY id');
    await survives('grown');
    // The row that was written since has the highest.
    expect(await sql('SELECT id, min(_row_id) AS r FROM db.grown_moved GROUP BY id ORDER BY id')).toEqual(ids);
  });

  it('A25: rewrite_table_path goes on from a version that was copied before', async () => {
    const { sql, rows, path } = bench();
    await sql('CREATE TABLE db.steps (id INT, v STRING) USING iceberg');
    await sql("INSERT INTO db.steps VALUES (1, 'a')");
    const first = await rewritten('steps', 'steps_moved');
    copy(first);
    expect(await rows('db.steps_moved')).toHaveLength(1);
    await sql("INSERT INTO db.steps VALUES (2, 'b')");
    const staging = `${path('steps')}/stage-here`;
    const second = await rewritten('steps', 'steps_moved', `, start_version => '${first.latest}', staging_location => '${staging}'`);
    expect(suffixes(second.pairs)).toEqual([versions('steps') - Number(/\d+/.exec(first.latest)?.[0]), 1, 1, 1]);
    expect(existsSync(`${staging}/file-list`)).toBe(true);
    copy(second);
    rmSync(path('steps'), { recursive: true });
    expect(await (await bench().another().sql('SELECT * FROM ice.db.steps_moved ORDER BY id')).collect()).toHaveLength(2);
  });

  it('A25: rewrite_table_path makes no list where none is wanted, and stops at a version', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE db.older (id INT) USING iceberg');
    await sql('INSERT INTO db.older VALUES (1)');
    const end = `v${versions('older')}.metadata.json`;
    await sql('INSERT INTO db.older VALUES (2)');
    const places = `source_prefix => '${path('older')}', target_prefix => '/far'`;
    const [row] = await sql(
      `CALL ice.system.rewrite_table_path(table => 'db.older', ${places}, end_version => '${end}', create_file_list => false)`,
    );
    expect(row).toMatchObject({ latest_version: end, file_list_location: 'N/A', rewritten_manifest_file_paths_count: 1 });
  });

  it('A25: rewrite_table_path refuses places and versions that cannot be', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE db.wrong USING iceberg AS SELECT 1 AS id');
    const refusal = async (more: string): Promise<unknown> =>
      (await refusalOf(sql(`CALL ice.system.rewrite_table_path(table => 'db.wrong', ${more})`))).message;
    const source = `source_prefix => '${path('wrong')}'`;
    expect(await refusal(`${source}, target_prefix => '${path('wrong')}'`)).toContain('Source prefix cannot be the same as target prefix');
    expect(await refusal("source_prefix => '', target_prefix => '/t'")).toContain("Source prefix('') cannot be empty");
    expect(await refusal(`${source}, target_prefix => ''`)).toContain("Target prefix('') cannot be empty");
    expect(await refusal(`${source}, target_prefix => '/t', staging_location => ''`)).toContain("Staging location('') cannot be empty");
    expect(await refusal(`${source}, target_prefix => '/t', staging_location => '/elsewhere'`)).toContain(
      'is not in a place the table may write to',
    );
    expect(await refusal(`${source}, target_prefix => '/t', start_version => ' '`)).toContain("Start version(' ') cannot be empty");
    expect(await refusal(`${source}, target_prefix => '/t', start_version => 'v20.metadata.json'`)).toContain(
      'Cannot find provided version file v20.metadata.json in metadata log.',
    );
    expect(await refusal(`${source}, target_prefix => '/t', end_version => 'v11.metadata.json'`)).toContain(
      'Cannot find provided version file v11.metadata.json in metadata log.',
    );
    expect(await refusal("source_prefix => '/other', target_prefix => '/t'")).toContain('does not start with /other/');
    expect(await refusal(source)).toContain('the parameter named `target_prefix` is required');
  });

  it('A25: rewrite_table_path leaves nothing behind when it fails, and tells of snapshots that are gone', async () => {
    const { sql, path, another } = bench();
    await sql('CREATE TABLE db.broken USING iceberg AS SELECT 1 AS id');
    await sql('INSERT INTO db.broken VALUES (2)');
    const old = `v${versions('broken')}.metadata.json`;
    const folder = join(path('broken'), 'metadata');
    const call = `CALL ice.system.rewrite_table_path(table => 'ice.db.broken', source_prefix => '${path('broken')}', target_prefix => '/far'`;
    const left = (): readonly string[] =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.parentPath.includes('copy-table-staging'))
        .map(({ name }) => name);
    const manifest = readdirSync(folder).find((name) => /-m\d+\.avro$/.test(name)) ?? '';
    const kept = readFileSync(join(folder, manifest));
    rmSync(join(folder, manifest));
    await expect(another().sql(`${call})`)).rejects.toMatchObject({ code: 'ICEBERG_FILE_MISSING' });
    expect(left()).toEqual([]);
    writeFileSync(join(folder, manifest), kept);
    await sql("CALL ice.system.expire_snapshots(table => 'db.broken', older_than => TIMESTAMP '2100-01-01', retain_last => 1)");
    const refused = await refusalOf(another().sql(`${call}, end_version => '${old}')`));
    expect(refused).toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    expect(refused.message).toContain('is gone, which the end version still has');
    expect(left()).toEqual([]);
    // The version that expiry has made is all there is to move.
    const last = await rewritten('broken', 'broken_moved', `, start_version => '${old}'`);
    expect(suffixes(last.pairs)).toEqual([1, 0, 0, 0]);
  });
});
