import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
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
});
