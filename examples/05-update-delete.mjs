// Changes and deletes rows; each call is one version of the table, or none when it fails.
import { join } from 'node:path';
import { col, DeltaTable, lit, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'accounts');
const accounts = [
  { id: 1, owner: 'ada', balance: '10.00', open: true },
  { id: 2, owner: 'grace', balance: '20.00', open: true },
  { id: 3, owner: 'alan', balance: '0.00', open: true },
];
await session.createDataFrame(accounts, 'id INT, owner STRING, balance DECIMAL(12, 2), open BOOLEAN').write.save(path);

// readme: begin
const table = await DeltaTable.forPath(session, path);
await table.update({ condition: "owner = 'grace'", set: { balance: 'balance + 5.50' } });
await table.update({ condition: col('balance').eq(0), set: { open: lit(false) } });
const deleted = await table.delete('NOT open');
console.log(await deleted.collect());

// The same in SQL. Values come as parameters, never as text.
await session.sql(`UPDATE delta.\`${path}\` SET owner = :name WHERE id = :id`, { name: "d'Arc", id: 1 });
// readme: end

await table.toDF().orderBy('id').show();

await session.stop();

/* Prints:
[ { num_affected_rows: 1n } ]
+---+-----+-------+----+
| id|owner|balance|open|
+---+-----+-------+----+
|  1|d'Arc|  10.00|true|
|  2|grace|  25.50|true|
+---+-----+-------+----+
*/
