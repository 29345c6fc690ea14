// Every version stays readable until vacuum: by number, by time, in SQL, and as the newest one again.
import { join } from 'node:path';
import { DeltaTable, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'stock');
await session.range(3).write.save(path);
await session.range(3, 5).write.mode('append').save(path);
await session.range(100, 101).write.mode('overwrite').save(path);

// readme: begin
console.log('now:', await session.read.load(path).count());
console.log('version 1:', await session.read.option('versionAsOf', 1).load(path).count());
console.log('version 0:', await session.read.load(`${path}@v0`).count());
const [{ rows }] = await (await session.sql(`SELECT count(*) AS rows FROM delta.\`${path}\` VERSION AS OF 1`)).collect();
console.log('in SQL:', rows);

const table = await DeltaTable.forPath(session, path);
await table.history().select('version', 'operation').show();
await table.restoreToVersion(1);
// readme: end

console.log('restored:', await table.toDF().count());
await session.read
  .option('versionAsOf', 9)
  .load(path)
  .count()
  .catch((error) => console.log(`${error.errorClass}: ${error.message}`));

await session.stop();

/* Prints:
now: 1
version 1: 5
version 0: 3
in SQL: 5n
+-------+---------+
|version|operation|
+-------+---------+
|      2|    WRITE|
|      1|    WRITE|
|      0|    WRITE|
+-------+---------+
restored: 5
DELTA_VERSION_NOT_FOUND: Cannot time travel Delta table to version 9. Available versions: [0, 3].
*/
