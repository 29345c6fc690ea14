// Snapshots stay readable until they expire; branches and tags give them names.
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.warehouse', workspace())
  .getOrCreate();
const rows = async (text) => (await (await session.sql(text)).collect()).map((row) => Object.values(row).join(' '));
await session.sql('CREATE TABLE lake.db.stock (item STRING, pieces INT) USING iceberg');
await session.sql("INSERT INTO lake.db.stock VALUES ('nut', 100), ('bolt', 50)");

// readme: begin
await session.sql('ALTER TABLE lake.db.stock CREATE TAG counted RETAIN 365 DAYS');
await session.sql('ALTER TABLE lake.db.stock CREATE BRANCH audit');

await session.sql("UPDATE lake.db.stock.branch_audit SET pieces = 98 WHERE item = 'nut'");
await session.sql("INSERT INTO lake.db.stock VALUES ('screw', 7)");
console.log('main:', await rows('SELECT * FROM lake.db.stock ORDER BY item'));
console.log('audit:', await rows("SELECT * FROM lake.db.stock VERSION AS OF 'audit' ORDER BY item"));
console.log('counted:', await rows('SELECT * FROM lake.db.stock.tag_counted ORDER BY item'));

const [first] = await session.table('lake.db.stock.snapshots').orderBy('committed_at').collect();
console.log('first snapshot:', await session.read.option('versionAsOf', first.snapshot_id).table('lake.db.stock').count());
await session.sql(`CALL lake.system.rollback_to_snapshot('db.stock', ${first.snapshot_id})`);
console.log('rolled back:', await session.table('lake.db.stock').count());
await session.sql("CALL lake.system.fast_forward('db.stock', 'main', 'audit')");
// readme: end
console.log('forward to audit:', await rows('SELECT * FROM lake.db.stock ORDER BY item'));

await session.stop();

/* Prints:
main: [ 'bolt 50', 'nut 100', 'screw 7' ]
audit: [ 'bolt 50', 'nut 98' ]
counted: [ 'bolt 50', 'nut 100' ]
first snapshot: 2
rolled back: 2
forward to audit: [ 'bolt 50', 'nut 98' ]
*/
