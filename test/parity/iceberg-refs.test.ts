import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Branches, tags, and the procedures that move them. */
describe('branches and tags of Iceberg tables', () => {
  const bench = icebergBench();

  /** Three snapshots of one row each: their ids. */
  async function made(name: string): Promise<readonly bigint[]> {
    await bench().sql(`CREATE TABLE db.${name} (id INT) USING iceberg`);
    for (const id of [1, 2, 3]) await bench().sql(`INSERT INTO db.${name} VALUES (${id})`);
    return (await bench().snapshots(`db.${name}`)).map(({ id }) => id);
  }

  const idsIn = async (table: string): Promise<readonly unknown[]> => (await bench().rows(table)).map((row) => row['id']);
  const refsOf = (name: string) =>
    bench().sql(
      `SELECT name, type, snapshot_id, max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms FROM db.${name}.refs ORDER BY name`,
    );
  const plain = { max_reference_age_in_ms: null, min_snapshots_to_keep: null, max_snapshot_age_in_ms: null };

  it('A24: branches and tags are created at a snapshot, with what they retain', async () => {
    const [first, second, third] = await made('created');
    const { sql } = bench();
    await sql(`ALTER TABLE db.created CREATE TAG t1 AS OF VERSION ${String(first)} RETAIN 7 DAYS`);
    await sql('ALTER TABLE db.created CREATE BRANCH b1');
    await sql(
      `ALTER TABLE db.created CREATE BRANCH b2 AS OF VERSION ${String(second)} RETAIN 3 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS 5 HOURS`,
    );
    await sql('ALTER TABLE db.created CREATE BRANCH IF NOT EXISTS b1 AS OF VERSION 1');
    expect(await refsOf('created')).toEqual([
      { ...plain, name: 'b1', type: 'BRANCH', snapshot_id: third },
      {
        name: 'b2',
        type: 'BRANCH',
        snapshot_id: second,
        max_reference_age_in_ms: 259_200_000n,
        min_snapshots_to_keep: 2,
        max_snapshot_age_in_ms: 18_000_000n,
      },
      { ...plain, name: 'main', type: 'BRANCH', snapshot_id: third },
      { ...plain, name: 't1', type: 'TAG', snapshot_id: first, max_reference_age_in_ms: 604_800_000n },
    ]);
    await bench().agree('created');
  });

  it('A24: they are replaced and dropped', async () => {
    const [first, second, third] = await made('replaced');
    const { sql } = bench();
    await sql(`ALTER TABLE db.replaced CREATE TAG t AS OF VERSION ${String(first)}`);
    await sql(`ALTER TABLE db.replaced REPLACE TAG t AS OF VERSION ${String(second)}`);
    await sql(`ALTER TABLE db.replaced CREATE OR REPLACE BRANCH b AS OF VERSION ${String(first)}`);
    await sql(`ALTER TABLE db.replaced CREATE OR REPLACE BRANCH b AS OF VERSION ${String(third)}`);
    expect((await refsOf('replaced')).map((row) => [row['name'], row['snapshot_id']])).toEqual([
      ['b', third],
      ['main', third],
      ['t', second],
    ]);
    await sql('ALTER TABLE db.replaced DROP TAG t');
    await sql('ALTER TABLE db.replaced DROP BRANCH b');
    await sql('ALTER TABLE db.replaced DROP BRANCH IF EXISTS b');
    expect(await refsOf('replaced')).toHaveLength(1);
    for (const statement of [
      'DROP TAG t',
      'DROP BRANCH main',
      'CREATE BRANCH main',
      'CREATE TAG x AS OF VERSION 17',
      'REPLACE BRANCH nope',
    ]) {
      await refusalOf(sql(`ALTER TABLE db.replaced ${statement}`));
    }
    expect(await refsOf('replaced')).toHaveLength(1);
  });

  it('A24: rows are written to a branch, in SQL and with DataFrames, and main does not see them', async () => {
    const { sql, session } = bench();
    await made('branched');
    await sql('ALTER TABLE db.branched CREATE BRANCH audit');
    await sql('INSERT INTO db.branched.branch_audit VALUES (10)');
    await session.range(11, 12).selectExpr('CAST(id AS INT) AS id').writeTo('db.branched.branch_audit').append();
    await session
      .range(12, 13)
      .selectExpr('CAST(id AS INT) AS id')
      .write.format('iceberg')
      .option('branch', 'audit')
      .mode('append')
      .save('db.branched');
    await sql('DELETE FROM db.branched.branch_audit WHERE id = 1');
    await sql('UPDATE db.branched.branch_audit SET id = 20 WHERE id = 2');
    expect(await idsIn('db.branched.branch_audit')).toEqual([3, 10, 11, 12, 20]);
    expect(await idsIn('db.branched')).toEqual([1, 2, 3]);
    await sql('ALTER TABLE db.branched CREATE TAG first');
    expect((await refusalOf(sql('INSERT INTO db.branched.tag_first VALUES (1)'))).message).toContain(
      'first is a tag, not a branch. Tags cannot be targets for producing snapshots',
    );
    await refusalOf(sql('INSERT INTO db.branched.branch_nope VALUES (1)'));
    await bench().agree('branched');
  });

  it('A24: fast_forward moves a branch to where another one is', async () => {
    const { sql } = bench();
    const [, , third] = await made('forward');
    await sql('ALTER TABLE db.forward CREATE BRANCH work');
    await sql('INSERT INTO db.forward.branch_work VALUES (4)');
    const work = (await refsOf('forward')).find((row) => row['name'] === 'work')?.['snapshot_id'];
    expect(await sql("CALL ice.system.fast_forward('db.forward', 'main', 'work')")).toEqual([
      { branch_updated: 'main', previous_ref: third, updated_ref: work },
    ]);
    expect(await idsIn('db.forward')).toEqual([1, 2, 3, 4]);
    await sql('INSERT INTO db.forward VALUES (5)');
    await refusalOf(sql("CALL ice.system.fast_forward(table => 'db.forward', branch => 'main', to => 'work')"));
    await bench().agree('forward');
  });

  it('A24: rollback_to_snapshot, rollback_to_timestamp and set_current_snapshot choose the current snapshot', async () => {
    const { sql } = bench();
    const [first, second, third] = await made('rolled');
    expect(await sql(`CALL ice.system.rollback_to_snapshot('db.rolled', ${String(second)})`)).toEqual([
      { previous_snapshot_id: third, current_snapshot_id: second },
    ]);
    expect(await idsIn('db.rolled')).toEqual([1, 2]);
    expect((await sql('SELECT snapshot_id, is_current_ancestor FROM db.rolled.history')).map((row) => row['is_current_ancestor'])).toEqual([
      true,
      true,
      false,
      true,
    ]);
    expect(await sql(`CALL ice.system.set_current_snapshot('db.rolled', ${String(third)})`)).toEqual([
      { previous_snapshot_id: second, current_snapshot_id: third },
    ]);
    expect(await idsIn('db.rolled')).toEqual([1, 2, 3]);
    await refusalOf(sql(`CALL ice.system.rollback_to_snapshot('db.rolled', 17)`));
    await sql(`CALL ice.system.rollback_to_snapshot('db.rolled', ${String(first)})`);
    // A snapshot that is no ancestor can be set, and cannot be rolled back to.
    await refusalOf(sql(`CALL ice.system.rollback_to_snapshot('db.rolled', ${String(third)})`));
    await bench().agree('rolled');
  });

  it('A24: cherrypick_snapshot takes the rows of a staged snapshot over', async () => {
    const { sql, session } = bench();
    await made('picked');
    await sql("ALTER TABLE db.picked SET TBLPROPERTIES ('write.wap.enabled' = 'true')");
    await session.range(9, 10).selectExpr('CAST(id AS INT) AS id').writeTo('db.picked').option('snapshot-property.wap.id', 'w1').append();
    expect(await idsIn('db.picked')).toEqual([1, 2, 3]);
    const staged = await bench().lastSnapshot('db.picked');
    expect(staged.summary).toMatchObject({ 'wap.id': 'w1' });
    const [result] = await sql(`CALL ice.system.cherrypick_snapshot('db.picked', ${String(staged.id)})`);
    expect(result).toMatchObject({ source_snapshot_id: staged.id });
    expect(await idsIn('db.picked')).toEqual([1, 2, 3, 9]);
    await refusalOf(sql("CALL ice.system.cherrypick_snapshot('db.picked', 17)"));
    await bench().agree('picked');
  });
});
