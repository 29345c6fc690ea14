// Columns and partitioning of an Iceberg table change; no row is rewritten.
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.warehouse', workspace())
  .getOrCreate();
await session.sql('CREATE TABLE lake.db.events (id INT, kind STRING, at TIMESTAMP) USING iceberg PARTITIONED BY (kind)');
await session.sql("INSERT INTO lake.db.events VALUES (1, 'click', TIMESTAMP'2024-01-01 10:00:00Z')");

// readme: begin
await session.sql('ALTER TABLE lake.db.events ALTER COLUMN id TYPE BIGINT');
await session.sql('ALTER TABLE lake.db.events RENAME COLUMN kind TO action');
await session.sql('ALTER TABLE lake.db.events ADD COLUMN device STRUCT<os: STRING, version: INT> AFTER id');

await session.sql('ALTER TABLE lake.db.events DROP PARTITION FIELD action');
await session.sql('ALTER TABLE lake.db.events ADD PARTITION FIELD hours(at)');
await session.sql(`
  INSERT INTO lake.db.events VALUES
    (9007199254740993, named_struct('os', 'linux', 'version', 6), 'view', TIMESTAMP'2024-03-01 12:30:00Z')`);

await session.table('lake.db.events').orderBy('id').show();
await session.table('lake.db.events.files').select('spec_id', 'record_count').orderBy('spec_id').show();
// readme: end

await session.stop();

/* Prints:
+----------------+----------+------+-------------------+
|              id|    device|action|                 at|
+----------------+----------+------+-------------------+
|               1|      NULL| click|2024-01-01 10:00:00|
|9007199254740993|{linux, 6}|  view|2024-03-01 12:30:00|
+----------------+----------+------+-------------------+
+-------+------------+
|spec_id|record_count|
+-------+------------+
|      0|           1|
|      2|           1|
+-------+------------+
*/
