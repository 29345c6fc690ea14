import { describe, expect, it } from 'vitest';
import { col, type DataFrame, DeltaTable, type Row } from '../../src/index.ts';
import { sortedLines } from '../engines/oracle.ts';
import { canonicalRow } from '../engines/support/canonical-rows.ts';
import { type DeltaBench, deltaBench, textIn } from '../support/parity/delta-bench.ts';

/** What each operation makes of versions and change rows. */

const columns = 'id BIGINT, v STRING, p STRING';
const feedOn = 'TBLPROPERTIES (delta.enableChangeDataFeed = true)';

const operations = ['CREATE TABLE', 'WRITE', 'UPDATE', 'DELETE', 'DELETE', 'MERGE'];
const lifeOfATable = [
  [1, 'a', 'x', 'insert', 1],
  [2, 'b', 'x', 'insert', 1],
  [3, 'c', 'y', 'insert', 1],
  [1, 'a', 'x', 'update_preimage', 2],
  [2, 'b', 'x', 'update_preimage', 2],
  [3, 'c', 'y', 'update_preimage', 2],
  [1, 'a!', 'x', 'update_postimage', 2],
  [2, 'b!', 'x', 'update_postimage', 2],
  [3, 'c!', 'y', 'update_postimage', 2],
  [2, 'b!', 'x', 'delete', 3],
  [3, 'c!', 'y', 'delete', 4],
  [1, 'a!', 'x', 'update_preimage', 5],
  [1, 'm', 'x', 'update_postimage', 5],
  [9, 'i', 'z', 'insert', 5],
] as const;

describe('change rows of operations', () => {
  const bench = deltaBench({}, { spark: true });

  it('B16: create is version 0, append 1, update 2, delete 3, delete of a partition 4, merge 5, in SQL', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('life')} (${columns}) USING delta PARTITIONED BY (p) ${feedOn}`);
    await sql(`INSERT INTO ${at('life')} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')`);
    expect(await sql(`UPDATE ${at('life')} SET v = concat(v, '!')`)).toEqual([{ num_affected_rows: 3n }]);
    expect(await sql(`DELETE FROM ${at('life')} WHERE id = 2`)).toEqual([{ num_affected_rows: 1n }]);
    expect(await sql(`DELETE FROM ${at('life')} WHERE p = 'y'`)).toEqual([{ num_affected_rows: 1n }]);
    const merged = await sql(`MERGE INTO ${at('life')} t
      USING (SELECT 1 AS id, 'm' AS v, 'x' AS p UNION ALL SELECT 9, 'i', 'z') s ON t.id = s.id
      WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *`);
    expect(merged).toEqual([{ num_affected_rows: 2n, num_updated_rows: 1n, num_deleted_rows: 0n, num_inserted_rows: 1n }]);
    await expectLife(bench(), 'life');
  });

  it('B16: the same versions and rows with DataFrames and DeltaTable', async () => {
    const { session, path } = bench();
    const rows = (...values: readonly (readonly [number, string, string])[]) =>
      session.createDataFrame(
        values.map(([id, v, p]) => ({ id, v, p })),
        columns,
      );
    const table = await DeltaTable.create(session)
      .location(path('object'))
      .addColumns(columns)
      .partitionedBy('p')
      .property('delta.enableChangeDataFeed', 'true')
      .execute();
    await rows([1, 'a', 'x'], [2, 'b', 'x'], [3, 'c', 'y']).write.format('delta').mode('append').save(path('object'));
    await table.update({ set: { v: "concat(v, '!')" } });
    await table.delete('id = 2');
    await table.delete(col('p').eq('y'));
    await table
      .alias('t')
      .merge(rows([1, 'm', 'x'], [9, 'i', 'z']).alias('s'), 't.id = s.id')
      .whenMatchedUpdate({ set: { v: 's.v' } })
      .whenNotMatchedInsertAll()
      .execute();
    await expectLife(bench(), 'object');
  });

  it('B16: the delete of a whole partition changes the log alone', async () => {
    const { sql, at, commit } = bench();
    await sql(`CREATE TABLE ${at('partition')} (${columns}) USING delta PARTITIONED BY (p) ${feedOn}`);
    await sql(`INSERT INTO ${at('partition')} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'y')`);
    await sql(`DELETE FROM ${at('partition')} WHERE p = 'x'`);
    expect(commit('partition', 2).map((action) => Object.keys(action)[0])).toEqual(['commitInfo', 'remove']);
    expect((await changesOf(bench(), 'partition', 2)).map(changeOf).sort()).toEqual([
      [1, 'a', 'x', 'delete', 2],
      [2, 'b', 'x', 'delete', 2],
    ]);
    await expectAgreement(bench(), 'partition', ['delta-rs']);
  });

  it('B16: an overwrite gives deletes and inserts, a compaction and a change of properties nothing', async () => {
    const { sql, at } = bench();
    await sql(`CREATE TABLE ${at('overwritten')} (${columns}) USING delta ${feedOn}`);
    await sql(`INSERT INTO ${at('overwritten')} VALUES (1, 'a', 'x')`);
    await sql(`INSERT INTO ${at('overwritten')} VALUES (2, 'b', 'x')`);
    await sql(`OPTIMIZE ${at('overwritten')}`);
    await sql(`ALTER TABLE ${at('overwritten')} SET TBLPROPERTIES (team = 'me')`);
    await sql(`INSERT OVERWRITE ${at('overwritten')} VALUES (3, 'c', 'y')`);
    expect(sortedChanges(await changesOf(bench(), 'overwritten', 3))).toEqual(
      asLines([
        [1, 'a', 'x', 'delete', 5],
        [2, 'b', 'x', 'delete', 5],
        [3, 'c', 'y', 'insert', 5],
      ]),
    );
    await expectAgreement(bench(), 'overwritten', ['delta-rs']);
  });

  it('B16: updates, deletes and merges that touch no row make no version', async () => {
    const { sql, at, version } = bench();
    await sql(`CREATE TABLE ${at('untouched')} (${columns}) USING delta ${feedOn}`);
    await sql(`INSERT INTO ${at('untouched')} VALUES (1, 'a', 'x')`);
    expect(await sql(`UPDATE ${at('untouched')} SET v = 'z' WHERE id = 9`)).toEqual([{ num_affected_rows: 0n }]);
    expect(await sql(`DELETE FROM ${at('untouched')} WHERE id = 9`)).toEqual([{ num_affected_rows: 0n }]);
    await sql(`MERGE INTO ${at('untouched')} t USING (SELECT 9 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE`);
    expect(await version('untouched')).toBe(1);
    expect(await changesOf(bench(), 'untouched', 2).catch((error: unknown) => error)).toMatchObject({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
    });
  });

  it('B16: RESTORE and row operations over deletion vectors give their rows', async () => {
    const { sql, at } = bench();
    const properties = 'TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = true)';
    await sql(`CREATE TABLE ${at('vectors')} (${columns}) USING delta ${properties}`);
    await sql(`INSERT INTO ${at('vectors')} VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'c', 'x'), (4, 'd', 'x')`);
    await sql(`DELETE FROM ${at('vectors')} WHERE id = 1`);
    await sql(`UPDATE ${at('vectors')} SET v = 'z' WHERE id = 2`);
    await sql(`RESTORE TABLE ${at('vectors')} TO VERSION AS OF 2`);
    expect(sortedChanges(await changesOf(bench(), 'vectors', 2))).toEqual(
      asLines([
        [1, 'a', 'x', 'delete', 2],
        [2, 'b', 'x', 'update_preimage', 3],
        [2, 'z', 'x', 'update_postimage', 3],
        [2, 'z', 'x', 'delete', 4],
        [2, 'b', 'x', 'insert', 4],
      ]),
    );
    await expectAgreement(bench(), 'vectors', ['spark']);
  });
});

type Change = readonly [id: number, v: string, p: string, kind: string, version: number];

function changeOf(row: Row): Change {
  return [Number(row['id']), textIn(row, 'v'), textIn(row, 'p'), textIn(row, '_change_type'), Number(row['_commit_version'])];
}

function sortedChanges(rows: readonly Row[]): readonly string[] {
  return asLines(rows.map(changeOf));
}

function asLines(changes: readonly Change[]): readonly string[] {
  return changes.map((change) => JSON.stringify(change)).sort();
}

function feedOf({ session, path }: DeltaBench, name: string, from: number = 0): DataFrame {
  return session.read.format('delta').option('readChangeFeed', 'true').option('startingVersion', from).load(path(name));
}

function changesOf(bench: DeltaBench, name: string, from: number = 0): Promise<readonly Row[]> {
  return feedOf(bench, name, from).collect();
}

async function expectLife(bench: DeltaBench, name: string): Promise<void> {
  expect(sortedChanges(await changesOf(bench, name))).toEqual(asLines(lifeOfATable));
  const history = await bench.sql(`DESCRIBE HISTORY ${bench.at(name)}`);
  expect(history.map((entry) => entry['operation']).reverse()).toEqual(operations);
  await expectAgreement(bench, name);
}

/** Rows, changes and rules as other engines find them. */
async function expectAgreement(
  bench: DeltaBench,
  name: string,
  engines: readonly ('delta-rs' | 'spark')[] = ['delta-rs', 'spark'],
): Promise<void> {
  await bench.agree(name);
  const ours = (await feedOf(bench, name).drop('_commit_timestamp').collect()).map(canonicalRow);
  for (const engine of engines) {
    const theirs = await bench.oracle?.changes(engine, bench.path(name), { from: 0 });
    if (theirs !== undefined) expect([engine, ...sortedLines(theirs)]).toEqual([engine, ...sortedLines(ours)]);
  }
}
