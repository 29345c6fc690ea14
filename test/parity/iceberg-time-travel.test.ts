import { describe, expect, it } from 'vitest';
import { icebergBench } from '../support/iceberg/parity-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Earlier snapshots, references, and what was appended between snapshots. */
describe('time travel in Iceberg tables', () => {
  const bench = icebergBench();

  /** Snapshots: (1), (1, 2), (1, 2, 3); with the ids and the time between the first two. */
  async function traveled(name: string): Promise<{ readonly ids: readonly bigint[]; readonly betweenMs: number }> {
    const { sql } = bench();
    await sql(`CREATE TABLE db.${name} (id INT) USING iceberg`);
    await sql(`INSERT INTO db.${name} VALUES (1)`);
    const log = bench().metadata(name)['snapshot-log'] as readonly { readonly 'timestamp-ms': number }[];
    await new Promise((resolve) => setTimeout(resolve, 20));
    await sql(`INSERT INTO db.${name} VALUES (2)`);
    await sql(`INSERT INTO db.${name} VALUES (3)`);
    return { ids: (await bench().snapshots(`db.${name}`)).map(({ id }) => id), betweenMs: (log[0]?.['timestamp-ms'] ?? 0) + 5 };
  }

  const idsOf = (rows: readonly Readonly<Record<string, unknown>>[]): readonly unknown[] => rows.map((row) => row['id']).sort();

  it('A16: a snapshot by option snapshot-id and versionAsOf, and in SQL in every form', async () => {
    const { session, sql } = bench();
    const { ids } = await traveled('snaps');
    const [first, second] = ids;
    for (const option of ['snapshot-id', 'versionAsOf']) {
      const frame = session.read.format('iceberg').option(option, String(second)).load('db.snaps');
      expect(idsOf(await frame.collect())).toEqual([1, 2]);
    }
    for (const clause of ['VERSION AS OF', 'FOR VERSION AS OF', 'FOR SYSTEM_VERSION AS OF', 'SYSTEM_VERSION AS OF']) {
      expect(idsOf(await sql(`SELECT * FROM db.snaps ${clause} ${String(first)}`))).toEqual([1]);
    }
    expect(await sql(`SELECT count(*) AS n FROM db.snaps a JOIN db.snaps VERSION AS OF ${String(first)} b ON a.id = b.id`)).toEqual([
      { n: 1n },
    ]);
  });

  it('A16: a time by option as-of-timestamp and timestampAsOf, and in SQL', async () => {
    const { session, sql } = bench();
    const { betweenMs } = await traveled('times');
    const text = new Date(betweenMs).toISOString().replace('T', ' ').replace('Z', '');
    const frame = session.read.format('iceberg');
    expect(idsOf(await frame.option('as-of-timestamp', betweenMs).load('db.times').collect())).toEqual([1]);
    expect(idsOf(await frame.option('timestampAsOf', text).load('db.times').collect())).toEqual([1]);
    for (const clause of ['TIMESTAMP AS OF', 'FOR TIMESTAMP AS OF', 'FOR SYSTEM_TIME AS OF']) {
      expect(idsOf(await sql(`SELECT * FROM db.times ${clause} '${text}'`))).toEqual([1]);
    }
    expect(idsOf(await sql("SELECT * FROM db.times TIMESTAMP AS OF '2100-01-01'"))).toEqual([1, 2, 3]);
  });

  it('A16: branches and tags by option and in SQL', async () => {
    const { session, sql } = bench();
    const { ids } = await traveled('refs');
    await sql(`ALTER TABLE db.refs CREATE TAG early AS OF VERSION ${String(ids[0])}`);
    await sql('ALTER TABLE db.refs CREATE BRANCH work');
    await sql('INSERT INTO db.refs.branch_work VALUES (4)');
    const frame = session.read.format('iceberg');
    expect(idsOf(await frame.option('tag', 'early').load('db.refs').collect())).toEqual([1]);
    expect(idsOf(await frame.option('branch', 'work').load('db.refs').collect())).toEqual([1, 2, 3, 4]);
    expect(idsOf(await sql("SELECT * FROM db.refs VERSION AS OF 'early'"))).toEqual([1]);
    expect(idsOf(await sql('SELECT * FROM db.refs.tag_early'))).toEqual([1]);
    expect(idsOf(await sql('SELECT * FROM db.refs.branch_work'))).toEqual([1, 2, 3, 4]);
    expect(idsOf(await sql('SELECT * FROM db.refs'))).toEqual([1, 2, 3]);
  });

  it('A16: what was appended between two snapshots, the first one left out', async () => {
    const { session, sql } = bench();
    const { ids } = await traveled('between');
    const frame = session.read.format('iceberg').option('start-snapshot-id', String(ids[0]));
    expect(idsOf(await frame.option('end-snapshot-id', String(ids[1])).load('db.between').collect())).toEqual([2]);
    expect(idsOf(await frame.load('db.between').collect())).toEqual([2, 3]);
    await sql('DELETE FROM db.between WHERE id = 1');
    expect(idsOf(await frame.load('db.between').collect())).toEqual([2, 3]);
    await refusalOf(() => session.read.format('iceberg').option('end-snapshot-id', String(ids[1])).load('db.between').collect());
    await refusalOf(() => session.read.format('iceberg').option('start-snapshot-id', '77').load('db.between').collect());
  });

  it('A16: a snapshot is read with the schema it was made with, a branch with that of the table', async () => {
    const { sql } = bench();
    const { ids } = await traveled('schemas');
    await sql('ALTER TABLE db.schemas RENAME COLUMN id TO key');
    await sql('ALTER TABLE db.schemas ADD COLUMN extra STRING');
    expect(await sql(`SELECT * FROM db.schemas VERSION AS OF ${String(ids[0])}`)).toEqual([{ id: 1 }]);
    expect(await sql('SELECT * FROM db.schemas WHERE key = 1')).toEqual([{ key: 1, extra: null }]);
  });

  it('A16: what is not there is refused as the reference engine refuses it', async () => {
    const { session, sql } = bench();
    await traveled('missing');
    const frame = session.read.format('iceberg');
    expect((await refusalOf(() => frame.option('snapshot-id', '123456789').load('db.missing').collect())).message).toBe(
      'Cannot find snapshot with ID 123456789',
    );
    expect((await refusalOf(sql('SELECT * FROM db.missing VERSION AS OF 123456789'))).message).toBe(
      'Cannot find snapshot with ID 123456789',
    );
    expect((await refusalOf(sql("SELECT * FROM db.missing VERSION AS OF 'nope'"))).message).toBe(
      'Cannot find matching snapshot ID or reference name for version nope',
    );
    expect((await refusalOf(sql("SELECT * FROM db.missing TIMESTAMP AS OF '2001-01-01 00:00:00'"))).message).toBe(
      'Cannot find a snapshot older than 2001-01-01T00:00:00+00:00',
    );
    await refusalOf(() => frame.option('branch', 'nope').load('db.missing').collect());
    await refusalOf(() => frame.option('tag', 'main').load('db.missing').collect());
    await refusalOf(() => frame.option('snapshot-id', '1').option('as-of-timestamp', '1').load('db.missing').collect());
  });
});
