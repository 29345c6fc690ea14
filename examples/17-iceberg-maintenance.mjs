// Many small files become few, old snapshots and unused files go.
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.warehouse', workspace())
  .getOrCreate();
await session.sql('CREATE TABLE lake.db.log (id BIGINT, line STRING) USING iceberg');
for (let id = 0; id < 6; id += 1) await session.sql(`INSERT INTO lake.db.log VALUES (${id}, 'line ${id}')`);

// readme: begin
const call = async (text) => (await (await session.sql(`CALL lake.system.${text}`)).collect())[0];
const rewritten = await call("rewrite_data_files(table => 'db.log', options => map('rewrite-all', 'true'))");
console.log(rewritten.rewritten_data_files_count, 'files became', rewritten.added_data_files_count);
await call("rewrite_manifests('db.log')");
const expired = await call("expire_snapshots(table => 'db.log', older_than => current_timestamp(), retain_last => 1)");
console.log('data files deleted:', expired.deleted_data_files_count);
await call("remove_orphan_files(table => 'db.log')");
// readme: end
console.log('snapshots:', await session.table('lake.db.log.snapshots').count(), 'rows:', await session.table('lake.db.log').count());

await session.stop();

/* Prints:
6 files became 1
data files deleted: 6n
snapshots: 1 rows: 6
*/
