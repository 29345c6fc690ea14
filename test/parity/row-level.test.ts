import { describe, expect, it } from 'vitest';
import { col, DeltaTable, expr, lit, type Row } from '../../src/index.ts';
import { type DeltaBench, deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Rows that are changed and deleted in place. */

const columns = 'id BIGINT, v STRING, p STRING';
const rowsOfTable = [
  { id: 1n, v: 'a', p: 'x' },
  { id: 2n, v: 'b', p: 'x' },
  { id: 3n, v: 'c', p: 'y' },
];
const [one, , three] = rowsOfTable;
const vectors = { 'delta.enableDeletionVectors': 'true' };
/** As the history of other engines has them, whatever way rows are deleted. */
const rowMetrics = [
  'executionTimeMs',
  'numAddedBytes',
  'numAddedChangeFiles',
  'numAddedFiles',
  'numCopiedRows',
  'numDeletionVectorsAdded',
  'numDeletionVectorsRemoved',
  'numDeletionVectorsUpdated',
  'numRemovedBytes',
  'numRemovedFiles',
  'rewriteTimeMs',
  'scanTimeMs',
];

describe('update and delete', () => {
  const bench = deltaBench();

  it('B08: update with a condition, SQL and DeltaTable', async () => {
    for (const [name, update] of [
      ['update-sql', (at: string) => bench().sql(`UPDATE ${at} SET v = upper(v), p = 'z' WHERE id >= 2`)],
      ['update-table', async () => (await (await tableAt('update-table')).update('id >= 2', { v: 'upper(v)', p: "'z'" })).collect()],
      [
        'update-columns',
        async () =>
          (
            await (await tableAt('update-columns')).update({ condition: col('id').geq(2), set: { v: expr('upper(v)'), p: lit('z') } })
          ).collect(),
      ],
    ] as const) {
      await fill(name);
      expect(await update(bench().at(name))).toEqual([{ num_affected_rows: 2n }]);
      expect(await bench().rows(name)).toEqual([one, { id: 2n, v: 'B', p: 'z' }, { id: 3n, v: 'C', p: 'z' }]);
      const entry = await bench().lastEntry(name);
      expect(entry).toMatchObject({
        version: 1n,
        operation: 'UPDATE',
        readVersion: 0n,
        isolationLevel: 'Serializable',
        isBlindAppend: false,
      });
      expect(entry['operationParameters']).toEqual(new Map([['predicate', '["(id >= 2)"]']]));
      expect([...metricsOf(entry).keys()].sort()).toEqual([...rowMetrics, 'numUpdatedRows'].sort());
      expect(numbersOf(entry, 'numUpdatedRows', 'numCopiedRows', 'numRemovedFiles', 'numAddedFiles')).toEqual([2, 1, 1, 1]);
      await bench().agree(name);
      await bench().agree(name, { version: 0 });
    }
  });

  it('B08: update without a condition changes all rows, SQL and DeltaTable', async () => {
    await fill('update-all');
    expect(await bench().sql(`UPDATE ${bench().at('update-all')} SET v = concat(v, p)`)).toEqual([{ num_affected_rows: 3n }]);
    expect((await bench().rows('update-all')).map((row) => row['v'])).toEqual(['ax', 'bx', 'cy']);
    expect((await bench().lastEntry('update-all'))['operationParameters']).toEqual(new Map([['predicate', '[]']]));
    const table = await tableAt('update-all');
    expect(await (await table.update({ set: { v: lit('w') } })).collect()).toEqual([{ num_affected_rows: 3n }]);
    expect(await (await table.update({ p: "'q'" })).collect()).toEqual([{ num_affected_rows: 3n }]);
    expect(await bench().rows('update-all')).toEqual([1n, 2n, 3n].map((id) => ({ id, v: 'w', p: 'q' })));
    await bench().agree('update-all');
  });

  it('B08: values see the row as it was, members of structs can be set, an alias qualifies columns', async () => {
    const { sql, at, rows, agree } = bench();
    await sql(`CREATE TABLE ${at('structs')} (id BIGINT, a INT, b INT, s STRUCT<x: INT, y: STRING>) USING delta`);
    await sql(`INSERT INTO ${at('structs')} VALUES (1, 10, 20, named_struct('x', 1, 'y', 'y'))`);
    await sql(`UPDATE ${at('structs')} AS t SET t.a = t.b, b = t.a, s.x = t.s.x + 1 WHERE t.id = 1`);
    expect(await rows('structs')).toEqual([{ id: 1n, a: 20, b: 10, s: { x: 2, y: 'y' } }]);
    await (await tableAt('structs')).alias('t').update(col('t.id').eq(1), { 's.y': lit('z'), a: 't.a + 1' });
    expect(await rows('structs')).toEqual([{ id: 1n, a: 21, b: 10, s: { x: 2, y: 'z' } }]);
    await agree('structs');
  });

  it('B08: a partitioned table: only files that hold such rows are rewritten, and rows may move', async () => {
    await fill('update-parts', { partitioned: true });
    await bench().sql(`UPDATE ${bench().at('update-parts')} SET p = 'y' WHERE id = 2`);
    expect(await bench().rows('update-parts')).toEqual([one, { id: 2n, v: 'b', p: 'y' }, three]);
    const removed = bench()
      .commit('update-parts', 1)
      .flatMap(({ remove }) => (remove === undefined ? [] : [remove['partitionValues']]));
    expect(removed).toEqual([{ p: 'x' }]);
    await bench().agree('update-parts');
  });

  it('B08: with deletion vectors the files stay and the changed rows are written anew', async () => {
    await fill('update-vectors', { properties: vectors });
    expect(await bench().sql(`UPDATE ${bench().at('update-vectors')} SET v = 'z' WHERE id = 2`)).toEqual([{ num_affected_rows: 1n }]);
    expect(await bench().rows('update-vectors')).toEqual([one, { id: 2n, v: 'z', p: 'x' }, three]);
    const entry = await bench().lastEntry('update-vectors');
    expect(numbersOf(entry, 'numUpdatedRows', 'numCopiedRows', 'numDeletionVectorsAdded', 'numAddedFiles')).toEqual([1, 0, 1, 1]);
    await bench().agree('update-vectors');
  });

  it('B08: an update that no row matches makes no version', async () => {
    await fill('update-none');
    expect(await bench().sql(`UPDATE ${bench().at('update-none')} SET v = 'z' WHERE id = 99`)).toEqual([{ num_affected_rows: 0n }]);
    expect(await (await (await tableAt('update-none')).update('v IS NULL', { v: "'z'" })).collect()).toEqual([{ num_affected_rows: 0n }]);
    expect(await bench().version('update-none')).toBe(0);
  });

  it('B08: what cannot be set is refused, and nothing is changed', async () => {
    await fill('update-bad');
    const { sql, at } = bench();
    const missing = await refusalOf(sql(`UPDATE ${at('update-bad')} SET nope = 1`));
    expect(missing).toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION', sqlState: '42703' });
    expect(missing.message).toMatch(
      /^A column, variable, or function parameter with name `nope` cannot be resolved\. Did you mean one of the following\? \[`p`, `id`, `v`\]/,
    );
    expect(await refusalOf(sql(`UPDATE ${at('update-bad')} SET v = 'z' WHERE nope = 1`))).toMatchObject({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
    });
    const text = await refusalOf(sql(`UPDATE ${at('update-bad')} SET id = 'notint'`));
    expect(text).toMatchObject({ errorClass: 'CAST_INVALID_INPUT', sqlState: '22018' });
    expect(text.message).toMatch(/^The value 'notint' of the type "STRING" cannot be cast to "BIGINT" because it is malformed\./);
    const twice = await refusalOf(sql(`UPDATE ${at('update-bad')} SET v = 'a', V = 'b'`));
    expect(twice).toMatchObject({ errorClass: 'DELTA_CONFLICT_SET_COLUMN', sqlState: '42701' });
    expect(await refusalOf(async () => (await tableAt('update-bad')).update({ set: {} }))).toMatchObject({
      errorClass: 'INVALID_ARGUMENT',
    });
    expect(await bench().version('update-bad')).toBe(0);
  });

  it('B09: delete with a condition, SQL and DeltaTable', async () => {
    for (const [name, remove] of [
      ['delete-sql', (at: string) => bench().sql(`DELETE FROM ${at} WHERE id = 2 OR v = 'c'`)],
      ['delete-table', async () => (await (await tableAt('delete-table')).delete("id = 2 OR v = 'c'")).collect()],
      ['delete-columns', async () => (await (await tableAt('delete-columns')).delete(col('id').eq(2).or(col('v').eq('c')))).collect()],
    ] as const) {
      await fill(name);
      expect(await remove(bench().at(name))).toEqual([{ num_affected_rows: 2n }]);
      expect(await bench().rows(name)).toEqual([one]);
      const entry = await bench().lastEntry(name);
      expect(entry).toMatchObject({
        version: 1n,
        operation: 'DELETE',
        readVersion: 0n,
        isolationLevel: 'Serializable',
        isBlindAppend: false,
      });
      expect(entry['operationParameters']).toEqual(new Map([['predicate', `["((id = 2) OR (v = 'c'))"]`]]));
      expect([...metricsOf(entry).keys()].sort()).toEqual([...rowMetrics, 'numDeletedRows'].sort());
      expect(numbersOf(entry, 'numDeletedRows', 'numCopiedRows', 'numRemovedFiles', 'numAddedFiles')).toEqual([2, 1, 1, 1]);
      await bench().agree(name);
    }
  });

  it('B09: a whole partition by its predicate touches only the log', async () => {
    for (const [name, remove] of [
      ['partition-sql', (at: string) => bench().sql(`DELETE FROM ${at} WHERE p = 'x'`)],
      ['partition-table', async () => (await (await tableAt('partition-table')).delete(col('p').eq('x'))).collect()],
    ] as const) {
      await fill(name, { partitioned: true });
      expect(await remove(bench().at(name))).toEqual([{ num_affected_rows: 2n }]);
      expect(
        bench()
          .commit(name, 1)
          .map((action) => Object.keys(action)[0]),
      ).toEqual(['commitInfo', 'remove']);
      expect(numbersOf(await bench().lastEntry(name), 'numDeletedRows', 'numRemovedFiles', 'numAddedFiles', 'numCopiedRows')).toEqual([
        2, 1, 0, 0,
      ]);
      expect(await bench().rows(name)).toEqual([three]);
      await bench().agree(name);
    }
  });

  it('B09: delete without a condition empties the table and touches only the log; so does TRUNCATE', async () => {
    await fill('delete-all');
    expect(await (await (await tableAt('delete-all')).delete()).collect()).toEqual([{ num_affected_rows: 3n }]);
    expect(await bench().rows('delete-all')).toEqual([]);
    expect(
      bench()
        .commit('delete-all', 1)
        .map((action) => Object.keys(action)[0]),
    ).toEqual(['commitInfo', 'remove']);
    await bench().agree('delete-all');
    await bench().sql(`INSERT INTO ${bench().at('delete-all')} VALUES (1, 'a', 'x')`);
    expect(await bench().sql(`DELETE FROM ${bench().at('delete-all')}`)).toEqual([{ num_affected_rows: 1n }]);
    await bench().sql(`INSERT INTO ${bench().at('delete-all')} VALUES (1, 'a', 'x')`);
    await bench().sql(`TRUNCATE TABLE ${bench().at('delete-all')}`);
    expect(await bench().rows('delete-all')).toEqual([]);
    await bench().agree('delete-all');
  });

  it('B09: with deletion vectors no row is rewritten', async () => {
    await fill('delete-vectors', { properties: vectors });
    await bench().sql(`DELETE FROM ${bench().at('delete-vectors')} WHERE id = 1`);
    const first = await bench().lastEntry('delete-vectors');
    expect(numbersOf(first, 'numDeletedRows', 'numCopiedRows', 'numAddedFiles', 'numDeletionVectorsAdded')).toEqual([1, 0, 0, 1]);
    await bench().sql(`DELETE FROM ${bench().at('delete-vectors')} WHERE id = 2`);
    const second = await bench().lastEntry('delete-vectors');
    expect(numbersOf(second, 'numDeletionVectorsAdded', 'numDeletionVectorsRemoved', 'numDeletionVectorsUpdated')).toEqual([1, 1, 1]);
    expect(await bench().rows('delete-vectors')).toEqual([three]);
    await bench().agree('delete-vectors');
    await bench().agree('delete-vectors', { version: 1 });
  });

  it('B09: null is neither true nor false: such rows stay', async () => {
    const { sql, at, rows } = bench();
    await sql(`CREATE TABLE ${at('nulls')} (id BIGINT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at('nulls')} VALUES (1, 'a'), (2, NULL), (NULL, 'c')`);
    expect(await sql(`DELETE FROM ${at('nulls')} WHERE NOT (v = 'a')`)).toEqual([{ num_affected_rows: 1n }]);
    expect(await rows('nulls')).toEqual([
      { id: 1n, v: 'a' },
      { id: 2n, v: null },
    ]);
    expect(await sql(`DELETE FROM ${at('nulls')} WHERE v IS NULL`)).toEqual([{ num_affected_rows: 1n }]);
    await bench().agree('nulls');
  });

  it('B09: a delete that no row matches makes no version, an unknown column is refused', async () => {
    await fill('delete-none');
    const { sql, at } = bench();
    expect(await sql(`DELETE FROM ${at('delete-none')} WHERE id = 99`)).toEqual([{ num_affected_rows: 0n }]);
    expect(await (await (await tableAt('delete-none')).delete('false')).collect()).toEqual([{ num_affected_rows: 0n }]);
    expect(await refusalOf(sql(`DELETE FROM ${at('delete-none')} WHERE nope = 1`))).toMatchObject({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      sqlState: '42703',
    });
    expect(await refusalOf(sql(`DELETE FROM ${bench().at('nothing')} WHERE id = 1`))).toMatchObject({ errorClass: 'PATH_NOT_FOUND' });
    expect(await bench().version('delete-none')).toBe(0);
  });

  it('B09: a table that only grows refuses updates and deletes', async () => {
    await fill('append-only', { properties: { 'delta.appendOnly': 'true' } });
    const { sql, at } = bench();
    for (const text of [
      `DELETE FROM ${at('append-only')} WHERE id = 1`,
      `UPDATE ${at('append-only')} SET v = 'z'`,
      `DELETE FROM ${at('append-only')}`,
    ]) {
      const refusal = await refusalOf(sql(text));
      expect(refusal).toMatchObject({ errorClass: 'DELTA_CANNOT_MODIFY_APPEND_ONLY', sqlState: '42809' });
      expect(refusal.message).toMatch(
        /^This table is configured to only allow appends\. If you would like to permit updates or deletes, use 'ALTER TABLE /,
      );
    }
    await sql(`INSERT INTO ${at('append-only')} VALUES (4, 'd', 'x')`);
    expect(await bench().rows('append-only')).toHaveLength(4);
  });

  async function fill(name: string, options: Parameters<typeof write>[2] = {}): Promise<void> {
    await write(bench(), name, options);
  }

  function tableAt(name: string): Promise<DeltaTable> {
    return DeltaTable.forPath(bench().session, bench().path(name));
  }
});

async function write(
  { session, path }: DeltaBench,
  name: string,
  { partitioned = false, properties = {} }: { readonly partitioned?: boolean; readonly properties?: Readonly<Record<string, string>> },
): Promise<void> {
  const writer = session.createDataFrame(rowsOfTable, columns).write.format('delta').options(properties);
  await (partitioned ? writer.partitionBy('p') : writer).save(path(name));
}

function metricsOf(entry: Row): ReadonlyMap<string, string> {
  return entry['operationMetrics'] as ReadonlyMap<string, string>;
}

function numbersOf(entry: Row, ...names: readonly string[]): readonly number[] {
  return names.map((name) => Number(metricsOf(entry).get(name)));
}
