import { describe, expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

/** `DeltaTimeTravelSuite`: Block time travel, CDC, restore table and clone table beyond deletedFileRetention. */
describe('a version of a Delta table whose files VACUUM may delete', () => {
  const beyond = { errorClass: 'DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION' };
  const past = [
    'SELECT * FROM t VERSION AS OF 1',
    "SELECT * FROM table_changes('t', 1)",
    'RESTORE TABLE t TO VERSION AS OF 1',
    'CREATE TABLE copied SHALLOW CLONE t VERSION AS OF 1',
  ];
  const newest = ['SELECT * FROM t VERSION AS OF 3', 'SELECT * FROM t', "SELECT * FROM table_changes('t', 3)"];

  it.each(past)('is refused: %s', async (text) => {
    await using made = await temporarySession();
    const { session } = made;
    await session.sql("CREATE TABLE t (id INT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')");
    await session.sql('INSERT INTO t VALUES (1)');
    await session.sql('INSERT INTO t VALUES (2)');
    await session.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 hours')");
    await expect(session.sql(text).then((frame) => frame.collect())).rejects.toMatchObject(beyond);
    for (const allowed of newest) await (await session.sql(allowed)).collect();
    session.conf.set('spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration', false);
    await (await session.sql(text)).collect();
  });
});
