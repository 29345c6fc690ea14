import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

// Iceberg, spark/v4.0: Spark3Util.applyPropertyChanges, SparkScanBuilder, CreateChangelogViewProcedure, TestBranchDDL.
it('what contradicts itself or would have no effect on an Iceberg table is refused', async () => {
  const warehouse = await mkdtemp(join(tmpdir(), 'tidewater-lake-'));
  await using opened = await temporarySession({
    'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.lake.type': 'hadoop',
    'spark.sql.catalog.lake.warehouse': warehouse,
  });
  const { session } = opened;
  try {
    await session.sql('CREATE TABLE lake.db.t (id BIGINT) USING iceberg');
    await session.sql('INSERT INTO lake.db.t VALUES (1)');
    for (const property of ['sort-order', 'identifier-fields'])
      await expect(session.sql(`ALTER TABLE lake.db.t SET TBLPROPERTIES ('${property}' = 'id')`)).rejects.toMatchObject({
        errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
      });
    await expect(session.sql('ALTER TABLE lake.db.t CREATE BRANCH b WITH SNAPSHOT RETENTION')).rejects.toMatchObject({
      errorClass: 'PARSE_SYNTAX_ERROR',
    });
    const netChanges = "CALL lake.system.create_changelog_view(table => 'db.t', net_changes => true, identifier_columns => array('id')";
    await expect(session.sql(`${netChanges})`)).rejects.toThrow('Not support net changes with update images');
    await session.sql(`${netChanges}, compute_updates => false)`);
    const reader = session.read.option('snapshot-id', '1').option('start-snapshot-id', '1');
    expect(() => reader.table('lake.db.t')).toThrow('it cannot be given together with start-snapshot-id');
  } finally {
    await rm(warehouse, { recursive: true, force: true });
  }
});
