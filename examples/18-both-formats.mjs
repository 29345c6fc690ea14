// A Delta table and an Iceberg table in one query.
import { join } from 'node:path';
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const lake = workspace();

// readme: begin
const session = await Session.builder()
  .config('spark.sql.warehouse.dir', join(lake, 'delta'))
  .config('spark.sql.catalog.ice', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.ice.warehouse', join(lake, 'iceberg'))
  .getOrCreate();
await session.sql("CREATE TABLE customers USING delta AS SELECT * FROM VALUES (1L, 'ada'), (2L, 'grace') AS c(id, name)");
await session.sql("CREATE TABLE ice.shop.orders USING iceberg AS SELECT * FROM VALUES (1L, 12.50), (1L, 3.00), (2L, 8.25) AS o(customer, amount)");

const totals = await session.sql(`
  SELECT c.name, count(*) AS orders, sum(o.amount) AS total
  FROM customers c JOIN ice.shop.orders o ON o.customer = c.id GROUP BY c.name ORDER BY c.name`);
await totals.show();
await totals.writeTo('ice.shop.totals').using('iceberg').create();
await totals.write.mode('append').saveAsTable('totals');
// readme: end
console.log(await session.table('ice.shop.totals').count(), await session.table('totals').count());

await session.stop();

/* Prints:
+-----+------+-----+
| name|orders|total|
+-----+------+-----+
|  ada|     2|15.50|
|grace|     1| 8.25|
+-----+------+-----+
2 2
*/
