// UPDATE, DELETE and MERGE, copying files or marking rows (format 3: deletion vectors).
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.warehouse', workspace())
  .getOrCreate();

// readme: begin
await session.sql(`
  CREATE TABLE lake.db.accounts (id BIGINT, owner STRING, balance DECIMAL(10, 2)) USING iceberg
  TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read',
    'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')`);
await session.sql("INSERT INTO lake.db.accounts VALUES (1, 'ada', 10.00), (2, 'grace', 5.50), (3, 'alan', 0.00)");

await session.sql('DELETE FROM lake.db.accounts WHERE balance = 0');
await session.sql("UPDATE lake.db.accounts SET balance = balance + 1 WHERE owner = 'ada'");
const payments = [
  { id: 2n, amount: '7.00' },
  { id: 4n, amount: '1.00' },
];
session.createDataFrame(payments, 'id BIGINT, amount DECIMAL(10, 2)').createOrReplaceTempView('payments');
await session.sql(`
  MERGE INTO lake.db.accounts a USING payments p ON a.id = p.id
  WHEN MATCHED THEN UPDATE SET balance = a.balance + p.amount
  WHEN NOT MATCHED THEN INSERT (id, owner, balance) VALUES (p.id, 'unknown', p.amount)`);

await session.table('lake.db.accounts').orderBy('id').show();
await session.table('lake.db.accounts.delete_files').select('file_format', 'record_count').show();
// readme: end

await session.stop();

/* Prints:
+---+-------+-------+
| id|  owner|balance|
+---+-------+-------+
|  1|    ada|  11.00|
|  2|  grace|  12.50|
|  4|unknown|   1.00|
+---+-------+-------+
+-----------+------------+
|file_format|record_count|
+-----------+------------+
|     PUFFIN|           3|
+-----------+------------+
*/
