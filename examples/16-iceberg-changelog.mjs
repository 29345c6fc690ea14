// Every row that was inserted, updated or deleted, as a view.
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder()
  .config('spark.sql.catalog.lake', 'org.apache.iceberg.spark.SparkCatalog')
  .config('spark.sql.catalog.lake.warehouse', workspace())
  .getOrCreate();
await session.sql('CREATE TABLE lake.db.prices (item STRING, price DOUBLE) USING iceberg');
await session.sql("INSERT INTO lake.db.prices VALUES ('nut', 0.1D), ('bolt', 0.2D)");
await session.sql("UPDATE lake.db.prices SET price = 0.3D WHERE item = 'bolt'");
await session.sql("DELETE FROM lake.db.prices WHERE item = 'nut'");

// readme: begin
await session.sql(`
  CALL lake.system.create_changelog_view(
    table => 'db.prices', changelog_view => 'price_changes', identifier_columns => array('item'))`);
const changes = session.table('price_changes').select('_change_ordinal', '_change_type', 'item', 'price');
await changes.orderBy('_change_ordinal', 'item', 'price').show();
// readme: end

await session.stop();

/* Prints:
+---------------+-------------+----+-----+
|_change_ordinal| _change_type|item|price|
+---------------+-------------+----+-----+
|              0|       INSERT|bolt|  0.2|
|              0|       INSERT| nut|  0.1|
|              1|UPDATE_BEFORE|bolt|  0.2|
|              1| UPDATE_AFTER|bolt|  0.3|
|              2|       DELETE| nut|  0.1|
+---------------+-------------+----+-----+
*/
