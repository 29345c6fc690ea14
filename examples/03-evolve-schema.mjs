// Columns come and change: refused unless asked for, then without rewriting a row.
import { join } from 'node:path';
import { Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'people');
await session.createDataFrame([{ id: 1n, name: 'ada' }], 'id BIGINT, name STRING').write.save(path);

// readme: begin
const more = session.createDataFrame([{ id: 2n, name: 'grace', born: '1906-12-09' }], 'id BIGINT, name STRING, born DATE');
try {
  await more.write.mode('append').save(path);
} catch (error) {
  console.log(error.errorClass, error.sqlState);
}
await more.write.mode('append').option('mergeSchema', true).save(path);
await session.sql(`ALTER TABLE delta.\`${path}\` ADD COLUMN country STRING COMMENT 'ISO 3166' AFTER name`);
// readme: end

await session.read.load(path).orderBy('id').show();

// Renaming and dropping need column mapping, which keeps names and files apart.
await session.sql(`ALTER TABLE delta.\`${path}\` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')`);
await session.sql(`ALTER TABLE delta.\`${path}\` RENAME COLUMN name TO first_name`);
await session.sql(`ALTER TABLE delta.\`${path}\` DROP COLUMN country`);
await session.read.load(path).printSchema();

await session.stop();

/* Prints:
DELTA_METADATA_MISMATCH 42KDG
+---+-----+-------+----------+
| id| name|country|      born|
+---+-----+-------+----------+
|  1|  ada|   NULL|      NULL|
|  2|grace|   NULL|1906-12-09|
+---+-----+-------+----------+
root
 |-- id: long (nullable = true)
 |-- first_name: string (nullable = true)
 |-- born: date (nullable = true)
*/
