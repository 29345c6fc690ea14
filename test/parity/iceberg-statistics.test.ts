import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readAvroFile } from '../support/avro-records.ts';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';
import { readPuffinBlob, readPuffinFooter } from '../support/puffin/read-puffin.ts';

/**
 * Statistics files of tables and of partitions. After the cases of TestComputeTableStatsProcedure, TestComputeTableStatsAction,
 * TestComputePartitionStatsProcedure and TestComputePartitionStatsAction (apache/iceberg, spark/v4.0).
 */
describe('statistics of Iceberg tables', () => {
  const bench = icebergBench();

  interface Measured {
    readonly 'snapshot-id': string;
    readonly 'statistics-path': string;
    readonly 'file-size-in-bytes': number;
    readonly 'file-footer-size-in-bytes'?: number;
    readonly 'blob-metadata'?: readonly { readonly fields: readonly number[]; readonly properties: Readonly<Record<string, string>> }[];
  }
  const listed = (name: string, key: string): readonly Measured[] => (bench().metadata(name)[key] ?? []) as readonly Measured[];
  const distinct = (name: string): readonly (readonly [number | undefined, string | undefined])[] =>
    (listed(name, 'statistics')[0]?.['blob-metadata'] ?? []).map(({ fields, properties }) => [fields[0], properties['ndv']]);

  it('A25: compute_table_stats counts the distinct values of columns, nulls left out', async () => {
    const { sql } = bench();
    await sql(
      "CREATE TABLE db.counted (id INT, data STRING, at TIME, n STRUCT<a: INT, b: STRING>) USING iceberg TBLPROPERTIES ('format-version' = '3')",
    );
    await sql(`INSERT INTO db.counted VALUES (1, NULL, CAST('10:00:00' AS TIME), named_struct('a', 1, 'b', 'x')), (1, 'a', CAST('10:00:00' AS TIME), NULL),
      (2, 'b', NULL, named_struct('a', 2, 'b', 'x')), (3, 'c', NULL, named_struct('a', NULL, 'b', 'x')), (4, 'd', NULL, NULL)`);
    const [row] = await sql("CALL ice.system.compute_table_stats('db.counted')");
    expect(textIn(row, 'statistics_file')).toMatch(/\/metadata\/\d+-[0-9a-f-]+\.stats$/);
    expect(distinct('counted')).toEqual([
      [1, '4'],
      [2, '4'],
      [3, '1'],
    ]);
    await sql("CALL ice.system.compute_table_stats(table => 'db.counted', columns => array('n.a', 'n.b', 'data', 'data'))");
    expect(distinct('counted')).toEqual([
      [5, '2'],
      [6, '1'],
      [2, '4'],
    ]);
    await bench().agree('counted', { allowOrphans: true, engines: [] });
  });

  it('A25: compute_table_stats takes tables of more columns than are looked at together', async () => {
    const { sql } = bench();
    const columns = Array.from({ length: 205 }, (_, index) => `id % ${index + 1} AS c${index}`);
    await sql(`CREATE TABLE db.wide USING iceberg AS SELECT ${columns.join(', ')} FROM range(300)`);
    await sql("CALL ice.system.compute_table_stats('db.wide')");
    expect(distinct('wide')).toEqual(columns.map((_, index) => [index + 1, String(index + 1)]));
  });

  it('A25: compute_table_stats says in the metadata what its file says', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.described USING iceberg AS SELECT id, id % 3 AS m FROM range(100)');
    const [row] = await sql("CALL ice.system.compute_table_stats('db.described')");
    const path = textIn(row, 'statistics_file');
    const bytes = readFileSync(path);
    const footer = readPuffinFooter(bytes, path);
    const { id } = await bench().lastSnapshot('db.described');
    expect(listed('described', 'statistics')).toEqual([
      {
        'snapshot-id': String(id),
        'statistics-path': path,
        'file-size-in-bytes': bytes.byteLength,
        'file-footer-size-in-bytes': bytes.byteLength - footer.blobs.reduce((end, blob) => Math.max(end, blob.offset + blob.length), 0),
        'blob-metadata': ['100', '3'].map((ndv, index) => ({
          type: 'apache-datasketches-theta-v1',
          'snapshot-id': String(id),
          'sequence-number': 1,
          fields: [index + 1],
          properties: { ndv },
        })),
      },
    ]);
    expect(footer.blobs.map((blob) => readPuffinBlob(bytes, blob, path).byteLength)).toEqual([16 + 8 * 100, 16 + 8 * 3]);
    await bench().agree('described');
  });

  it('A25: compute_table_stats reads a snapshot by its own schema, deleted rows left out', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.older (id INT, data STRING) USING iceberg TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')");
    await sql("INSERT INTO db.older VALUES (1, 'abcd'), (2, 'efgh'), (3, 'ijkl')");
    const first = await bench().lastSnapshot('db.older');
    await sql('DELETE FROM db.older WHERE id = 2');
    await sql("CALL ice.system.compute_table_stats('db.older')");
    expect(distinct('older')).toEqual([
      [1, '2'],
      [2, '2'],
    ]);
    await sql('ALTER TABLE db.older DROP COLUMN data');
    await sql('INSERT INTO db.older VALUES (4)');
    const missing = await refusalOf(sql("CALL ice.system.compute_table_stats(table => 'db.older', columns => array('data'))"));
    expect(missing).toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
    expect(missing.message).toContain("Can't find column data in the table");
    await sql(`CALL ice.system.compute_table_stats('db.older', ${first.id}, array('data'))`);
    const files = listed('older', 'statistics');
    expect(files.map((file) => file['blob-metadata']?.[0]?.properties)).toEqual([{ ndv: '2' }, { ndv: '3' }]);
    expect(files.every((file) => existsSync(file['statistics-path']))).toBe(true);
  });

  it('A25: compute_table_stats has nothing to say of a table without rows written, and refuses what is not there', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.bare (id BIGINT NOT NULL, list ARRAY<INT>) USING iceberg');
    expect(await sql("CALL ice.system.compute_table_stats('db.bare')")).toEqual([]);
    expect(await sql("CALL ice.system.compute_table_stats(table => 'db.bare', columns => array('id'))")).toEqual([]);
    const refusal = async (more: string): Promise<string> =>
      (await refusalOf(sql(`CALL ice.system.compute_table_stats(table => 'db.bare', ${more})`))).message;
    expect(await refusal('snapshot_id => 1234')).toContain('Snapshot not found: 1234');
    await sql('INSERT INTO db.bare VALUES (1, array(1))');
    expect(await refusal("columns => array('id1')")).toContain("Can't find column id1");
    expect(await refusal("columns => array('list')")).toContain("Can't compute stats on non-primitive type column: list");
    expect(await refusal("columns => array('list.element')")).toContain("Can't find column list.element");
    expect(await refusal('columns => array()')).toContain('Columns cannot be null/empty');
    await sql('CREATE TABLE db.nested USING iceberg AS SELECT array(1) AS list');
    expect((await refusalOf(sql("CALL ice.system.compute_table_stats('db.nested')"))).message).toContain(
      'No columns found to compute stats',
    );
  });

  const rowsOf = async (path: string): Promise<readonly unknown[]> => {
    const rows = await bench().session.read.parquet(path).collect();
    return rows.map((row) => ({ ...row }));
  };

  it.each(['parquet', 'avro', 'orc'])('A25: compute_partition_stats writes a row for each partition, in %s tables', async (format) => {
    const { sql } = bench();
    const name = `parts_${format}`;
    await sql(
      `CREATE TABLE db.${name} (id BIGINT NOT NULL, data STRING, day DATE) USING iceberg PARTITIONED BY (data, months(day))
       TBLPROPERTIES ('write.format.default' = '${format}')`,
    );
    await sql(
      `INSERT INTO db.${name} VALUES (1, 'b', DATE '2020-01-05'), (2, 'b', DATE '2020-01-20'), (3, 'a', NULL), (4, NULL, DATE '1969-12-31')`,
    );
    const [row] = await sql(`CALL ice.system.compute_partition_stats('db.${name}')`);
    const path = textIn(row, 'partition_statistics_file');
    const written = format === 'orc' ? 'parquet' : format;
    expect(path).toMatch(new RegExp(`/metadata/partition-stats-\\d+-[0-9a-f-]+\\.${written}$`));
    const { id } = await bench().lastSnapshot(`db.${name}`);
    expect(listed(name, 'partition-statistics')).toEqual([
      { 'snapshot-id': String(id), 'statistics-path': path, 'file-size-in-bytes': readFileSync(path).byteLength },
    ]);
    const shown = await sql(`SELECT partition, spec_id, record_count, file_count, total_data_file_size_in_bytes, last_updated_snapshot_id
      FROM db.${name}.partitions ORDER BY partition.data NULLS FIRST`);
    const found = written === 'avro' ? [...readAvroFile(readFileSync(path), { name: path }).records()] : await rowsOf(path);
    expect(found).toHaveLength(3);
    for (const [index, one] of found.entries()) {
      expect(one).toMatchObject({
        partition: shown[index]?.['partition'],
        spec_id: 0,
        data_record_count: shown[index]?.['record_count'],
        data_file_count: shown[index]?.['file_count'],
        total_data_file_size_in_bytes: shown[index]?.['total_data_file_size_in_bytes'],
        position_delete_record_count: 0n,
        equality_delete_file_count: 0,
        total_record_count: null,
        last_updated_snapshot_id: id,
      });
    }
    // What is there is given again.
    expect(await sql(`CALL ice.system.compute_partition_stats('db.${name}')`)).toEqual([row]);
    if (format === 'parquet') await bench().agree(name);
  });

  it('A25: compute_partition_stats counts deletes, and partitions of all specs', async () => {
    const { sql } = bench();
    await sql(
      "CREATE TABLE db.evolved (id INT, a STRING, b STRING) USING iceberg PARTITIONED BY (a) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
    );
    await sql("INSERT INTO db.evolved SELECT CAST(id AS INT), 'x', 'p' FROM range(5)");
    await sql('DELETE FROM db.evolved WHERE id IN (1, 2)');
    await sql('ALTER TABLE db.evolved ADD PARTITION FIELD b');
    await sql("INSERT INTO db.evolved VALUES (9, 'x', 'q')");
    await sql("ALTER TABLE db.evolved SET TBLPROPERTIES ('format-version' = '3')");
    await sql('DELETE FROM db.evolved WHERE id = 3');
    const [row] = await sql("CALL ice.system.compute_partition_stats('db.evolved')");
    const { id } = await bench().lastSnapshot('db.evolved');
    expect(await rowsOf(textIn(row, 'partition_statistics_file'))).toMatchObject([
      {
        partition: { a: 'x', b: null },
        spec_id: 0,
        data_record_count: 5n,
        position_delete_record_count: 3n,
        position_delete_file_count: 0,
        dv_count: 1,
        last_updated_snapshot_id: id,
      },
      {
        partition: { a: 'x', b: 'q' },
        spec_id: 1,
        data_record_count: 1n,
        data_file_count: 1,
        position_delete_record_count: 0n,
        dv_count: 0,
      },
    ]);
  });

  it('A25: compute_partition_stats takes the snapshot that is named, and refuses what is not there', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.named (id BIGINT NOT NULL, data STRING) USING iceberg PARTITIONED BY (data)');
    expect(await sql("CALL ice.system.compute_partition_stats('db.named')")).toEqual([]);
    await sql("INSERT INTO db.named VALUES (1, 'a'), (2, 'b')");
    const first = await bench().lastSnapshot('db.named');
    await sql("INSERT INTO db.named VALUES (3, 'c')");
    const [row] = await sql(`CALL ice.system.compute_partition_stats(table => 'db.named', snapshot_id => ${first.id})`);
    expect(await rowsOf(textIn(row, 'partition_statistics_file'))).toHaveLength(2);
    expect(listed('named', 'partition-statistics').map((file) => file['snapshot-id'])).toEqual([String(first.id)]);
    const unknown = await refusalOf(sql("CALL ice.system.compute_partition_stats(table => 'db.named', snapshot_id => 42)"));
    expect(unknown.message).toContain('Snapshot not found: 42');
    await sql('CREATE TABLE db.whole USING iceberg AS SELECT 1 AS id');
    const whole = await refusalOf(sql("CALL ice.system.compute_partition_stats('db.whole')"));
    expect(whole).toMatchObject({ errorClass: 'INVALID_ARGUMENT' });
    expect(whole.message).toContain('Table must be partitioned');
  });

  it('A25: statistics go with the snapshots they are of, and with copies', async () => {
    const { sql, path } = bench();
    await sql('CREATE TABLE db.passing (id BIGINT, data STRING) USING iceberg PARTITIONED BY (data)');
    await sql("INSERT INTO db.passing VALUES (1, 'a')");
    const [[table], [parts]] = [
      await sql("CALL ice.system.compute_table_stats('db.passing')"),
      await sql("CALL ice.system.compute_partition_stats('db.passing')"),
    ];
    const files = [textIn(table, 'statistics_file'), textIn(parts, 'partition_statistics_file')];
    const [copies] = await sql(
      `CALL ice.system.rewrite_table_path(table => 'db.passing', source_prefix => '${path('passing')}', target_prefix => '/far')`,
    );
    const list = readFileSync(textIn(copies, 'file_list_location'), 'utf8').split('\n');
    for (const file of files) expect(list).toContain(`${file},${file.replace(path('passing'), '/far')}`);
    await sql("INSERT INTO db.passing VALUES (2, 'a')");
    await sql("CALL ice.system.expire_snapshots(table => 'db.passing', older_than => TIMESTAMP '2100-01-01', retain_last => 1)");
    expect(files.map((file) => existsSync(file))).toEqual([false, false]);
    expect([...listed('passing', 'statistics'), ...listed('passing', 'partition-statistics')]).toEqual([]);
  });
});
