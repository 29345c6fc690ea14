import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/**
 * Values of properties that Iceberg cannot read: it fails once it needs them, here they are refused when they are given (TestTableProperties,
 * PropertyUtil, TestMetricsConfig of apache/iceberg).
 */
describe('values of properties of Iceberg tables', () => {
  const bench = icebergBench();

  const unreadable: readonly (readonly [key: string, value: string])[] = [
    ['commit.retry.num-retries', 'x'],
    ['commit.retry.min-wait-ms', '1s'],
    ['commit.retry.max-wait-ms', ''],
    ['commit.retry.total-timeout-ms', '1.5'],
    ['commit.status-check.num-retries', 'x'],
    ['commit.manifest.target-size-bytes', '8mb'],
    ['commit.manifest.min-count-to-merge', 'x'],
    ['history.expire.max-snapshot-age-ms', '5 days'],
    ['history.expire.min-snapshots-to-keep', 'x'],
    ['write.metadata.previous-versions-max', 'x'],
    ['write.metadata.metrics.max-inferred-column-defaults', 'x'],
    ['write.metadata.metrics.column.unknown', 'full'],
    ['write.target-file-size-bytes', '128mb'],
    ['write.delete.target-file-size-bytes', 'x'],
    ['write.parquet.row-group-size-bytes', '1mb'],
    ['write.parquet.page-size-bytes', 'x'],
    ['write.parquet.dict-size-bytes', 'x'],
    ['write.parquet.compression-level', 'x'],
    ['write.distribution-mode', 'x'],
    ['write.summary.partition-limit', 'x'],
    ['read.split.target-size', 'x'],
    ['read.split.planning-lookback', '0'],
    ['schema.name-mapping.default', 'x'],
  ];

  it('what cannot be read is refused when it is set and when a table is made, and nothing is stored', async () => {
    const { sql } = bench();
    await sql('CREATE TABLE db.settled (id INT) USING iceberg');
    for (const [key, value] of unreadable) {
      const refused = { errorClass: 'ICEBERG_PROPERTY_INVALID', parameters: { key, value } };
      const set = sql(`ALTER TABLE db.settled SET TBLPROPERTIES ('${key}' = '${value}')`);
      expect(await refusalOf(set), key).toMatchObject(refused);
      const made = sql(`CREATE TABLE db.unsettled (id INT) USING iceberg TBLPROPERTIES ('${key}' = '${value}')`);
      expect(await refusalOf(made), key).toMatchObject(refused);
    }
    expect(bench().metadata('settled')).toMatchObject({ properties: { 'write.parquet.compression-codec': 'zstd' } });
    expect(await sql("SHOW TABLES IN db LIKE 'unsettled'")).toEqual([]);
  });

  it('what can be read is stored', async () => {
    const { sql } = bench();
    await sql(`CREATE TABLE db.readable (id INT) USING iceberg TBLPROPERTIES (
      'commit.retry.num-retries' = '2', 'write.distribution-mode' = 'HASH', 'write.metadata.metrics.column.id' = 'full')`);
    await sql('INSERT INTO db.readable VALUES (1)');
    expect(await sql('SELECT * FROM db.readable')).toEqual([{ id: 1 }]);
  });
});
