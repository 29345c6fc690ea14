// Writes rows to a directory, appends to it, overwrites a part of it, and reads it back.
import { join } from 'node:path';
import { col, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'orders');

// readme: begin
const columns = 'id BIGINT, country STRING, amount DECIMAL(12, 2)';
// Types are exact: a BIGINT is a bigint, a DECIMAL is its text.
const first = [
  { id: 1n, country: 'NL', amount: '12.50' },
  { id: 9007199254740993n, country: 'DE', amount: '0.10' },
];
await session.createDataFrame(first, columns).write.partitionBy('country').save(path);
const more = session.createDataFrame([{ id: 3n, country: 'NL', amount: '99.99' }], columns);
await more.write.mode('append').save(path);

const orders = session.read.load(path);
await orders.where("country = 'NL'").orderBy(col('amount').desc()).show();
console.log(await orders.agg({ amount: 'sum' }).collect());
// readme: end

// Only the rows of one partition are replaced.
const replacement = session.createDataFrame([{ id: 4n, country: 'DE', amount: '5.00' }], columns);
await replacement.write.mode('overwrite').option('replaceWhere', "country = 'DE'").save(path);
for await (const row of orders.orderBy('id')) console.log(row);

await session.stop();

/* Prints:
+---+-------+------+
| id|country|amount|
+---+-------+------+
|  3|     NL| 99.99|
|  1|     NL| 12.50|
+---+-------+------+
[ { 'sum(amount)': '112.59' } ]
{ id: 1n, country: 'NL', amount: '12.50' }
{ id: 3n, country: 'NL', amount: '99.99' }
{ id: 4n, country: 'DE', amount: '5.00' }
*/
