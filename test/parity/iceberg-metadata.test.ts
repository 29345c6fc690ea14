import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sqlTypeName } from '../../src/schema/sql-type.ts';
import { icebergBench, textMap } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** What tables tell about themselves: metadata tables, and the fields of the metadata file. */
describe('metadata of Iceberg tables', () => {
  const bench = icebergBench();

  /** Columns of `db.name.table` as SQL writes them. */
  async function columnsOf(name: string, table: string): Promise<string> {
    return sqlTypeName(await bench().session.table(`db.${name}.${table}`).schema)
      .toLowerCase()
      .replaceAll('`', '')
      .replaceAll(', ', ',')
      .replaceAll(': ', ':');
  }

  const dataFile =
    'content:int,file_path:string,file_format:string,spec_id:int,record_count:bigint,file_size_in_bytes:bigint,column_sizes:map<int,bigint>,value_counts:map<int,bigint>,null_value_counts:map<int,bigint>,nan_value_counts:map<int,bigint>,lower_bounds:map<int,binary>,upper_bounds:map<int,binary>,key_metadata:binary,split_offsets:array<bigint>,equality_ids:array<int>,sort_order_id:int,first_row_id:bigint,referenced_data_file:string,content_offset:bigint,content_size_in_bytes:bigint';
  const metric = (type: string): string =>
    `struct<column_size:bigint,value_count:bigint,null_value_count:bigint,nan_value_count:bigint,lower_bound:${type},upper_bound:${type}>`;
  const readable = `readable_metrics:struct<id:${metric('int')},v:${metric('string')}>`;

  it.each([
    [
      'snapshots',
      'struct<committed_at:timestamp,snapshot_id:bigint,parent_id:bigint,operation:string,manifest_list:string,summary:map<string,string>>',
    ],
    ['history', 'struct<made_current_at:timestamp,snapshot_id:bigint,parent_id:bigint,is_current_ancestor:boolean>'],
    [
      'refs',
      'struct<name:string,type:string,snapshot_id:bigint,max_reference_age_in_ms:bigint,min_snapshots_to_keep:int,max_snapshot_age_in_ms:bigint>',
    ],
    ['files', `struct<${dataFile},${readable}>`],
    ['all_data_files', `struct<${dataFile},${readable}>`],
    [
      'manifests',
      'struct<content:int,path:string,length:bigint,partition_spec_id:int,added_snapshot_id:bigint,added_data_files_count:int,existing_data_files_count:int,deleted_data_files_count:int,added_delete_files_count:int,existing_delete_files_count:int,deleted_delete_files_count:int,partition_summaries:array<struct<contains_null:boolean,contains_nan:boolean,lower_bound:string,upper_bound:string>>>',
    ],
    [
      'partitions',
      'struct<record_count:bigint,file_count:int,total_data_file_size_in_bytes:bigint,position_delete_record_count:bigint,position_delete_file_count:int,equality_delete_record_count:bigint,equality_delete_file_count:int,last_updated_at:timestamp,last_updated_snapshot_id:bigint>',
    ],
    [
      'entries',
      `struct<status:int,snapshot_id:bigint,sequence_number:bigint,file_sequence_number:bigint,data_file:struct<${dataFile}>,${readable}>`,
    ],
    [
      'metadata_log_entries',
      'struct<timestamp:timestamp,file:string,latest_snapshot_id:bigint,latest_schema_id:int,latest_sequence_number:bigint>',
    ],
  ])('A15: %s has the columns of the reference engine', async (table, expected) => {
    await bench().sql('CREATE TABLE IF NOT EXISTS db.columns (id INT, v STRING) USING iceberg');
    expect(await columnsOf('columns', table)).toBe(expected);
  });

  it('A15: snapshots, history and refs follow the commits of a table', async () => {
    const { sql } = bench();
    await sql("CREATE TABLE db.told USING iceberg AS SELECT 1 AS id, 'a' AS v");
    await sql("INSERT INTO db.told VALUES (2, 'b')");
    await sql('DELETE FROM db.told WHERE id = 1');
    await sql('ALTER TABLE db.told CREATE TAG two AS OF VERSION ' + String((await bench().snapshots('db.told'))[1]?.id));
    const snapshots = await bench().snapshots('db.told');
    expect(snapshots.map(({ operation }) => operation)).toEqual(['append', 'append', 'delete']);
    const history = await sql('SELECT * FROM db.told.history');
    expect(history.map((row) => [row['snapshot_id'], row['parent_id'], row['is_current_ancestor']])).toEqual(
      snapshots.map(({ id, parent }) => [id, parent, true]),
    );
    expect(await sql('SELECT name, type, snapshot_id FROM db.told.refs ORDER BY name')).toEqual([
      { name: 'main', type: 'BRANCH', snapshot_id: snapshots[2]?.id },
      { name: 'two', type: 'TAG', snapshot_id: snapshots[1]?.id },
    ]);
    const log = await sql('SELECT file, latest_snapshot_id, latest_sequence_number FROM db.told.metadata_log_entries');
    expect(log.map((row) => textIn(row, 'file').split('/').at(-1))).toEqual([
      'v1.metadata.json',
      'v2.metadata.json',
      'v3.metadata.json',
      'v4.metadata.json',
    ]);
    expect(log.map((row) => row['latest_sequence_number'])).toEqual([1n, 2n, 3n, 3n]);
    // They are tables as others: joined, filtered, and read with DataFrames.
    expect(
      await sql(
        "SELECT count(*) AS n FROM db.told.history h JOIN db.told.snapshots s ON h.snapshot_id = s.snapshot_id WHERE s.operation = 'append'",
      ),
    ).toEqual([{ n: 2n }]);
    expect(await bench().session.read.format('iceberg').load('db.told.snapshots').count()).toBe(3);
  });

  it('A15: files, entries and manifests name what a snapshot is made of', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.made (id INT, x DOUBLE, p STRING) USING iceberg PARTITIONED BY (p)');
    await sql("INSERT INTO db.made VALUES (1, 0.5, 'a'), (2, NULL, 'a'), (3, CAST('NaN' AS DOUBLE), 'b')");
    const files = await sql('SELECT * FROM db.made.files ORDER BY partition.p');
    expect(files.map((row) => [row['content'], row['file_format'], row['partition'], row['record_count']])).toEqual([
      [0, 'PARQUET', { p: 'a' }, 2n],
      [0, 'PARQUET', { p: 'b' }, 1n],
    ]);
    expect(files.every((row) => existsSync(textIn(row, 'file_path')))).toBe(true);
    expect(files[0]?.['readable_metrics']).toMatchObject({
      id: { value_count: 2n, null_value_count: 0n, lower_bound: 1, upper_bound: 2 },
      x: { value_count: 2n, null_value_count: 1n, nan_value_count: 0n, lower_bound: 0.5, upper_bound: 0.5 },
      p: { lower_bound: 'a', upper_bound: 'a' },
    });
    expect(files[1]?.['readable_metrics']).toMatchObject({ x: { nan_value_count: 1n, lower_bound: null, upper_bound: null } });
    await sql("DELETE FROM db.made WHERE p = 'b'");
    const entries = await sql('SELECT status, data_file.record_count AS n FROM db.made.entries ORDER BY status');
    expect(entries).toEqual([
      { status: 0, n: 2n },
      { status: 2, n: 1n },
    ]);
    const [manifest] = await sql('SELECT * FROM db.made.manifests');
    expect(manifest).toMatchObject({ content: 0, partition_spec_id: 0, existing_data_files_count: 1, deleted_data_files_count: 1 });
    expect(manifest?.['partition_summaries']).toEqual([{ contains_null: false, contains_nan: false, lower_bound: 'a', upper_bound: 'b' }]);
    // A file counts once for each manifest that has it.
    expect(await sql('SELECT count(*) AS n FROM db.made.all_data_files')).toEqual([{ n: 3n }]);
    expect((await sql('SELECT * FROM db.made.all_manifests')).length).toBeGreaterThanOrEqual(2);
    expect(await sql('SELECT count(*) AS n FROM db.made.all_entries')).toEqual([{ n: 4n }]);
  });

  it('A15: partitions and position_deletes know of delete files', async () => {
    const { sql } = bench();
    await sql(
      "CREATE TABLE db.marked (id INT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')",
    );
    await sql("INSERT INTO db.marked VALUES (1, 'a'), (2, 'a'), (3, 'b')");
    await sql('DELETE FROM db.marked WHERE id = 1');
    expect(
      await sql(
        'SELECT partition, spec_id, record_count, file_count, position_delete_record_count, position_delete_file_count FROM db.marked.partitions ORDER BY partition.p',
      ),
    ).toEqual([
      {
        partition: { p: 'a' },
        spec_id: 0,
        record_count: 2n,
        file_count: 1,
        position_delete_record_count: 1n,
        position_delete_file_count: 1,
      },
      {
        partition: { p: 'b' },
        spec_id: 0,
        record_count: 1n,
        file_count: 1,
        position_delete_record_count: 0n,
        position_delete_file_count: 0,
      },
    ]);
    const [deleted, ...more] = await sql('SELECT file_path, pos, partition, delete_file_path FROM db.marked.position_deletes');
    expect(more).toEqual([]);
    expect(deleted).toMatchObject({ pos: 0n, partition: { p: 'a' } });
    expect(textIn(deleted, 'file_path')).toContain('p=a');
    expect(await sql('SELECT count(*) AS n FROM db.marked.delete_files')).toEqual([{ n: 1n }]);
    expect(await sql('SELECT count(*) AS n FROM db.marked.data_files')).toEqual([{ n: 2n }]);
  });

  it('A15: a metadata table at an earlier snapshot, and one that is none', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.past USING iceberg AS SELECT 1 AS id');
    await sql('INSERT INTO db.past VALUES (2)');
    const [first] = await bench().snapshots('db.past');
    expect(await sql(`SELECT count(*) AS n FROM db.past.files VERSION AS OF ${String(first?.id)}`)).toEqual([{ n: 1n }]);
    expect(await refusalOf(sql('SELECT * FROM db.past.snapshotz'))).toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await refusalOf(sql('INSERT INTO db.past.snapshots SELECT * FROM db.past.snapshots'));
  });

  it('A20: the metadata file has every field, typed, and true', async () => {
    const { sql, path } = bench();
    await sql(
      "CREATE TABLE db.fields (id INT NOT NULL, v STRING, at TIMESTAMP_NTZ) USING iceberg PARTITIONED BY (v) TBLPROPERTIES ('team' = 'me')",
    );
    const startMs = Date.now();
    await sql("INSERT INTO db.fields VALUES (1, 'a', NULL)");
    await sql("INSERT INTO db.fields VALUES (2, 'b', NULL)");
    await sql('ALTER TABLE db.fields ADD COLUMN extra DOUBLE');
    const metadata = bench().metadata('fields');
    const [first, second] = await bench().snapshots('db.fields');
    expect(metadata).toEqual({
      'format-version': 2,
      'table-uuid': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/) as unknown,
      location: path('fields'),
      'last-sequence-number': 2,
      'last-updated-ms': expect.any(Number) as unknown,
      'last-column-id': 4,
      'current-schema-id': 1,
      schemas: [
        {
          type: 'struct',
          'schema-id': 0,
          fields: [
            { id: 1, name: 'id', required: true, type: 'int' },
            { id: 2, name: 'v', required: false, type: 'string' },
            { id: 3, name: 'at', required: false, type: 'timestamp' },
          ],
        },
        {
          type: 'struct',
          'schema-id': 1,
          fields: [
            { id: 1, name: 'id', required: true, type: 'int' },
            { id: 2, name: 'v', required: false, type: 'string' },
            { id: 3, name: 'at', required: false, type: 'timestamp' },
            { id: 4, name: 'extra', required: false, type: 'double' },
          ],
        },
      ],
      'default-spec-id': 0,
      'partition-specs': [{ 'spec-id': 0, fields: [{ name: 'v', transform: 'identity', 'source-id': 2, 'field-id': 1000 }] }],
      'last-partition-id': 1000,
      'default-sort-order-id': 0,
      'sort-orders': [{ 'order-id': 0, fields: [] }],
      properties: { team: 'me', 'write.parquet.compression-codec': 'zstd' },
      'current-snapshot-id': String(second?.id),
      refs: { main: { 'snapshot-id': String(second?.id), type: 'branch' } },
      snapshots: [first, second].map((snapshot, index) => ({
        'sequence-number': index + 1,
        'snapshot-id': String(snapshot?.id),
        ...(index === 0 ? {} : { 'parent-snapshot-id': String(first?.id) }),
        'timestamp-ms': expect.any(Number) as unknown,
        summary: { operation: 'append', ...snapshot?.summary },
        'manifest-list': expect.stringMatching(
          new RegExp(`^${path('fields')}/metadata/snap-${String(snapshot?.id)}-\\d+-[0-9a-f-]{36}\\.avro$`),
        ) as unknown,
        'schema-id': 0,
      })),
      statistics: [],
      'partition-statistics': [],
      'snapshot-log': [first, second].map((snapshot) => ({
        'timestamp-ms': expect.any(Number) as unknown,
        'snapshot-id': String(snapshot?.id),
      })),
      'metadata-log': [1, 2, 3].map((version) => ({
        'timestamp-ms': expect.any(Number) as unknown,
        'metadata-file': `${path('fields')}/metadata/v${version}.metadata.json`,
      })),
    });
    const updatedMs = Number(metadata['last-updated-ms']);
    expect(updatedMs).toBeGreaterThanOrEqual(startMs);
    expect(updatedMs).toBeLessThanOrEqual(Date.now());
    await bench().agree('fields');
  });

  it('A20: the summary of a snapshot has every key as text, and its numbers are those of the files', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.summed (id INT, p STRING) USING iceberg PARTITIONED BY (p)');
    await sql("INSERT INTO db.summed VALUES (1, 'a'), (2, 'a'), (3, 'b')");
    await sql("INSERT INTO db.summed VALUES (4, 'b')");
    const [row] = await sql('SELECT * FROM db.summed.snapshots ORDER BY committed_at DESC LIMIT 1');
    const summary = textMap(row?.['summary']);
    const sizes = (
      await sql(
        "SELECT sum(file_size_in_bytes) AS total, sum(CASE WHEN record_count = 1 AND partition.p = 'b' THEN 1 ELSE 0 END) AS n FROM db.summed.files",
      )
    )[0];
    expect(summary).toMatchObject({
      'spark.app.id': expect.stringMatching(/^local-\d{13}$/) as unknown,
      'added-data-files': '1',
      'added-records': '1',
      'added-files-size': expect.stringMatching(/^\d+$/) as unknown,
      'changed-partition-count': '1',
      'total-records': '4',
      'total-files-size': String(Number(sizes?.['total'])),
      'total-data-files': '3',
      'total-delete-files': '0',
      'total-position-deletes': '0',
      'total-equality-deletes': '0',
      'engine-name': 'tidewater',
      'manifests-created': '1',
      'manifests-kept': '1',
      'manifests-replaced': '0',
    });
    expect(Object.values(summary).every((value) => typeof value === 'string')).toBe(true);
    expect(row?.['operation']).toBe('append');
    expect(textIn(row, 'committed_at')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(existsSync(textIn(row, 'manifest_list'))).toBe(true);
  });
});
