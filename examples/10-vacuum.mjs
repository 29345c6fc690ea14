// Deletes the files that no version of the last days needs any more.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DeltaTable, Session } from 'tidewater';
import { workspace } from './lib/workspace.mjs';

const session = await Session.builder().getOrCreate();
const path = join(workspace(), 'readings');
for (let round = 0; round < 3; round += 1) await session.range(10).write.mode('overwrite').save(path);
const files = () => readdirSync(path).filter((name) => name.endsWith('.parquet')).length;

// readme: begin
const readings = await DeltaTable.forPath(session, path);
await readings.vacuum(); // what is older than 7 days: nothing yet
const planned = await session.sql(`VACUUM delta.\`${path}\` RETAIN 168 HOURS DRY RUN`);
// readme: end
console.log(`${files()} files, ${await planned.count()} to be deleted`);

// Less than the table's retention endangers readers and feeds: it has to be allowed.
await readings.vacuum(0).catch((error) => console.log(error.errorClass));
session.conf.set('spark.databricks.delta.retentionDurationCheck.enabled', false);
await readings.vacuum(0);
console.log(`${files()} file, ${await readings.toDF().count()} rows`);

await session.stop();

/* Prints:
3 files, 0 to be deleted
DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT
1 file, 10 rows
*/
