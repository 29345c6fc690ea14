import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FeedDecoder } from '../../../src/consumer/feed-decoder.ts';
import { FeedRows } from '../../../src/consumer/feed-rows.ts';
import type { KafkaRecord } from '../../../src/kafka/client.ts';
import { KeyedBench, type KeyedBenchSettings } from '../../support/keyed-bench.ts';
import { openTestEngine } from '../../support/test-engine.ts';
import { feedBench, feedSpec } from '../cdf/feed-bench.ts';

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

const event = (op: string, after: unknown): { readonly value: string } =>
  json({ before: null, after, source: { connector: 'postgresql' }, op, ts_ms: 1 });
const row = (id: number, n: number): unknown => ({ id, kind: 'a', n });

describe.each(variants)('truncations that a keyed table of %s %s applies', (format, _, properties) => {
  it('are events of a feed that tells them so, and its fold is the table', async () => {
    const table = ['keyColumns: [id]', 'onTruncate: apply', ...properties];
    const accounts = bench({ format, columns, table, route: ['value: { envelope: debezium }'] });
    const engine = await openTestEngine();
    const feed = feedBench(() => accounts.table(), { openEngine: () => Promise.resolve(engine.engine) });
    const batches = [
      [event('c', row(1, 1)), event('c', row(2, 1)), event('c', row(3, 1))],
      [event('t', null)],
      [event('c', row(1, 2)), event('c', row(4, 2))],
      [event('u', row(4, 3)), event('t', null), event('c', row(5, 3))],
      [event('d', null), event('t', null), event('t', null), event('c', row(6, 4))],
      [event('c', row(5, 5)), event('t', null)],
    ];
    const rows = new FeedRows();
    const decoder = new FeedDecoder();
    const told: string[] = [];
    let read = 0;
    for (const records of batches) {
      await accounts.commit(...records);
      const { version } = await (await accounts.table()).refresh();
      const as = { envelope: 'debezium', keyColumns: ['id'], truncate: 'event', maxTransactionRows: 2 } as const;
      expect(await feed.publish(version, 'fail', as)).toMatchObject({ state: 'stopped', error: undefined });
      const all = await feed.records(feedSpec.topic);
      const changes = await Promise.all(all.slice(read).map((record) => decoder.decode(consumed(record))));
      read = all.length;
      for (const change of changes) if (change !== undefined) rows.apply(change);
      told.push(changes.map((change) => change?.operation.charAt(0) ?? '').join(''));
      const stored = await accounts.sql('SELECT id, n FROM $accounts ORDER BY id');
      expect([...rows.rows.values()].map(({ id, n }) => [id, n])).toEqual(stored.map(({ id, n }) => [Number(id), n]));
    }
    await engine.close();
    // Where images are computed, what comes with a truncation is paired with the rows before it.
    const mixed = properties.some((line) => line === 'changeImages: derived') ? ['ddi', 'di'] : ['ti', 'ti'];
    expect(told).toEqual(['iii', 't', 'ii', ...mixed, 't']);
  });
});

function consumed({ partition, offset, key, value, headers }: KafkaRecord): Parameters<FeedDecoder['decode']>[0] {
  const bytes = (of: Uint8Array | undefined): Buffer | null => (of === undefined ? null : Buffer.from(of));
  const named = Object.fromEntries(headers.map(([name, of]) => [name, Buffer.from(of)]));
  return { topic: feedSpec.topic, partition, offset: String(offset), key: bytes(key), value: bytes(value), headers: named };
}

describe.each(variants)('files of a keyed table of %s %s', (format, _, properties) => {
  const rows = (from: number, until: number, n: number): readonly { readonly value: string }[] =>
    Array.from({ length: until - from }, (_each, index) => json({ id: from + index, kind: 'a', n }));

  it('are written anew when most of their rows are marked, which the feed does not notice', async () => {
    const limits = { minRows: 40, shareOfTable: 0.1 };
    const accounts = bench({ format, columns, table: ['keyColumns: [id]', ...properties], tidies: limits });
    await accounts.commit(...rows(0, 40, 1));
    await accounts.commit(...rows(0, 15, 2));
    // Less than half of a file.
    expect(accounts.tidied).toEqual([]);
    await accounts.commit(...rows(10, 30, 3));
    const marks = !properties.some((line) => /copy-on-write|enableDeletionVectors/.test(line));
    expect(accounts.tidied).toEqual(marks ? ['committed'] : []);
    // The rows that are left of the first file, and those of the later ones, of which a third of one is marked.
    expect((await accounts.stored()).storedRows).toBe(marks ? 10 + 15 + 20 : 40);
    const changes = await accounts.changes();
    const counts = Object.fromEntries(
      ['insert', 'update_preimage', 'update_postimage', 'delete'].map((type) => [
        type,
        changes.filter(({ _change_type: change }) => change === type).length,
      ]),
    );
    expect(counts).toEqual({ insert: 40, update_preimage: 35, update_postimage: 35, delete: 0 });
    expect(await accounts.sql('SELECT count(*) AS rows, count(DISTINCT id) AS keys, sum(n) AS n FROM $accounts')).toEqual([
      { rows: 40n, keys: 40n, n: 10n + 20n + 60n },
    ]);
  });
});

describe('images of changed rows of a Delta table', () => {
  const changedBy = async (table: KeyedBench): Promise<readonly unknown[]> => {
    await table.commit(json({ id: 1, kind: 'a', n: 1 }), json({ id: 2, kind: 'a', n: 2 }), json({ id: 4, kind: 'a', n: 4 }));
    await table.commit(json({ id: 1, kind: 'b', n: 3 }), json({ id: 2, kind: 'gone' }), json({ id: 3, kind: 'a', n: 5 }));
    const { version } = await (await table.table()).refresh();
    const rows = await table.sql(
      `SELECT concat_ws(' ', _change_type, id, kind, n) AS told FROM table_changes('$accounts', ${version}, ${version})`,
    );
    return rows.map(({ told }) => told).toSorted();
  };
  const table = ['keyColumns: [id]', `deleteWhen: "kind = 'gone'"`];

  it('are stored, unless they are to be derived: then readers of changes see what went and what came', async () => {
    const stored = bench({ format: 'delta', columns, table });
    expect(await changedBy(stored)).toEqual(['delete 2 a 2', 'insert 3 a 5', 'update_postimage 1 b 3', 'update_preimage 1 a 1']);
    const derived = bench({ format: 'delta', columns, table: [...table, 'changeImages: derived'] });
    expect(await changedBy(derived)).toEqual(['delete 1 a 1', 'delete 2 a 2', 'insert 1 b 3', 'insert 3 a 5']);
  });

  it('are stored again once they are not to be derived any more, and the feed tells the versions of both kinds alike', async () => {
    const place = join(directory, 'again');
    const of = (more: readonly string[]): KeyedBench => {
      const opened = new KeyedBench({ format: 'delta', columns, directory: place, table: [...table, ...more] });
      open.push(opened);
      return opened;
    };
    await changedBy(of(['changeImages: derived']));
    const again = of([]);
    again.skip(6);
    await again.commit(json({ id: 1, kind: 'c', n: 6 }));
    const updates = (await again.changes()).filter(({ _change_type: change }) => String(change).startsWith('update'));
    expect(updates.map(({ _change_type: change, kind, n }) => [change, kind, n].join(' '))).toEqual([
      'update_preimage a 1',
      'update_postimage b 3',
      'update_preimage b 3',
      'update_postimage c 6',
    ]);
    const { version } = await (await again.table()).refresh();
    const rows = await again.sql(`SELECT _change_type AS change FROM table_changes('$accounts', ${version}, ${version})`);
    expect(rows.map(({ change }) => change).toSorted()).toEqual(['update_postimage', 'update_preimage']);
  });
});
