// Reads what changed, row by row, between two versions.
import { col, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().config('spark.sql.warehouse.dir', workspace()).getOrCreate();

// readme: begin
await session.sql('CREATE TABLE users (id INT, name STRING) TBLPROPERTIES (delta.enableChangeDataFeed = true)');
await session.sql("INSERT INTO users VALUES (1, 'ada'), (2, 'grace')");
await session.sql("UPDATE users SET name = 'Ada' WHERE id = 1");
await session.sql('DELETE FROM users WHERE id = 2');

const changes = session.read.option('readChangeFeed', true).option('startingVersion', 1).table('users');
await changes
  .select('_commit_version', '_change_type', 'id', 'name')
  .orderBy('_commit_version', 'id', col('_change_type').desc())
  .show(20, false);
// readme: end

const deleted = await session.sql("SELECT id, name FROM table_changes('users', 2, 3) WHERE _change_type = 'delete'");
console.log('deleted:', await deleted.collect());

await session.stop();

/* Prints:
+---------------+----------------+---+-----+
|_commit_version|_change_type    |id |name |
+---------------+----------------+---+-----+
|1              |insert          |1  |ada  |
|1              |insert          |2  |grace|
|2              |update_preimage |1  |ada  |
|2              |update_postimage|1  |Ada  |
|3              |delete          |2  |grace|
+---------------+----------------+---+-----+
deleted: [ { id: 2, name: 'grace' } ]
*/
