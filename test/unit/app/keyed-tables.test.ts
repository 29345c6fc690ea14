import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { KeyedBench, type KeyedBenchSettings } from '../../support/keyed-bench.ts';

const directory = mkdtempSync(join(tmpdir(), 'keyed-'));
let made = 0;
const open: KeyedBench[] = [];
afterEach(async () => {
  for (const bench of open.splice(0)) await bench.close();
  if (made > 0) rmSync(directory, { recursive: true, force: true });
});

function bench(settings: Omit<KeyedBenchSettings, 'directory'>): KeyedBench {
  made += 1;
  const opened = new KeyedBench({ ...settings, directory: join(directory, String(made)) });
  open.push(opened);
  return opened;
}

const columns = ['{ name: id, type: long, nullable: false }', '{ name: kind, type: string }', '{ name: n, type: integer }'];
const json = (value: unknown): { readonly value: string } => ({ value: JSON.stringify(value) });

const variants = [
  ['delta', 'with deletion vectors', []],
  ['delta', 'without deletion vectors', ['properties: { delta.enableDeletionVectors: "false" }']],
  ['iceberg', 'with position deletes', []],
  ['iceberg', 'with deletion vectors', ['properties: { format-version: "3" }']],
  ['iceberg', 'copy-on-write', ['properties: { write.merge.mode: copy-on-write }']],
  ['delta', 'without stored images', ['changeImages: derived']],
] as const;

describe.each(variants)('a keyed table of %s %s', (format, _, properties) => {
  it('has the last row of each key, and the feed says what became of each', async () => {
    const accounts = bench({
      format,
      columns,
      table: ['keyColumns: [id]', `deleteWhen: "kind = 'gone'"`, 'partitionBy: [kind]', ...properties],
    });
    await accounts.commit(
      json({ id: 1, kind: 'a', n: 1 }),
      json({ id: 2, kind: 'a', n: 2 }),
      json({ id: 1, kind: 'a', n: 3 }),
      json({ id: 3, kind: 'b', n: 4 }),
    );
    await accounts.commit(
      json({ id: 2, kind: 'b', n: 5 }),
      json({ id: 3, kind: 'gone' }),
      json({ id: 4, kind: 'gone' }),
      json({ id: 5, kind: 'a', n: 6 }),
    );
    await accounts.commit(json({ id: 1, kind: 'gone' }));
    expect(await accounts.sql('SELECT id, kind, n FROM $accounts ORDER BY id')).toEqual([
      { id: 2n, kind: 'b', n: 5 },
      { id: 5n, kind: 'a', n: 6 },
    ]);
    const changes = await accounts.changes();
    const told = changes.map(({ _change_type: change, id, kind, n }) => [change, id, kind, n].join(' '));
    expect(told.toSorted()).toEqual(
      [
        'insert 1 a 3',
        'insert 2 a 2',
        'insert 3 b 4',
        'update_preimage 2 a 2',
        'update_postimage 2 b 5',
        'delete 3 b 4',
        'insert 5 a 6',
        'delete 1 a 3',
      ].toSorted(),
    );
    expect(
      accounts.commits.map(({ applied, staged }) => ({ ...applied, rows: staged.rowCount, records: staged.recordsWithRows })),
    ).toMatchObject([
      { insertedRows: 3, updatedRows: 0, deletedRows: 0, rows: 3, records: 4 },
      { insertedRows: 1, updatedRows: 1, deletedRows: 1, rows: 2, records: 4 },
      { insertedRows: 0, updatedRows: 0, deletedRows: 1, rows: 0, records: 1 },
    ]);
  });
});

describe.each(variants)('a keyed table with an order, of %s %s', (format, _, properties) => {
  it('keeps what is later by the order, whenever it comes, and the feed tells nothing of what is late', async () => {
    const accounts = bench({
      format,
      columns: [...columns.slice(0, 2), '{ name: n, type: integer, nullable: false }'],
      table: ['keyColumns: [id]', 'orderBy: [n]', `deleteWhen: "kind = 'gone'"`, ...properties],
    });
    await accounts.commit(json({ id: 1, kind: 'b', n: 5 }), json({ id: 1, kind: 'a', n: 4 }), json({ id: 2, kind: 'a', n: 5 }));
    await accounts.commit(json({ id: 3, kind: 'a', n: 5 }), json({ id: 4, kind: 'a', n: 5 }));
    await accounts.commit(
      json({ id: 1, kind: 'late', n: 4 }),
      json({ id: 2, kind: 'same', n: 5 }),
      json({ id: 3, kind: 'gone', n: 4 }),
      json({ id: 4, kind: 'gone', n: 6 }),
      json({ id: 5, kind: 'new', n: 1 }),
    );
    await accounts.commit(json({ id: 1, kind: 'late', n: 3 }));
    expect(await accounts.sql('SELECT id, kind, n FROM $accounts ORDER BY id')).toEqual([
      { id: 1n, kind: 'b', n: 5 },
      { id: 2n, kind: 'same', n: 5 },
      { id: 3n, kind: 'a', n: 5 },
      { id: 5n, kind: 'new', n: 1 },
    ]);
    const told = (await accounts.changes()).map(({ _change_type: change, id, kind, n }) => [change, id, kind, n].join(' '));
    expect(told.toSorted()).toEqual(
      [
        'insert 1 b 5',
        'insert 2 a 5',
        'insert 3 a 5',
        'insert 4 a 5',
        'update_preimage 2 a 5',
        'update_postimage 2 same 5',
        'delete 4 a 5',
        'insert 5 new 1',
      ].toSorted(),
    );
    expect(accounts.commits.map(({ applied }) => applied)).toMatchObject([
      { insertedRows: 2, updatedRows: 0, deletedRows: 0, lateKeys: 0 },
      { insertedRows: 2, updatedRows: 0, deletedRows: 0, lateKeys: 0 },
      { insertedRows: 1, updatedRows: 1, deletedRows: 1, lateKeys: 2 },
      { insertedRows: 0, updatedRows: 0, deletedRows: 0, lateKeys: 1 },
    ]);
  });
});

describe('what deletes a key', () => {
  const event = (op: string, before: unknown, after: unknown): { readonly value: string } =>
    json({ op, before, after, source: {}, ts_ms: 1 });

  it('is the operation of a change event; one that truncates is a dead letter that says so', async () => {
    const accounts = bench({ format: 'delta', columns, table: ['keyColumns: [id]'], route: ['value: { envelope: debezium }'] });
    await accounts.commit(
      event('c', null, { id: 1, kind: 'a', n: 1 }),
      event('r', null, { id: 2, kind: 'a', n: 2 }),
      event('d', { id: 1, kind: null, n: null }, null),
      { value: undefined },
      event('u', null, { id: 2, kind: '__debezium_unavailable_value', n: 3 }),
      event('t', null, null),
      event('u', { id: 3, kind: 'a', n: 1 }, { id: 3, kind: 'b', n: 4 }),
    );
    expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
      { id: 2n, kind: 'a', n: 3 },
      { id: 3n, kind: 'b', n: 4 },
    ]);
    expect(accounts.rejects.map(({ offset, reason, message }) => [offset, reason, message])).toEqual([
      [5n, 'not-an-event', 'the event truncates its table, whose rows stay here (tables[].onTruncate)'],
    ]);
  });

  it.each(['apply', 'ignore'])(
    'is an event that truncates where the table is told to %s it, in the order of the topic',
    async (onTruncate) => {
      const table = ['keyColumns: [id]', `onTruncate: ${onTruncate}`];
      const accounts = bench({ format: 'delta', columns, table, route: ['value: { envelope: debezium }'] });
      await accounts.commit(event('c', null, { id: 1, kind: 'a', n: 1 }), event('c', null, { id: 2, kind: 'a', n: 2 }));
      await accounts.commit(
        event('u', null, { id: 3, kind: 'a', n: 3 }),
        event('t', null, null),
        event('c', null, { id: 1, kind: 'b', n: 4 }),
      );
      const applied = onTruncate === 'apply';
      expect((await accounts.sql('SELECT id, kind FROM $accounts ORDER BY id')).map(({ id, kind }) => [id, kind])).toEqual([
        [1n, 'b'],
        ...(applied
          ? []
          : [
              [2n, 'a'],
              [3n, 'a'],
            ]),
      ]);
      expect(deletesOf(await accounts.changes())).toEqual(applied ? ['1 a 1', '2 a 2'] : []);
      await accounts.commit(event('t', null, null));
      expect(await accounts.sql('SELECT id FROM $accounts')).toHaveLength(applied ? 0 : 3);
      expect(accounts.commits.map(({ applied: keys, staged }) => [keys?.deletedRows, staged.passedOver.truncate ?? 0])).toEqual(
        applied
          ? [
              [0, 0],
              [2, 1],
              [1, 1],
            ]
          : [
              [0, 0],
              [0, 1],
              [undefined, 1],
            ],
      );
    },
  );

  it.each(['delta', 'iceberg'] as const)(
    '%s rows keep what their events do not have, whatever comes again by the order',
    async (format) => {
      const accounts = bench({
        format,
        columns: [...columns, '{ name: __lsn, type: long, nullable: false }'],
        table: ['keyColumns: [id]', 'orderBy: [__lsn]'],
        route: ['value: { envelope: debezium }'],
      });
      const at = (lsn: number, kind: string, n: number): { readonly value: string } =>
        json({ op: 'u', before: null, after: { id: 1, kind, n }, source: { lsn }, ts_ms: 1 });
      const left = '__debezium_unavailable_value';
      await accounts.commit(at(1, 'a', 1), at(2, left, 2));
      await accounts.commit(at(3, left, 3));
      await accounts.commit(at(1, 'a', 1), at(2, left, 2));
      await accounts.commit(at(2, left, 2), at(3, left, 3), at(4, left, 4), at(4, 'b', 4));
      await accounts.commit(at(3, left, 3), at(5, left, 5));
      expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 1n, kind: 'b', n: 5, __lsn: 5n }]);
      expect(accounts.commits.map(({ applied }) => applied?.lateKeys)).toEqual([0, 0, 1, 0, 0]);
    },
  );

  it('is what the table itself says of each row as deleted, as text too', async () => {
    const withMark = [...columns, '{ name: __deleted, type: string }'];
    const accounts = bench({ format: 'delta', columns: withMark, table: ['keyColumns: [id]'], route: ['value: { envelope: debezium }'] });
    await accounts.commit(event('c', null, { id: 1, kind: 'a', n: 1 }), event('c', null, { id: 2, kind: 'a', n: 2 }));
    await accounts.commit(event('d', { id: 1, kind: 'a', n: 1 }, null));
    expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 2n, kind: 'a', n: 2, __deleted: 'false' }]);
  });

  it('is a record without a value, of which only the key is read', async () => {
    const keyed = [
      '{ name: id, type: string, nullable: false, from: key }',
      '{ name: kind, type: string, nullable: false }',
      '{ name: at, type: long, from: offset }',
    ];
    const accounts = bench({
      format: 'iceberg',
      columns: keyed,
      table: ['keyColumns: [id]', 'deleteWhen: tombstone', 'partitionBy: [kind]'],
    });
    await accounts.commit({ key: 'x', ...json({ kind: 'a' }) }, { key: 'y', ...json({ kind: 'a' }) });
    await accounts.commit({ key: 'x', value: undefined }, { value: undefined });
    expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 'y', kind: 'a', at: 1n }]);
    expect(accounts.rejects.map(({ reason, message }) => [reason, message])).toEqual([
      ['missing-required', 'column "id": the record has no key and the column is required'],
    ]);
  });

  it('is a condition over what the route reads, whatever it makes of it', async () => {
    const route = [
      'columns: [{ name: raw, type: string }, { name: state, type: string }]',
      `select: ["cast(raw AS bigint) AS id", "upper(state) AS kind"]`,
    ];
    const accounts = bench({ format: 'delta', columns, table: ['keyColumns: [id]', `deleteWhen: "state = 'gone'"`], route });
    await accounts.commit(
      json({ raw: '1', state: 'new' }),
      json({ raw: '2', state: 'new' }),
      json({ raw: '2', state: 'gone' }),
      json({ raw: '3', state: null }),
    );
    expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
      { id: 1n, kind: 'NEW', n: null },
      { id: 3n, kind: null, n: null },
    ]);
  });
});

describe('beside what else a table may ask for', () => {
  it.each(['delta', 'iceberg'] as const)(
    '%s rows of deleted keys that are kept withstand late records, also of keys that never were',
    async (format) => {
      const accounts = bench({
        format,
        columns: [...columns, '{ name: __deleted, type: boolean }', '{ name: __lsn, type: long, nullable: false }'],
        table: ['keyColumns: [id]', 'orderBy: [__lsn]', 'deleteWhen: never'],
        route: ['value: { envelope: debezium }'],
      });
      const event = (op: 'c' | 'd', id: number, lsn: number): { readonly value: string } => {
        const row = { id, kind: op, n: lsn };
        return json({ op, before: op === 'd' ? row : null, after: op === 'd' ? null : row, source: { lsn }, ts_ms: 1 });
      };
      await accounts.commit(event('c', 1, 10), event('d', 2, 20));
      await accounts.commit(event('d', 1, 30));
      await accounts.commit(event('c', 1, 20), event('c', 2, 10), event('c', 3, 10));
      await accounts.commit(event('c', 2, 40));
      expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
        { id: 1n, kind: 'd', n: 30, __deleted: true, __lsn: 30n },
        { id: 2n, kind: 'c', n: 40, __deleted: false, __lsn: 40n },
        { id: 3n, kind: 'c', n: 10, __deleted: false, __lsn: 10n },
      ]);
    },
  );

  it.each(['delta', 'iceberg'] as const)('%s columns come and widen, those of the key too', async (format) => {
    const narrow = ['{ name: id, type: integer, nullable: false }', '{ name: kind, type: string }'];
    const accounts = bench({ format, columns: narrow, table: ['keyColumns: [id]', 'evolve: { addColumns: true, widenTypes: true }'] });
    await accounts.commit(json({ id: 1, kind: 'a' }), json({ id: 2, kind: 'a' }));
    await accounts.commit(json({ id: 1, kind: 'b', n: 5 }), json({ id: 5_000_000_000, kind: 'c' }), json({ id: 1, kind: 'd', n: 6 }));
    expect(await accounts.sql('SELECT id, kind, n FROM $accounts ORDER BY id')).toEqual([
      { id: 1n, kind: 'd', n: 6n },
      { id: 2n, kind: 'a', n: null },
      { id: 5_000_000_000n, kind: 'c', n: null },
    ]);
  });

  it('keys, and rows that keep columns, count as held in memory until their commit', async () => {
    const accounts = bench({ format: 'delta', columns, table: ['mode: patch', 'keyColumns: [id]'] });
    const kind = 'k'.repeat(100_000);
    await accounts.commit(json({ id: 1, kind, n: 1 }), json({ id: 2, kind, n: 1 }));
    // Whole rows are in their files.
    const ofKeys = accounts.peakHeldBytes;
    expect(ofKeys).toBeGreaterThanOrEqual(16);
    expect(ofKeys).toBeLessThan(1_000);
    await accounts.commit(json({ id: 1, kind }), json({ id: 2, kind }));
    expect(accounts.peakHeldBytes).toBeGreaterThan(200_000);
    expect(accounts.heldBytes).toBe(0);
  });

  it('a replayed dead letter is the last record of its key', async () => {
    const accounts = bench({ format: 'delta', columns, table: ['keyColumns: [id]', `deleteWhen: "kind = 'gone'"`] });
    await accounts.commit(json({ id: 1, kind: 'a', n: 1 }), json({ id: 2, kind: 'a', n: 2 }));
    await accounts.replay(json({ id: 1, kind: 'letter', n: 3 }), json({ id: 2, kind: 'gone' }));
    expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 1n, kind: 'letter', n: 3 }]);
  });

  it('of several rows that a transform makes of a record the last counts', async () => {
    const route = [
      'columns: [{ name: id, type: long }, { name: numbers, type: "array<int>" }]',
      'select: [id, "CAST(NULL AS STRING) AS kind", "explode(numbers) AS n"]',
    ];
    const accounts = bench({ format: 'delta', columns, table: ['keyColumns: [id]'], route });
    await accounts.commit(json({ id: 1, numbers: [1, 2, 3] }), json({ id: 2, numbers: [4] }), json({ id: 1, numbers: [] }));
    expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
      { id: 1n, kind: null, n: 3 },
      { id: 2n, kind: null, n: 4 },
    ]);
  });
});

describe('a table that exists already', () => {
  it.each(['delta', 'iceberg'] as const)('of %s is refused while several rows have one key, and looked at once', async (format) => {
    const accounts = bench({ format, columns, table: ['keyColumns: [id]'] });
    await accounts.table();
    await accounts.sql("INSERT INTO $accounts VALUES (1, 'a', 1), (2, 'a', 2), (1, 'b', 3)");
    await expect(accounts.queue()).rejects.toMatchObject({
      code: 'KEYS_REPEATED',
      message: 'table "accounts" has several rows of one key (id), among them (1)',
    });
    await accounts.sql("DELETE FROM $accounts WHERE kind = 'b'");
    await accounts.commit(json({ id: 2, kind: 'c', n: 4 }));
    expect((await (await accounts.table()).refresh()).properties['tidewater.keyed-by']).toBe('["id"]');
    expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
      { id: 1n, kind: 'a', n: 1 },
      { id: 2n, kind: 'c', n: 4 },
    ]);
  });

  it.each(['delta', 'iceberg'] as const)(
    'of %s keeps the last row of each key where it is told to, in a version of its own',
    async (format) => {
      const accounts = bench({ format, columns, table: ['keyColumns: [id]', 'onRepeatedKeys: keep-last'] });
      await accounts.table();
      await accounts.sql("INSERT INTO $accounts VALUES (1, 'a', 1), (2, 'a', 2), (1, 'b', 3)");
      await accounts.sql("INSERT INTO $accounts VALUES (3, 'c', 5), (1, 'c', 4)");
      await accounts.queue();
      expect(await accounts.sql('SELECT * FROM $accounts ORDER BY id')).toEqual([
        { id: 1n, kind: 'c', n: 4 },
        { id: 2n, kind: 'a', n: 2 },
        { id: 3n, kind: 'c', n: 5 },
      ]);
      const changes = await accounts.changes();
      expect(deletesOf(changes)).toEqual(['1 a 1', '1 b 3']);
      // Who keeps the last change of each key has the row that stays; Iceberg has no change of such a row.
      const told = changes.filter(({ _change_type: change }) => change === 'update_postimage');
      expect(told.map(({ id, kind, n }) => [id, kind, n])).toEqual(format === 'delta' ? [[1, 'c', 4]] : []);
    },
  );

  it('keeps of several rows of a key the one that is last by the order', async () => {
    const required = columns.map((line) => line.replace('n, type: integer', 'n, type: integer, nullable: false'));
    const accounts = bench({
      format: 'delta',
      columns: required,
      table: ['keyColumns: [id]', 'orderBy: [n]', 'onRepeatedKeys: keep-last'],
    });
    await accounts.table();
    await accounts.sql("INSERT INTO $accounts VALUES (1, 'a', 9), (1, 'b', 10), (1, 'c', 2)");
    await accounts.queue();
    expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 1n, kind: 'b', n: 10 }]);
  });

  it('has one row for a key that others have doubled since, as soon as a record has it', async () => {
    const accounts = bench({ format: 'delta', columns, table: ['keyColumns: [id]'] });
    await accounts.commit(json({ id: 1, kind: 'a', n: 1 }));
    await accounts.sql("INSERT INTO $accounts VALUES (1, 'b', 2)");
    await accounts.commit(json({ id: 1, kind: 'c', n: 3 }));
    expect(await accounts.sql('SELECT * FROM $accounts')).toEqual([{ id: 1n, kind: 'c', n: 3 }]);
    const told = (await accounts.changes()).map(({ _change_type: change }) => String(change)).toSorted();
    expect(told).toEqual(['delete', 'insert', 'insert', 'update_postimage', 'update_preimage']);
  });
});

function deletesOf(changes: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return changes.flatMap(({ _change_type: change, id, kind, n }) => (change === 'delete' ? [[id, kind, n].join(' ')] : [])).toSorted();
}
