// Many small files become few large ones; rows that are asked for together come into the same files.
import { join } from 'node:path';
import { DeltaTable, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'events');
for (let day = 0; day < 8; day += 1) {
  const events = session.range(day * 1_000, (day + 1) * 1_000).selectExpr('id', 'id % 100 AS device');
  await events.write.mode('append').save(path);
}

// readme: begin
const events = await DeltaTable.forPath(session, path);
const [{ metrics }] = await (await events.optimize().executeCompaction()).collect();
console.log(`${metrics.numFilesRemoved} files became ${metrics.numFilesAdded}`);
await session.sql(`OPTIMIZE delta.\`${path}\` ZORDER BY (device)`);
// readme: end

const [before] = await session.read.load(`${path}@v8`).agg({ id: 'sum' }).collect();
const [after] = await events.toDF().agg({ id: 'sum' }).collect();
console.log('same rows:', before['sum(id)'] === after['sum(id)']);
await events.history(2).select('operation', 'readVersion').show();

await session.stop();

/* Prints:
8 files became 1
same rows: true
+---------+-----------+
|operation|readVersion|
+---------+-----------+
| OPTIMIZE|          8|
| OPTIMIZE|          7|
+---------+-----------+
*/
