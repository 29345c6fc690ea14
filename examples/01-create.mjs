// Creates tables: with a statement, with the builder, and as the rows of a query.
import { DeltaTable, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const lake = workspace();

// readme: begin
const session = await Session.builder().config('spark.sql.warehouse.dir', lake).getOrCreate();

await session.sql(`
  CREATE TABLE orders (id BIGINT NOT NULL, customer STRING, amount DECIMAL(12, 2), placed_at TIMESTAMP)
  USING delta PARTITIONED BY (customer)
  TBLPROPERTIES (delta.enableChangeDataFeed = true)`);
// readme: end

await DeltaTable.createIfNotExists(session).tableName('customers').addColumn('name', 'STRING').addColumn('city', 'STRING').execute();
await session.sql("INSERT INTO customers VALUES ('ada', 'London'), ('grace', 'New York')");

await session.sql('CREATE TABLE cities USING delta AS SELECT DISTINCT city FROM customers');

await session.sql('SHOW TABLES').then((tables) => tables.select('tableName').show());
await session.table('orders').printSchema();
console.log('cities:', await session.table('cities').count());

await session.stop();

/* Prints:
+---------+
|tableName|
+---------+
|   cities|
|customers|
|   orders|
+---------+
root
 |-- id: long (nullable = false)
 |-- customer: string (nullable = true)
 |-- amount: decimal(12,2) (nullable = true)
 |-- placed_at: timestamp (nullable = true)
cities: 2
*/
