import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DivisionSpec } from '../../../../src/protocol/division.ts';
import { gate } from '../../../support/ingest-bench.ts';
import { LaneBench } from '../../../support/lane-bench.ts';

const byType: DivisionSpec = {
  key: { kind: 'member', path: ['type'], type: 'string' },
  value: { kind: 'json', framed: false },
  parts: [
    { table: 'orders', values: ['order'] },
    { table: 'payments', values: ['payment'] },
    { table: 'visits', values: [], pattern: 'visit.*' },
  ],
  unmatched: 'reject',
};

const event = (type: string, id: number): string => `{"id":${id},"type":"${type}"}`;
const ids = (rows: readonly string[]): readonly number[] => rows.map((row) => Number(/"id":(\d+)/u.exec(row)?.[1]));

describe('one reader for several tables', () => {
  it('gives each table its records, at the offsets they have, and what nobody takes to the first as such', async () => {
    const bench = new LaneBench(byType);
    await bench.topic();
    const values = [
      event('order', 0),
      event('payment', 1),
      event('visit-1', 2),
      event('refund', 3),
      '{"id":4}',
      event('order', 5),
      'no JSON',
    ];
    await bench.produce(values, 0, 'gzip');
    await bench.startAll();
    await bench.pass(500);
    expect(bench.tables.map(({ rows }) => rows)).toEqual([
      [`!0:3 ${values[3]}`, `!0:4 ${values[4]}`, `!0:6 ${values[6]}`, `0:0 ${values[0]}`, `0:5 ${values[5]}`],
      [`0:1 ${values[1]}`],
      [`0:2 ${values[2]}`],
    ]);
    expect(bench.tables.map(({ marks }) => marks.get('0'))).toEqual([7n, 7n, 7n]);
    await bench.stopAll();
  });

  it('fetches a byte once', async () => {
    const bench = new LaneBench(byType);
    await bench.topic(2);
    await bench.startAll();
    let produced = 0;
    for (let round = 0; round < 20; round += 1) {
      const values = Array.from({ length: 30 }, (_, index) => event(['order', 'payment', 'visit'][index % 3] ?? '', index));
      await bench.produce(values, round % 2);
      produced += 30;
      await bench.pass(100);
    }
    await bench.stopAll();
    const committed = bench.tables.reduce((sum, { rows }) => sum + rows.length, 0);
    expect(committed).toBe(produced);
    const once = bench.fetchedBytes;
    const again = new LaneBench({ ...byType, parts: [{ table: 'all', values: [], pattern: '.*' }] });
    await again.topic(2);
    await again.startAll();
    for (let round = 0; round < 20; round += 1) {
      const values = Array.from({ length: 30 }, (_, index) => event(['order', 'payment', 'visit'][index % 3] ?? '', index));
      await again.produce(values, round % 2);
      await again.pass(100);
    }
    await again.stopAll();
    expect(once).toBe(again.fetchedBytes);
  });

  it('begins at the least of the marks and skips what is below each', async () => {
    const bench = new LaneBench(byType);
    await bench.topic();
    await bench.produce(Array.from({ length: 9 }, (_, id) => event(['order', 'payment', 'visit'][id % 3] ?? '', id)));
    bench.tables[0]?.marks.set('0', 6n);
    bench.tables[1]?.marks.set('0', 2n);
    bench.tables[2]?.marks.set('0', 9n);
    await bench.startAll();
    await bench.pass(500);
    expect(bench.tables.map(({ rows }) => ids(rows))).toEqual([[6], [4, 7], []]);
    await bench.stopAll();
  });

  it('stores what has passed a table that has no records, after a while and at the end', async () => {
    const bench = new LaneBench(byType);
    await bench.topic();
    await bench.startAll();
    await bench.produce([event('order', 0)]);
    await bench.pass(1_000);
    expect(bench.tables.map(({ marks }) => marks.get('0'))).toEqual(
      [1n, 0n, 0n].map((mark, index) => (index === 0 ? mark : bench.tables[index]?.marks.get('0'))),
    );
    await bench.pass(61_000);
    expect(bench.tables.map(({ marks }) => marks.get('0'))).toEqual([1n, 1n, 1n]);
    await bench.produce([event('order', 1)]);
    await bench.pass(1_000);
    await bench.stopAll();
    expect(bench.tables.map(({ marks }) => marks.get('0'))).toEqual([2n, 2n, 2n]);
    expect(bench.tables.map(({ rows }) => rows.length)).toEqual([2, 0, 0]);
  });
});

describe('a table that stands still', () => {
  it('holds the others back for ten seconds at most, and has everything once it goes on', async () => {
    const bench = new LaneBench(byType, { maxBufferBytes: 200, maxBatchRows: 2 });
    await bench.topic();
    const held = gate();
    const [orders, payments] = bench.tables;
    if (orders !== undefined) orders.held = held.opened;
    await bench.startAll();
    let id = 0;
    const round = async (): Promise<void> => {
      await bench.produce([event('order', id), event('payment', id + 1)]);
      id += 2;
      await bench.pass(1_000);
    };
    for (let count = 0; count < 30; count += 1) await round();
    expect(bench.leftBehind).toEqual(['orders']);
    expect(orders?.rows).toEqual([]);
    expect(ids(payments?.rows ?? [])).toEqual(Array.from({ length: 30 }, (_, index) => 2 * index + 1));
    held.open();
    await bench.pass(2_000);
    for (let count = 0; count < 5; count += 1) await round();
    expect(ids(orders?.rows ?? [])).toEqual(Array.from({ length: 35 }, (_, index) => 2 * index));
    expect(ids(payments?.rows ?? [])).toEqual(Array.from({ length: 35 }, (_, index) => 2 * index + 1));
    await bench.stopAll();
  });

  it('stops nobody when its commits fail, and goes on at its own mark when it starts again', async () => {
    const bench = new LaneBench(byType);
    await bench.topic();
    await bench.startAll();
    const [orders, payments] = bench.tables;
    await bench.produce([event('order', 0), event('payment', 1)]);
    await bench.pass(500);
    if (orders !== undefined) orders.fails = true;
    for (let id = 2; id < 20; id += 2) {
      await bench.produce([event('order', id), event('payment', id + 1)]);
      await bench.pass(500);
    }
    expect(ids(payments?.rows ?? [])).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    expect(orders?.log.at(-1)).toBe('failed');
    if (orders !== undefined) orders.fails = false;
    await bench.start(0);
    await bench.pass(1_000);
    expect(ids(orders?.rows ?? [])).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(ids(payments?.rows ?? [])).toHaveLength(10);
    await bench.stopAll();
  });
});

describe('records that cannot be divided at the moment', () => {
  it('stop all tables of the route, which go on at their marks', async () => {
    const bench = new LaneBench(byType);
    await bench.topic();
    await bench.startAll();
    const { divider } = bench;
    bench.divider = { divide: () => Promise.reject(new Error('the registry does not answer')) };
    await bench.produce([event('order', 0), event('payment', 1)]);
    await bench.pass(500);
    expect(bench.tables.map(({ log }) => log.at(-1))).toEqual(['failed', 'failed', 'failed']);
    bench.divider = divider;
    await bench.startAll();
    await bench.pass(500);
    expect(bench.tables.map(({ rows }) => ids(rows))).toEqual([[0], [1], []]);
    await bench.stopAll();
  });
});

describe('whatever happens to tables, the group and the process', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))('each record is in its table once and in order (seed %i)', async (seed) => {
    const random = new SeededRandom(seed + 1);
    const pick = (count: number): number => Math.floor(random.next() * count);
    const bench = new LaneBench(byType, { maxBufferBytes: 2_000, maxBatchRows: 7 });
    await bench.topic(2);
    await bench.startAll();
    const running = new Set([0, 1, 2]);
    const expected: string[][] = [[], [], []];
    const ends = [0, 0];
    for (let step = 0; step < 60; step += 1) {
      const table = bench.tables[pick(3)];
      const index = pick(3);
      switch (pick(9)) {
        case 0:
          if (table !== undefined) table.fails = !table.fails;
          break;
        case 1: {
          if (!running.delete(index)) {
            running.add(index);
            await bench.start(index);
          } else await bench.stop(index);
          break;
        }
        case 2:
          await bench.rebalance();
          break;
        case 3:
          await bench.pass(pick(15_000));
          break;
        case 4:
          await bench.stopAll();
          bench.restart();
          for (const each of bench.tables) each.fails = false;
          await bench.startAll();
          for (const each of [0, 1, 2]) running.add(each);
          break;
        default: {
          const partition = pick(2);
          const values = Array.from({ length: 1 + pick(10) }, (_, id) =>
            event(['order', 'payment', 'visit', 'other'][pick(4)] ?? '', step * 100 + id),
          );
          for (const value of values) {
            const at = ends[partition] ?? 0;
            const row = `${partition}:${at} ${value}`;
            if (value.includes('order')) expected[0]?.push(row);
            else if (value.includes('payment')) expected[1]?.push(row);
            else if (value.includes('visit')) expected[2]?.push(row);
            else expected[0]?.push(`!${row}`);
            ends[partition] = at + 1;
          }
          await bench.produce(values, partition, (['none', 'gzip', 'lz4'] as const)[pick(3)]);
          await bench.pass(pick(500));
        }
      }
    }
    for (const table of bench.tables) table.fails = false;
    await bench.stopAll();
    bench.restart();
    await bench.startAll();
    await bench.pass(30_000);
    await bench.stopAll();
    for (const [index, { rows }] of bench.tables.entries()) {
      expect(rows.toSorted(), `table ${index}`).toEqual(expected[index]?.toSorted());
      for (const partition of [0, 1]) {
        const offsets = rows.filter((row) => row.startsWith(`${partition}:`)).map((row) => Number(row.slice(2).split(' ')[0]));
        expect(offsets, `order in table ${index}`).toEqual(offsets.toSorted((left, right) => left - right));
      }
    }
  });
});
