import { readdirSync } from 'node:fs';
import { setTimeout as rest } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DeltaConcurrentModificationException, type Row, type Session } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/** Writers that meet at one table, each with a session of its own, and writes that fail or are repeated. */

/** Takes the engine a while, so that another writer gets between the read and the commit of a statement. */
const slow = (value: string): string => `CASE WHEN length(sha2(repeat(concat('x', id), 30000000), 256)) = 64 THEN ${value} END`;

const headStartMs = 100;
const maxRounds = 5;

describe('concurrent writers', () => {
  const bench = deltaBench();
  let lastTable = 0;
  let other: Session | undefined;

  interface Met {
    readonly name: string;
    readonly slow: PromiseSettledResult<readonly Row[]>;
  }

  async function freshTable(): Promise<string> {
    lastTable += 1;
    const name = `raced${lastTable}`;
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING, p STRING) USING delta PARTITIONED BY (p)`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a', 'x'), (2, 'b', 'x')`);
    return name;
  }

  /**
   * Runs `fast` while `slowly` is under way. Where the machine let them run one after the other, which shows in `readVersion`, they meet again
   * at another table.
   */
  async function meet(slowly: (at: string) => string, fast: (at: string) => string): Promise<Met> {
    other ??= bench().another();
    const { sql, at } = bench();
    for (let round = 1; ; round += 1) {
      const name = await freshTable();
      const running = Promise.allSettled([sql(slowly(at(name)))]);
      await rest(headStartMs);
      await (await other.sql(fast(at(name)))).collect();
      const [outcome] = await running;
      const history = await sql(`DESCRIBE HISTORY ${at(name)}`);
      const met = outcome.status === 'rejected' || history[0]?.['readVersion'] === 1n;
      if (met || round === maxRounds) return { name, slow: outcome };
    }
  }

  function refusal({ slow: outcome }: Met): unknown {
    return outcome.status === 'rejected' ? outcome.reason : 'committed';
  }

  it('B21: an update against an update of the same file fails, and leaves nothing', async () => {
    const met = await meet(
      (t) => `UPDATE ${t} SET v = ${slow("'slow'")} WHERE id = 1`,
      (t) => `UPDATE ${t} SET v = 'fast' WHERE id = 1`,
    );
    expect(refusal(met)).toMatchObject({
      name: 'ConcurrentAppendException',
      errorClass: 'DELTA_CONCURRENT_APPEND.WITHOUT_HINT',
      sqlState: '2D521',
      kind: 'conflict',
      conflictingVersion: 2,
      message: expect.stringMatching(
        /^Transaction conflict detected\. a concurrent UPDATE added data to table .+ committed at version 2\. The concurrent operation modified data that should have been read by this operation\. Please retry the operation\./,
      ) as string,
    });
    expect(refusal(met)).toBeInstanceOf(DeltaConcurrentModificationException);
    expect(await bench().rows(met.name)).toMatchObject([{ v: 'fast' }, { v: 'b' }]);
    expect(await bench().version(met.name)).toBe(2);
    await bench().agree(met.name);
  });

  it('B21: an insert of rows computed from the table itself is not blind, and fails when others added rows meanwhile', async () => {
    const { sql, at } = bench();
    const met = await meet(
      (t) => `INSERT INTO ${t} SELECT id + 10, ${slow('v')}, p FROM ${t}`,
      (t) => `INSERT INTO ${t} VALUES (3, 'fast', 'x')`,
    );
    expect(refusal(met)).toMatchObject({ name: 'ConcurrentAppendException', conflictingVersion: 2 });
    expect(await bench().rows(met.name)).toHaveLength(3);
    await sql(`INSERT INTO ${at(met.name)} SELECT id + 10, v, p FROM ${at(met.name)} WHERE id = 1`);
    await sql(`INSERT INTO ${at(met.name)} SELECT 20, 'other', 'x'`);
    const history = await sql(`DESCRIBE HISTORY ${at(met.name)}`);
    expect(history.map((row) => row['isBlindAppend'])).toEqual([true, false, true, true, true]);
    await bench().agree(met.name);
  });

  it('B21: an overwrite with rows of the table itself fails when others added rows that it did not read', async () => {
    const met = await meet(
      (t) => `INSERT OVERWRITE ${t} SELECT id, ${slow('v')}, p FROM ${t}`,
      (t) => `INSERT INTO ${t} VALUES (3, 'fast', 'x')`,
    );
    expect(refusal(met)).toMatchObject({ name: 'ConcurrentAppendException' });
    expect(await bench().rows(met.name)).toHaveLength(3);
  });

  it('B21: a delete against a delete of the same file fails', async () => {
    const met = await meet(
      (t) => `DELETE FROM ${t} WHERE id = 1 AND ${slow('true')}`,
      (t) => `DELETE FROM ${t} WHERE p = 'x'`,
    );
    expect(refusal(met)).toMatchObject({
      name: 'ConcurrentDeleteReadException',
      errorClass: 'DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT',
      sqlState: '2D521',
      message: expect.stringMatching(
        /^Transaction conflict detected, a concurrent DELETE deleted data from table .+ \(committed at version 2\) that this transaction read\./,
      ) as string,
    });
    expect(await bench().rows(met.name)).toEqual([]);
  });

  it('B21: an update against an append of rows it should have read fails, of another partition it does not', async () => {
    const same = await meet(
      (t) => `UPDATE ${t} SET v = ${slow("'slow'")} WHERE p = 'x'`,
      (t) => `INSERT INTO ${t} VALUES (3, 'c', 'x')`,
    );
    expect(refusal(same)).toMatchObject({
      errorClass: 'DELTA_CONCURRENT_APPEND.WITHOUT_HINT',
      message: expect.stringContaining('a concurrent WRITE added data') as string,
    });
    const elsewhere = await meet(
      (t) => `UPDATE ${t} SET v = ${slow("'slow'")} WHERE p = 'x'`,
      (t) => `INSERT INTO ${t} VALUES (3, 'c', 'y')`,
    );
    expect(refusal(elsewhere)).toBe('committed');
    expect((await bench().rows(elsewhere.name)).map((row) => row['v'])).toEqual(['slow', 'slow', 'c']);
    await bench().agree(elsewhere.name);
  });

  it('B21: an append never fails against changes of rows, but does against a change of columns', async () => {
    const append = (t: string): string => `INSERT INTO ${t} SELECT id, ${slow("'slow'")} AS v, 'x' AS p FROM VALUES (9) AS s (id)`;
    const rows = await meet(append, (t) => `UPDATE ${t} SET v = 'fast'`);
    expect(refusal(rows)).toBe('committed');
    expect((await bench().rows(rows.name)).map((row) => row['v'])).toEqual(['fast', 'fast', 'slow']);
    const columns = await meet(append, (t) => `ALTER TABLE ${t} ADD COLUMN z INT`);
    expect(refusal(columns)).toMatchObject({
      name: 'MetadataChangedException',
      errorClass: 'DELTA_METADATA_CHANGED',
      sqlState: '2D521',
      message: expect.stringContaining('ADD COLUMNS') as string,
    });
    await bench().agree(rows.name);
  });

  it('B21: an update fails against a change of columns, and against a change of the protocol', async () => {
    const update = (t: string): string => `UPDATE ${t} SET v = ${slow("'slow'")}`;
    const columns = await meet(update, (t) => `ALTER TABLE ${t} ADD COLUMN z INT`);
    expect(refusal(columns)).toMatchObject({ errorClass: 'DELTA_METADATA_CHANGED' });
    const protocol = await meet(update, (t) => `ALTER TABLE ${t} SET TBLPROPERTIES (delta.enableDeletionVectors = true)`);
    expect(refusal(protocol)).toMatchObject({ errorClass: expect.stringMatching(/^DELTA_(PROTOCOL|METADATA)_CHANGED$/) as string });
  });

  it('B21: appends of several sessions at once all become versions, without a gap and each row once', async () => {
    const { session, sql, at, path, another } = bench();
    await sql(`CREATE TABLE ${at('busy')} (writer INT, n INT) USING delta`);
    const writers = [session, another(), another()];
    await Promise.all(
      writers.map(async (writer, index) => {
        for (let n = 0; n < 5; n += 1) {
          const row = writer.createDataFrame([{ writer: index, n }], 'writer INT, n INT');
          await row.write.format('delta').mode('append').save(path('busy'));
        }
      }),
    );
    expect(await bench().version('busy')).toBe(15);
    const expected = [0, 1, 2].flatMap((writer) => [0, 1, 2, 3, 4].map((n) => ({ writer, n })));
    expect(await session.read.load(path('busy')).orderBy('writer', 'n').collect()).toEqual(expected);
    await bench().agree('busy');
  });

  it('B21: a write that fails half way leaves neither a version nor a file nor a table', async () => {
    const { session, sql, at, path, another } = bench();
    await sql(`CREATE TABLE ${at('failing')} (id INT) USING delta`);
    const before = readdirSync(path('failing'), { recursive: true }).sort();
    const failing = "SELECT id, IF(id = 90000, raise_error('no more'), 'v') AS v FROM range(100000)";
    const append = (await session.sql(failing)).selectExpr('CAST(id + length(v) AS INT) AS id').write.format('delta').mode('append');
    await expect(append.save(path('failing'))).rejects.toThrow(/no more/);
    expect(readdirSync(path('failing'), { recursive: true }).sort()).toEqual(before);
    await expect(session.sql(`CREATE TABLE never USING delta AS ${failing}`)).rejects.toThrow(/no more/);
    await expect(another().table('never').count()).rejects.toMatchObject({ errorClass: 'TABLE_OR_VIEW_NOT_FOUND' });
    await expect((await session.sql(failing)).write.format('delta').save(path('absent'))).rejects.toThrow(/no more/);
    await expect(session.read.load(path('absent')).count()).rejects.toMatchObject({ errorClass: 'PATH_NOT_FOUND' });
    await bench().agree('failing');
  });
});

describe('repeated writes', () => {
  const bench = deltaBench();

  it('B25: a write with the same application and version is made once, by path and by name, append and overwrite', async () => {
    const { session, path, commit, version } = bench();
    const write = (id: number, txnVersion: number, mode: 'append' | 'overwrite' = 'append', txnAppId: string = 'nightly') =>
      session.createDataFrame([{ id }], 'id INT').write.format('delta').mode(mode).options({ txnAppId, txnVersion }).save(path('once'));
    await write(1, 7);
    await write(2, 7);
    expect(await bench().rows('once')).toEqual([{ id: 1 }]);
    expect(commit('once', 0).find((action) => 'txn' in action)?.['txn']).toMatchObject({ appId: 'nightly', version: 7 });
    await write(3, 6);
    await write(4, 7, 'overwrite');
    expect(await version('once')).toBe(0);
    await write(5, 8);
    await write(6, 7, 'append', 'hourly');
    expect((await bench().rows('once')).map((row) => row['id'])).toEqual([1, 5, 6]);
    await bench().agree('once');
    const named = (id: number): Promise<unknown> =>
      session.createDataFrame([{ id }], 'id INT').write.mode('append').options({ txnAppId: 'a', txnVersion: 1 }).saveAsTable('named');
    await named(1);
    await named(2);
    expect(await session.table('named').collect()).toEqual([{ id: 1 }]);
  });

  it('B25: another session, and a table that was checkpointed since, know the write too', async () => {
    const { session, another, sql, at, path, log } = bench();
    await sql(`CREATE TABLE ${at('kept')} (id INT) USING delta TBLPROPERTIES (delta.checkpointInterval = 2)`);
    const write = (by: Session, txnVersion: number): Promise<unknown> =>
      by
        .createDataFrame([{ id: txnVersion }], 'id INT')
        .write.format('delta')
        .mode('append')
        .options({ txnAppId: 'job', txnVersion })
        .save(path('kept'));
    for (const txnVersion of [1, 2, 3, 4]) await write(session, txnVersion);
    expect(log('kept').some((file) => file.includes('.checkpoint.'))).toBe(true);
    const second = another();
    for (const txnVersion of [1, 4]) await write(second, txnVersion);
    await write(second, 5);
    expect((await bench().rows('kept')).map((row) => row['id'])).toEqual([1, 2, 3, 4, 5]);
    await bench().agree('kept');
  });

  it('B25: half a mark, or a version that is no number, is refused', async () => {
    const { session, path } = bench();
    const writer = session.range(1).write.format('delta').mode('append');
    await expect(writer.option('txnAppId', 'a').save(path('half'))).rejects.toThrow(/txnAppId and txnVersion must be given together/);
    await expect(writer.option('txnVersion', 1).save(path('half'))).rejects.toThrow(/txnAppId and txnVersion must be given together/);
    await expect(writer.options({ txnAppId: 'a', txnVersion: 'x' }).save(path('half'))).rejects.toThrow(/whole number/);
  });
});
