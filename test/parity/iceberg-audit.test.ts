import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { textIn } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/**
 * Writes that wait until they are published. What Iceberg does: `TestPartitionedWritesToWapBranch`, `TestPublishChangesProcedure`,
 * `TestCherrypickSnapshotProcedure`, `TestWapProcedures` (spark/v4.0, Apache-2.0).
 */
describe('write-audit-publish', () => {
  const bench = icebergBench();
  const refused = { errorClass: 'VALIDATION_FAILED' };

  /** One row on the main branch; the table has write-audit-publish unless it is told. */
  async function made(name: string, enabled: string = 'true'): Promise<void> {
    await bench().sql(`CREATE TABLE db.${name} (id INT) USING iceberg TBLPROPERTIES ('write.wap.enabled' = '${enabled}')`);
    await bench().sql(`INSERT INTO db.${name} VALUES (1)`);
  }

  /** With settings that are there for as long as the work. */
  async function during(settings: Readonly<Record<string, string>>, work: () => Promise<void>): Promise<void> {
    const { conf } = bench().session;
    for (const [key, value] of Object.entries(settings)) conf.set(key, value);
    try {
      await work();
    } finally {
      for (const key of Object.keys(settings)) conf.unset(key);
    }
  }

  const idsIn = async (query: string): Promise<readonly unknown[]> =>
    (await bench().sql(`SELECT id FROM ${query} ORDER BY id`)).map((row) => row['id']);

  it('a branch takes inserts, updates, deletes and merges, and reads, and main nothing', async () => {
    await made('branched');
    await during({ 'spark.wap.branch': 'audit' }, async () => {
      expect(await idsIn('db.branched')).toEqual([1]);
      await bench().sql('INSERT INTO db.branched VALUES (2), (3)');
      await bench().sql('UPDATE db.branched SET id = 20 WHERE id = 2');
      await bench().sql('DELETE FROM db.branched WHERE id = 3');
      await bench().sql('MERGE INTO db.branched t USING (SELECT 4 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *');
      expect(await idsIn('db.branched')).toEqual([1, 4, 20]);
      expect(await idsIn('db.branched.branch_main')).toEqual([1]);
    });
    expect(await idsIn('db.branched')).toEqual([1]);
    expect(await idsIn('db.branched.branch_audit')).toEqual([1, 4, 20]);
    await bench().sql("CALL system.fast_forward('db.branched', 'main', 'audit')");
    expect(await idsIn('db.branched')).toEqual([1, 4, 20]);
  });

  it('the first statement makes the branch, whatever it is', async () => {
    for (const [name, statement, after] of [
      ['by_overwrite', 'INSERT OVERWRITE {t} VALUES (9)', [9]],
      ['by_delete', 'DELETE FROM {t} WHERE id = 1', []],
      ['by_update', 'UPDATE {t} SET id = 5', [5]],
    ] as const) {
      await made(name);
      await during({ 'spark.wap.branch': 'audit' }, async () => {
        await bench().sql(statement.replaceAll('{t}', `db.${name}`));
        expect(await idsIn(`db.${name}`)).toEqual(after);
      });
      expect(await idsIn(`db.${name}`)).toEqual([1]);
    }
  });

  it('writes of DataFrames go to the branch too', async () => {
    await made('framed');
    const frame = await bench().session.sql('SELECT 7 AS id');
    await during({ 'spark.wap.branch': 'audit' }, async () => {
      await frame.writeTo('db.framed').append();
      expect(await idsIn('db.framed')).toEqual([1, 7]);
      await frame.write.mode('append').insertInto('db.framed');
    });
    expect(await idsIn('db.framed')).toEqual([1]);
    expect(await idsIn('db.framed.branch_audit')).toEqual([1, 7, 7]);
  });

  it('under an id writes are in no branch until they are published, once', async () => {
    await made('staged');
    await during({ 'spark.wap.id': 'night-1' }, async () => {
      await bench().sql('INSERT INTO db.staged VALUES (2)');
      expect(await idsIn('db.staged')).toEqual([1]);
    });
    await bench().sql('INSERT INTO db.staged VALUES (3)');
    const [waiting] = await bench().sql("SELECT snapshot_id FROM db.staged.snapshots WHERE summary['wap.id'] = 'night-1'");
    const [published] = await bench().sql("CALL system.publish_changes('db.staged', 'night-1')");
    expect(published).toEqual({ source_snapshot_id: waiting?.['snapshot_id'], current_snapshot_id: expect.any(BigInt) as bigint });
    expect(await idsIn('db.staged')).toEqual([1, 2, 3]);
    expect(await refusalOf(bench().sql("CALL system.publish_changes('db.staged', 'night-1')"))).toMatchObject(refused);
    expect(await refusalOf(bench().sql("CALL system.publish_changes('db.staged', 'night-2')"))).toMatchObject(refused);
  });

  it('what waits under an id may be picked by its snapshot', async () => {
    await made('picked');
    await during({ 'spark.wap.id': 'x' }, async () => {
      await bench().sql('INSERT INTO db.picked VALUES (2)');
      const [waiting] = await bench().sql(
        "SELECT CAST(snapshot_id AS STRING) AS id FROM db.picked.snapshots WHERE summary['wap.id'] = 'x'",
      );
      await bench().sql(`CALL system.cherrypick_snapshot('db.picked', ${textIn(waiting, 'id')})`);
    });
    expect(await idsIn('db.picked')).toEqual([1, 2]);
  });

  it('a table without it takes writes as ever', async () => {
    await made('plain', 'false');
    await during({ 'spark.wap.branch': 'audit', 'spark.wap.id': 'x' }, async () => {
      await bench().sql('INSERT INTO db.plain VALUES (2)');
    });
    expect(await idsIn('db.plain')).toEqual([1, 2]);
  });

  it('a branch and an id together, and another branch beside it, are refused', async () => {
    await made('both');
    await bench().sql('ALTER TABLE db.both CREATE BRANCH other');
    await during({ 'spark.wap.branch': 'audit', 'spark.wap.id': 'x' }, async () => {
      expect(await refusalOf(bench().sql('INSERT INTO db.both VALUES (2)'))).toMatchObject(refused);
    });
    await during({ 'spark.wap.branch': 'audit' }, async () => {
      expect(await refusalOf(bench().sql('INSERT INTO db.both.branch_other VALUES (2)'))).toMatchObject(refused);
    });
    expect(await idsIn('db.both')).toEqual([1]);
  });
});
