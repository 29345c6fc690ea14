import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { KeyedBench } from '../../support/keyed-bench.ts';

const directory = mkdtempSync(join(tmpdir(), 'tombstones-'));
let made = 0;
const open: KeyedBench[] = [];
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close();
});
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const remembering = ['keyColumns: [id]', 'orderBy: [n]', `deleteWhen: "kind = 'gone'"`, 'tombstoneRetention: 7d'];

function bench(format: 'delta' | 'iceberg', { table = remembering, at = '', type = 'long' } = {}): KeyedBench {
  made += 1;
  const opened = new KeyedBench({
    format,
    columns: [
      `{ name: id, type: ${type}, nullable: false }`,
      '{ name: kind, type: string }',
      '{ name: n, type: integer, nullable: false }',
    ],
    table,
    directory: at === '' ? join(directory, String(made)) : at,
  });
  open.push(opened);
  return opened;
}

const record = (id: number, kind: string, n: number): { readonly value: string } => ({ value: JSON.stringify({ id, kind, n }) });

const rowsOf = async (accounts: KeyedBench): Promise<readonly string[]> =>
  (await accounts.sql('SELECT id, kind, n FROM $accounts ORDER BY id')).map(({ id, kind, n }) => [id, kind, n].join(' '));

describe.each(['delta', 'iceberg'] as const)('deleted keys of a keyed table of %s', (format) => {
  it('are remembered with their order, known or not: what is late against them changes nothing, what is later counts', async () => {
    const accounts = bench(format);
    await accounts.commit(record(1, 'a', 5), record(2, 'a', 5));
    await accounts.commit(record(1, 'gone', 6), record(3, 'gone', 6), record(4, 'gone', 6), record(5, 'gone', 6));
    expect(await rowsOf(accounts)).toEqual(['2 a 5']);
    await accounts.restart();
    // Late by what is remembered, late by the row, of the same order, later, and of a key that nothing is remembered of.
    await accounts.commit(record(1, 'late', 4), record(2, 'late', 4), record(3, 'same', 6), record(4, 'later', 7), record(6, 'new', 1));
    await accounts.commit(record(5, 'late', 5));
    expect(await rowsOf(accounts)).toEqual(['2 a 5', '3 same 6', '4 later 7', '6 new 1']);
    expect(accounts.commits.map(({ applied }) => [applied?.insertedRows, applied?.deletedRows, applied?.lateKeys])).toEqual([
      [2, 0, 0],
      [0, 1, 0],
      [3, 0, 2],
      [0, 0, 1],
    ]);
    const told = (await accounts.changes()).map(({ _change_type: change, id, n }) => [change, id, n].join(' '));
    expect(told.toSorted()).toEqual(['delete 1 5', 'insert 1 5', 'insert 2 5', 'insert 3 6', 'insert 4 7', 'insert 6 1']);
  });

  it.each(['before-tombstones', 'after-tombstones', 'after-key-lookup', 'after-key-marks'] as const)(
    'are deleted once when a process ends %s, and what is late stays late',
    async (point) => {
      const accounts = bench(format);
      await accounts.commit(record(1, 'a', 5), record(2, 'a', 5));
      const batch = accounts.batch([record(1, 'gone', 6), record(3, 'gone', 6)]);
      accounts.failAt(point);
      const signal = new AbortController().signal;
      await expect((await accounts.queue()).submit({ ...batch, bytes: batch.bytes.slice(0) }, signal)).rejects.toThrow(point);
      await accounts.restart();
      expect(await rowsOf(accounts)).toEqual(['1 a 5', '2 a 5']);
      expect(await (await accounts.queue()).submit(batch, signal)).toMatchObject({ kind: 'committed' });
      await accounts.commit(record(1, 'late', 5), record(3, 'late', 5), record(2, 'b', 6));
      expect(await rowsOf(accounts)).toEqual(['2 b 6']);
      const remembered = (await accounts.sql('SELECT id, n FROM $deletes')).map(({ id, n }) => [id, n].join(' '));
      expect([...new Set(remembered)].toSorted()).toEqual(['1 6', '3 6']);
    },
  );

  it('are forgotten day by day when the time is over', async () => {
    const accounts = bench(format);
    await accounts.commit(record(1, 'gone', 6));
    await accounts.sql(`INSERT INTO $deletes VALUES (2, 6, TIMESTAMP '2026-01-02 10:00:00', DATE '2026-01-02')`);
    await accounts.commit(record(1, 'late', 5), record(2, 'late', 5));
    expect(await rowsOf(accounts)).toEqual(['2 late 5']);
    await accounts.restart();
    await accounts.commit(record(3, 'gone', 6));
    expect((await accounts.sql('SELECT id FROM $deletes ORDER BY id')).map(({ id }) => id)).toEqual([1n, 3n]);
  });

  it('are remembered as widely as the key has become', async () => {
    const at = join(directory, `widened-${format}`);
    const table = [...remembering, 'evolve: { widenTypes: true }'];
    const narrow = bench(format, { at, table, type: 'integer' });
    await narrow.commit(record(1, 'gone', 6));
    const wide = 2 ** 40;
    await narrow.commit(record(wide, 'gone', 6));
    await narrow.commit(record(wide, 'late', 5), record(1, 'late', 5), record(2, 'a', 1));
    expect(await rowsOf(narrow)).toEqual(['2 a 1']);
  });

  it('must not be lost: without what remembers them the ingest stands still, and says what to do', async () => {
    const accounts = bench(format);
    await accounts.commit(record(1, 'gone', 6));
    const at = join(directory, String(made));
    rmSync(join(at, 'db', 'accounts__deletes'), { recursive: true });
    await expect(accounts.commit(record(2, 'gone', 6))).rejects.toMatchObject({ code: 'TABLE_GONE', kind: 'discontinuity' });
    await expect(accounts.commit(record(2, 'gone', 6))).rejects.toMatchObject({ kind: 'discontinuity' });
    const again = bench(format, { at });
    await expect(again.queue()).rejects.toMatchObject({ code: 'TOMBSTONES_LOST', kind: 'discontinuity' });
    await again.sql('ALTER TABLE $accounts UNSET TBLPROPERTIES (`tidewater.tombstones`)');
    const anew = bench(format, { at });
    await anew.queue();
    expect(await anew.sql('SELECT * FROM $deletes')).toEqual([]);
  });

  it('are remembered without a gap or not at all: a time without the setting ends what was known', async () => {
    const at = join(directory, `gap-${format}`);
    await bench(format, { at }).commit(record(1, 'gone', 6));
    await bench(format, { at, table: remembering.slice(0, 3) }).queue();
    await expect(bench(format, { at }).queue()).rejects.toMatchObject({ code: 'TOMBSTONES_NOT_EXPECTED' });
    rmSync(join(at, 'db', 'accounts__deletes'), { recursive: true });
    await bench(format, { at }).queue();
  });

  it('are of one key and one order', async () => {
    const at = join(directory, `other-${format}`);
    await bench(format, { at }).commit(record(1, 'gone', 6));
    const table = remembering.map((line) => line.replace('orderBy: [n]', 'orderBy: [n, id]'));
    await expect(bench(format, { at, table }).queue()).rejects.toMatchObject({ code: 'TOMBSTONES_DIFFER', kind: 'invalid' });
  });
});
