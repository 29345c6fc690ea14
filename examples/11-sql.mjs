// SQL over tables and files together.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const lake = workspace();
const session = await Session.builder().config('spark.sql.warehouse.dir', lake).getOrCreate();
await session.sql('CREATE TABLE orders (id BIGINT, currency STRING, amount DECIMAL(12, 2))');
await session.sql("INSERT INTO orders VALUES (1, 'EUR', 10.00), (2, 'SEK', 250.00), (3, 'EUR', 2.50), (4, 'CHF', 1.00)");
mkdirSync(join(lake, 'files'));
writeFileSync(join(lake, 'files', 'rates.csv'), 'currency,rate\nEUR,1.10\nSEK,0.10\n');
await session.sql("SELECT 'EUR' AS code, 'euro' AS name").then((names) => names.write.parquet(join(lake, 'files', 'names')));

// readme: begin
session.read
  .option('header', true)
  .schema('currency STRING, rate DECIMAL(8, 4)')
  .csv(join(lake, 'files', 'rates.csv'))
  .createOrReplaceTempView('rates');

const report = await session.sql(
  `WITH converted AS (
     SELECT o.id, o.currency, o.amount * r.rate AS dollars FROM orders o JOIN rates r ON o.currency = r.currency
   )
   SELECT currency, n.name, count(*) AS orders, sum(dollars) AS dollars, rank() OVER (ORDER BY sum(dollars) DESC) AS place
   FROM converted LEFT JOIN parquet.\`${join(lake, 'files', 'names')}\` n ON n.code = currency
   WHERE dollars > :least GROUP BY currency, n.name ORDER BY place`,
  { least: 1 },
);
await report.show();
// readme: end

const missing = await session.sql('SELECT o.* FROM orders o LEFT ANTI JOIN rates r ON o.currency = r.currency');
console.log('without rate:', await missing.collect());

await session.stop();

/* Prints:
+--------+----+------+---------+-----+
|currency|name|orders|  dollars|place|
+--------+----+------+---------+-----+
|     SEK|NULL|     1|25.000000|    1|
|     EUR|euro|     2|13.750000|    2|
+--------+----+------+---------+-----+
without rate: [ { id: 4n, currency: 'CHF', amount: '1.00' } ]
*/
