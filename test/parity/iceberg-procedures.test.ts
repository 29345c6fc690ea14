import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** CALL system.…: the upkeep of Iceberg tables, with the result rows of the reference engine. */
describe('procedures of Iceberg tables', () => {
  const bench = icebergBench();

  /** One file and one snapshot for each of ten ids. */
  async function scattered(name: string, more: string = ''): Promise<void> {
    await bench().sql(`CREATE TABLE db.${name} (id INT, v STRING) USING iceberg ${more}`);
    for (let id = 0; id < 10; id += 1) await bench().sql(`INSERT INTO db.${name} VALUES (${(id * 7) % 10}, 'v')`);
  }

  const ids = async (name: string): Promise<readonly unknown[]> => (await bench().rows(`db.${name}`)).map((row) => row['id']);
  const allTen = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

  it('A25: rewrite_data_files puts small files together, as a replace', async () => {
    const { sql } = bench();
    await scattered('packed');
    const before = await sql('SELECT sum(file_size_in_bytes) AS n FROM db.packed.files');
    const [result] = await sql("CALL ice.system.rewrite_data_files(table => 'db.packed', options => map('min-input-files', '2'))");
    expect(result).toEqual({
      rewritten_data_files_count: 10,
      added_data_files_count: 1,
      rewritten_bytes_count: before[0]?.['n'],
      failed_data_files_count: 0,
      removed_delete_files_count: 0,
    });
    expect(await bench().lastSnapshot('db.packed')).toMatchObject({ operation: 'replace' });
    expect(await sql('SELECT count(*) AS n FROM db.packed.files')).toEqual([{ n: 1n }]);
    expect(await ids('packed')).toEqual(allTen);
    expect((await sql("CALL ice.system.rewrite_data_files('db.packed')"))[0]).toMatchObject({
      rewritten_data_files_count: 0,
      added_data_files_count: 0,
    });
    await bench().agree('packed');
  });

  it('P10: expire_snapshots keeps what a reader noted beside the table, and names it for a snapshot asked for', async () => {
    const { sql } = bench();
    await scattered('noted');
    const table = await sql('SELECT CAST(snapshot_id AS STRING) AS id FROM db.noted.snapshots ORDER BY committed_at');
    const folder = join(bench().path('noted'), '_tidewater', 'readers');
    const tableId = readTableUuid(bench().path('noted'));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'shop.noted.json'), JSON.stringify({ tableId, readers: [{ by: 'shop/noted/nl', fromVersion: 8 }] }));
    const asked = `CALL ice.system.expire_snapshots(table => 'db.noted', snapshot_ids => array(${textIn(table[7], 'id')}))`;
    expect(await refusalOf(sql(asked))).toMatchObject({ errorClass: 'SNAPSHOT_NEEDED_BY_READER' });
    await sql("CALL ice.system.expire_snapshots(table => 'db.noted', older_than => TIMESTAMP '2999-01-01 00:00:00')");
    expect(await sql('SELECT count(*) AS n FROM db.noted.snapshots')).toEqual([{ n: 4n }]);
    await sql("CALL ice.system.remove_orphan_files(table => 'db.noted')");
    expect(existsSync(join(folder, 'shop.noted.json'))).toBe(true);
    rmSync(folder, { recursive: true });
    await sql("CALL ice.system.expire_snapshots(table => 'db.noted', older_than => TIMESTAMP '2999-01-01 00:00:00')");
    expect(await sql('SELECT count(*) AS n FROM db.noted.snapshots')).toEqual([{ n: 1n }]);
  });

  it('A25: rewrite_data_files sorts and z-orders, and takes a condition', async () => {
    const { sql } = bench();
    await scattered('sorted');
    const [sorted] = await sql(
      "CALL ice.system.rewrite_data_files(table => 'db.sorted', strategy => 'sort', sort_order => 'id DESC NULLS FIRST', options => map('rewrite-all', 'true'))",
    );
    expect(sorted).toMatchObject({ rewritten_data_files_count: 10, added_data_files_count: 1 });
    const [file] = await sql('SELECT file_path FROM db.sorted.files');
    expect((await bench().session.read.parquet(textIn(file, 'file_path')).collect()).map((row) => row['id'])).toEqual(
      [...allTen].reverse(),
    );
    const [zordered] = await sql(
      "CALL ice.system.rewrite_data_files(table => 'db.sorted', strategy => 'sort', sort_order => 'zorder(id, v)', options => map('rewrite-all', 'true'))",
    );
    expect(zordered).toMatchObject({ rewritten_data_files_count: 1, added_data_files_count: 1 });
    await scattered('chosen', 'PARTITIONED BY (v)');
    await sql("INSERT INTO db.chosen VALUES (20, 'w')");
    await sql("INSERT INTO db.chosen VALUES (21, 'w')");
    const [chosen] = await sql(
      `CALL ice.system.rewrite_data_files(table => 'db.chosen', where => "v = 'w'", options => map('rewrite-all', 'true'))`,
    );
    expect(chosen).toMatchObject({ rewritten_data_files_count: 2, added_data_files_count: 1 });
    await refusalOf(sql("CALL ice.system.rewrite_data_files(table => 'db.sorted', strategy => 'sort', sort_order => 'nope')"));
    await refusalOf(sql("CALL ice.system.rewrite_data_files(table => 'db.sorted', options => map('rewrite-al', 'true'))"));
    await bench().agree('sorted');
    await bench().agree('chosen');
  });

  it('A25: rewrite_position_delete_files and rewrite_data_files take care of delete files', async () => {
    const { sql } = bench();
    await sql(
      "CREATE TABLE db.marked USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read') AS SELECT CAST(id AS INT) AS id FROM range(10)",
    );
    for (const id of [1, 3, 5]) await sql(`DELETE FROM db.marked WHERE id = ${id}`);
    const [result] = await sql(
      "CALL ice.system.rewrite_position_delete_files(table => 'db.marked', options => map('rewrite-all', 'true'))",
    );
    expect(Object.keys(result ?? {})).toEqual([
      'rewritten_delete_files_count',
      'added_delete_files_count',
      'rewritten_bytes_count',
      'added_bytes_count',
    ]);
    expect(result).toMatchObject({ added_delete_files_count: 1 });
    expect(await ids('marked')).toEqual([0, 2, 4, 6, 7, 8, 9]);
    const [rewritten] = await sql(
      "CALL ice.system.rewrite_data_files(table => 'db.marked', options => map('delete-file-threshold', '1', 'min-input-files', '1'))",
    );
    expect(rewritten).toMatchObject({ rewritten_data_files_count: 1, added_data_files_count: 1 });
    expect(await ids('marked')).toEqual([0, 2, 4, 6, 7, 8, 9]);
    await bench().agree('marked');
  });

  it('A25: rewrite_manifests puts manifests together', async () => {
    const { sql } = bench();
    await scattered('manifests');
    expect((await sql('SELECT count(*) AS n FROM db.manifests.manifests'))[0]).toEqual({ n: 10n });
    expect(await sql("CALL ice.system.rewrite_manifests('db.manifests')")).toEqual([
      { rewritten_manifests_count: 10, added_manifests_count: 1 },
    ]);
    expect(await sql('SELECT count(*) AS n FROM db.manifests.manifests')).toEqual([{ n: 1n }]);
    expect(await ids('manifests')).toEqual(allTen);
    await bench().agree('manifests');
  });

  it('A25: expire_snapshots removes snapshots and the files that nothing else needs', async () => {
    const { sql } = bench();
    await scattered('expired');
    await sql("CALL ice.system.rewrite_data_files(table => 'db.expired', options => map('rewrite-all', 'true'))");
    const [result] = await sql(
      "CALL ice.system.expire_snapshots(table => 'db.expired', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)",
    );
    expect(result).toEqual({
      deleted_data_files_count: 10n,
      deleted_position_delete_files_count: 0n,
      deleted_equality_delete_files_count: 0n,
      deleted_manifest_files_count: expect.any(BigInt) as unknown,
      deleted_manifest_lists_count: 10n,
      deleted_statistics_files_count: 0n,
    });
    expect(await bench().snapshots('db.expired')).toHaveLength(1);
    expect(bench().dataFiles('expired')).toHaveLength(1);
    expect(await ids('expired')).toEqual(allTen);
    const [{ id } = { id: 0n }] = await bench().snapshots('db.expired');
    expect(
      (await refusalOf(sql(`CALL ice.system.expire_snapshots(table => 'db.expired', snapshot_ids => array(${String(id)}))`))).message,
    ).toBe(`Cannot expire ${String(id)}. Still referenced by refs: [main]`);
    await bench().agree('expired');
  });

  it('A25: remove_orphan_files deletes old files that no snapshot refers to, and refuses short intervals', async () => {
    const { sql, path } = bench();
    await scattered('orphaned');
    const orphan = join(path('orphaned'), 'data', 'orphan.parquet');
    const young = join(path('orphaned'), 'data', 'young.parquet');
    for (const file of [orphan, young]) writeFileSync(file, 'x');
    utimesSync(orphan, new Date('2020-01-01'), new Date('2020-01-01'));
    expect(
      (await sql("CALL ice.system.remove_orphan_files(table => 'db.orphaned', dry_run => true)")).map((row) =>
        textIn(row, 'orphan_file_location'),
      ),
    ).toEqual([expect.stringMatching(/data\/orphan\.parquet$/) as unknown]);
    expect(existsSync(orphan)).toBe(true);
    expect(await sql("CALL ice.system.remove_orphan_files(table => 'db.orphaned')")).toHaveLength(1);
    expect([existsSync(orphan), existsSync(young)]).toEqual([false, true]);
    expect(
      (await refusalOf(sql("CALL ice.system.remove_orphan_files(table => 'db.orphaned', older_than => TIMESTAMP '2100-01-01 00:00:00')")))
        .message,
    ).toMatch(/^Cannot remove orphan files with an interval less than 24 hours\./);
    expect(await ids('orphaned')).toEqual(allTen);
  });

  it('A25: rollback_to_timestamp, ancestors_of and add_files', async () => {
    const { sql, session, directory } = bench();
    await sql('CREATE TABLE db.timed USING iceberg AS SELECT 1 AS id');
    const [first] = await bench().snapshots('db.timed');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const between = new Date().toISOString().replace('T', ' ').replace('Z', '');
    await new Promise((resolve) => setTimeout(resolve, 20));
    await sql('INSERT INTO db.timed VALUES (2)');
    const second = await bench().lastSnapshot('db.timed');
    expect((await sql("CALL ice.system.ancestors_of('db.timed')")).map((row) => row['snapshot_id'])).toEqual([second.id, first?.id]);
    expect(await sql(`CALL ice.system.rollback_to_timestamp('db.timed', TIMESTAMP '${between}')`)).toEqual([
      { previous_snapshot_id: second.id, current_snapshot_id: first?.id },
    ]);
    expect(await ids('timed')).toEqual([1]);
    await session
      .range(3)
      .selectExpr('CAST(id AS INT) AS id', "'x' AS v")
      .write.format('parquet')
      .save(join(directory, 'ice', 'db', 'imported', 'plain'));
    await sql('CREATE TABLE db.imported (id INT, v STRING) USING iceberg');
    const [added] = await sql(
      `CALL ice.system.add_files(table => 'db.imported', source_table => '\`parquet\`.\`${join(directory, 'ice', 'db', 'imported', 'plain')}\`')`,
    );
    expect(added).toMatchObject({ added_files_count: 1n });
    expect(await ids('imported')).toEqual([0, 1, 2]);
  });

  it('A25: register_table gives metadata a name, and unknown procedures and arguments are refused by name', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE db.known USING iceberg AS SELECT 1 AS id');
    const first = join(path('known'), 'metadata', 'v1.metadata.json');
    const snapshot = await bench().lastSnapshot('db.known');
    expect(await sql(`CALL ice.system.register_table('db.twin', '${first}')`)).toEqual([
      { current_snapshot_id: snapshot.id, total_records_count: 1n, total_data_files_count: 1n },
    ]);
    await sql('INSERT INTO db.twin VALUES (2)');
    expect([await ids('known'), await ids('twin')]).toEqual([[1], [1, 2]]);
    expect(await refusalOf(sql(`CALL ice.system.register_table('db.twin', '${first}')`))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_ALREADY_EXISTS',
    });
    for (const place of [path('known'), `${path('known')}/metadata/`]) {
      const refused = await refusalOf(sql(`CALL ice.system.register_table('db.third', '${place}')`));
      expect(refused).toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
      expect(refused.message).toContain(`metadata_file "${place}" is a directory`);
    }
    expect(await refusalOf(sql("CALL ice.system.register_table('db.third', '')"))).toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
    expect(await refusalOf(sql("CALL ice.system.register_table('db.third', '/none/v1.metadata.json')"))).toMatchObject({
      errorClass: 'PATH_NOT_FOUND',
    });
    await sql('DROP TABLE db.twin');
    expect(await ids('known')).toEqual([1]);
    expect(await refusalOf(sql("CALL ice.system.rewrite_data_filez('db.known')"))).toMatchObject({ errorClass: 'FAILED_TO_LOAD_ROUTINE' });
    expect(await refusalOf(sql("CALL ice.system.rewrite_manifests(tabel => 'db.known')"))).toMatchObject({
      errorClass: 'REQUIRED_PARAMETER_NOT_FOUND',
    });
    expect(await refusalOf(sql("CALL ice.system.rewrite_manifests(table => 'db.known', nope => 1)"))).toMatchObject({
      errorClass: 'UNRECOGNIZED_PARAMETER_NAME',
    });
    expect(await refusalOf(sql("CALL ice.system.rewrite_manifests(table => 'db.nothing')"))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
    });
  });
});

function readTableUuid(directory: string): string {
  const folder = join(directory, 'metadata');
  const name = readdirSync(folder).find((candidate) => candidate.endsWith('.metadata.json')) ?? '';
  return (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly 'table-uuid': string })['table-uuid'];
}
