// Iceberg tables in a catalog that is a directory: made, filled and read in SQL.
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const lake = workspace();

// readme: begin
const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.type', 'hadoop')
  .config('spark.sql.catalog.lake.warehouse', lake)
  .getOrCreate();

await session.sql(`
  CREATE TABLE lake.shop.orders (id BIGINT NOT NULL, customer STRING, amount DECIMAL(12, 2), placed_at TIMESTAMP)
  USING iceberg PARTITIONED BY (days(placed_at), bucket(4, customer))`);
await session.sql(`
  INSERT INTO lake.shop.orders VALUES
    (1, 'ada', 12.50, TIMESTAMP'2024-02-28 09:00:00Z'),
    (2, 'grace', 7.25, TIMESTAMP'2024-02-29 10:30:00Z')`);
const more = [{ id: 3n, customer: 'ada', amount: '0.10', placed_at: '2024-02-29T23:59:59.999999Z' }];
const columns = 'id BIGINT, customer STRING, amount DECIMAL(12, 2), placed_at TIMESTAMP';
await session.createDataFrame(more, columns).writeTo('lake.shop.orders').append();

await (await session.sql('SELECT customer, sum(amount) AS total FROM lake.shop.orders GROUP BY customer ORDER BY customer')).show();
// readme: end
await (await session.sql("SELECT id FROM lake.shop.orders WHERE placed_at >= '2024-02-29' ORDER BY id")).show();
await session.table('lake.shop.orders.snapshots').select('operation').show();

await session.stop();

/* Prints:
+--------+-----+
|customer|total|
+--------+-----+
|     ada|12.60|
|   grace| 7.25|
+--------+-----+
+---+
| id|
+---+
|  2|
|  3|
+---+
+---------+
|operation|
+---------+
|   append|
|   append|
+---------+
*/
