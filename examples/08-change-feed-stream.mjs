// Follows the changes of a table; after a restart it goes on where it was.
import { join } from 'node:path';
import { col, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const lake = workspace();
const session = await Session.builder().config('spark.sql.warehouse.dir', lake).getOrCreate();
await session.sql('CREATE TABLE users (id INT, name STRING) TBLPROPERTIES (delta.enableChangeDataFeed = true)');
await session.sql("INSERT INTO users VALUES (1, 'ada'), (2, 'grace')");

async function follow() {
  // readme: begin
  const query = await session.readStream
    .option('readChangeFeed', true)
    .option('startingVersion', 0)
    .table('users')
    .writeStream.foreachBatch(async (changes, batchId) => {
      const ordered = changes.orderBy('id', col('_change_type').desc());
      for await (const { _change_type: change, id, name } of ordered) console.log(batchId, change, id, name);
    })
    .option('checkpointLocation', join(lake, 'checkpoint'))
    .trigger({ availableNow: true }) // without it the query goes on until query.stop()
    .start();
  await query.awaitTermination();
  // readme: end
}

await follow();
await session.sql("UPDATE users SET name = 'Ada' WHERE id = 1");
await session.sql('DELETE FROM users WHERE id = 2');
await follow();

await session.stop();

/* Prints:
0 insert 1 ada
0 insert 2 grace
1 update_preimage 1 ada
1 update_postimage 1 Ada
1 delete 2 grace
*/
