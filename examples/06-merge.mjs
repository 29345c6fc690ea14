// Upserts: one pass over the source, one version of the table.
import { join } from 'node:path';
import { DeltaTable, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'stock');
const columns = 'sku STRING, pieces INT';
const pieces = (counts) => Object.entries(counts).map(([sku, pieces]) => ({ sku, pieces }));
await session.createDataFrame(pieces({ bolt: 10, nut: 7, nail: 3 }), columns).write.save(path);
const delivery = session.createDataFrame(pieces({ nut: 5, gear: 2, nail: 0 }), columns);

// readme: begin
const stock = await DeltaTable.forPath(session, path);
const result = await stock
  .as('s')
  .merge(delivery.alias('d'), 's.sku = d.sku')
  .whenMatchedDelete('d.pieces = 0')
  .whenMatchedUpdate({ set: { pieces: 's.pieces + d.pieces' } })
  .whenNotMatchedInsertAll()
  .execute();
// readme: end
await result.show();

delivery.createOrReplaceTempView('delivery');
await session.sql(`
  MERGE INTO delta.\`${path}\` AS s USING delivery AS d ON s.sku = d.sku
  WHEN MATCHED THEN UPDATE SET pieces = d.pieces
  WHEN NOT MATCHED BY SOURCE THEN DELETE`);
await stock.toDF().orderBy('sku').show();

await session.stop();

/* Prints:
+-----------------+----------------+----------------+-----------------+
|num_affected_rows|num_updated_rows|num_deleted_rows|num_inserted_rows|
+-----------------+----------------+----------------+-----------------+
|                3|               1|               1|                1|
+-----------------+----------------+----------------+-----------------+
+----+------+
| sku|pieces|
+----+------+
|gear|     2|
| nut|     5|
+----+------+
*/
