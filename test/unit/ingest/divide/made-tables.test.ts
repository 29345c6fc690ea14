import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { madeName, mayMake, mayMeet } from '../../../../src/ingest/divide/made-name.ts';
import type { DivisionSpec } from '../../../../src/protocol/division.ts';
import { gate } from '../../../support/ingest-bench.ts';
import { LaneBench } from '../../../support/lane-bench.ts';

/* Tables that a template makes, as the reader of their route sees them. */

const division: DivisionSpec = {
  key: { kind: 'member', path: ['type'], type: 'string' },
  value: { kind: 'json', framed: false },
  parts: [
    { table: 'orders', values: ['order'] },
    { table: 'events', values: [] },
  ],
  unmatched: 'reject',
  template: { table: 'events_{key}', like: 'events', max: 3 },
};

const event = (type: string, id: number): string => `{"id":${id},"type":"${type}"}`;
const ids = (rows: readonly string[] | undefined): readonly number[] => (rows ?? []).map((row) => Number(/"id":(\d+)/u.exec(row)?.[1]));

describe('the name of a table that is made', () => {
  it.each([
    ['visit', 'events_visit'],
    ['Visit.Page-2', 'events_visit_page_2'],
    ['../../etc', 'events_______etc'],
    ['a/b', 'events_a_b'],
    ['ß1', 'events__1'],
    ['', undefined],
    ['日本', undefined],
    ['..', undefined],
    ['x'.repeat(151), undefined],
  ])('of key "%s" is %s', (key, name) => {
    expect(madeName('events_{key}', key)).toBe(name);
  });

  it('of two templates may be one only when what stands around the key allows it', () => {
    expect([
      mayMeet('a_{key}', 'b_{key}'),
      mayMeet('a_{key}', 'a_b_{key}'),
      mayMeet('{key}', 'a_{key}'),
      mayMeet('{key}_a', '{key}_b'),
    ]).toEqual([false, true, true, false]);
    expect([mayMake('a_{key}', 'a_b'), mayMake('a_{key}', 'a_'), mayMake('a_{key}', 'b')]).toEqual([true, false, false]);
  });
});

describe('a template', () => {
  it('makes a table for a key that no listed one takes, which has all its records', async () => {
    const bench = new LaneBench(division);
    await bench.topic(2);
    await bench.startAll();
    await bench.produce([event('order', 0), event('visit', 1), event('click', 2), '{"id":3}'], 0, 'gzip');
    await bench.produce([event('visit', 4), event('order', 5)], 1);
    await bench.pass(2_000);
    await bench.produce([event('click', 6), event('visit', 7)], 1);
    await bench.pass(1_000);
    expect(bench.made).toEqual(['visit', 'click']);
    expect(bench.tables.map(({ rows }) => ids(rows).toSorted())).toEqual([[0, 5], [3], [1, 4, 7], [2, 6]]);
    await bench.stopAll();
    expect(bench.tables.map(({ marks }) => [marks.get('0'), marks.get('1')])).toEqual(Array.from({ length: 4 }, () => [4n, 4n]));
  });

  it('reads again only what lies between the key’s first record and now', async () => {
    const bench = new LaneBench(division);
    await bench.topic();
    await bench.startAll();
    for (let id = 0; id < 50; id += 1) await bench.produce([event('order', id)]);
    await bench.pass(65_000);
    const before = bench.fetchedBytes;
    await bench.produce([event('visit', 50)]);
    const size = bench.fetchedBytes;
    await bench.pass(3_000);
    expect(ids(bench.tables[2]?.rows)).toEqual([50]);
    expect(bench.fetchedBytes - before).toBeLessThanOrEqual(3 * ((bench.fetchedBytes - size) / 2));
    expect(bench.fetchedBytes - before).toBeLessThan(before / 10);
    await bench.stopAll();
  });

  it('makes no more than its bound, and the records of further keys are those that no table takes', async () => {
    const bench = new LaneBench(division);
    await bench.topic();
    await bench.startAll();
    await bench.produce(['a', 'b', 'c', 'd', 'e', 'a', 'd', 'C'].map((type, id) => event(type, id)));
    await bench.pass(3_000);
    expect(bench.made).toEqual(['a', 'b', 'c']);
    expect(bench.tables.map(({ rows }) => ids(rows))).toEqual([[], [3, 4, 6, 7], [0, 5], [1], [2]]);
    expect(bench.tables[1]?.rows.every((row) => row.startsWith('!'))).toBe(true);
    await bench.stopAll();
  });

  it('that cannot make a table stops no other, and the table has everything when it can', async () => {
    const bench = new LaneBench(division);
    bench.makesNothing = true;
    await bench.topic();
    await bench.startAll();
    for (let id = 0; id < 20; id += 2) {
      await bench.produce([event('visit', id), event('order', id + 1)]);
      await bench.pass(1_000);
    }
    expect(ids(bench.tables[0]?.rows)).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    await bench.stopAll();
    bench.restart();
    bench.makesNothing = false;
    await bench.startAll();
    await bench.pass(8_000);
    expect(ids(bench.tables[2]?.rows)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    expect(ids(bench.tables[0]?.rows)).toHaveLength(10);
    await bench.stopAll();
  });

  it('knows what a table was made for although no commit of the table was ever heard of', async () => {
    const bench = new LaneBench(division);
    await bench.topic();
    await bench.startAll();
    await bench.produce([event('order', 0), event('visit', 1), event('order', 2)]);
    await bench.pass(100);
    const visits = bench.tables[2];
    // Its mark is stored, and then nothing of it is.
    if (visits !== undefined) visits.held = gate().opened;
    for (let id = 3; id < 40; id += 1) {
      await bench.produce([event('order', id)]);
      await bench.pass(3_000);
    }
    expect(visits?.rows).toEqual([]);
    const [orders, pattern] = bench.tables;
    expect(orders?.rows.length).toBe(39);
    expect(pattern?.marks.get('0')).toBeGreaterThan(15n);
    bench.crash();
    if (visits !== undefined) visits.held = undefined;
    bench.restart();
    await bench.startAll();
    await bench.pass(10_000);
    expect(ids(visits?.rows)).toEqual([1]);
    await bench.stopAll();
  });
});

describe('whatever happens to tables that are made, the group and the process', () => {
  it.each(Array.from({ length: 8 }, (_, seed) => seed))('each record is in its table once and in order (seed %i)', async (seed) => {
    const random = new SeededRandom(seed + 100);
    const pick = (count: number): number => Math.floor(random.next() * count);
    const bench = new LaneBench(
      { ...division, template: { table: 'events_{key}', like: 'events', max: 8 } },
      { maxBufferBytes: 2_000, maxBatchRows: 7 },
    );
    const types = ['order', 'a', 'b', 'c', 'd', 'e', 'f'];
    await bench.topic(2);
    await bench.startAll();
    const running = new Set<number>();
    const expected = new Map<string, string[]>();
    const ends = [0, 0];
    for (let step = 0; step < 60; step += 1) {
      const index = pick(bench.tables.length);
      const table = bench.tables[index];
      switch (pick(10)) {
        case 0:
          if (table !== undefined) table.fails = !table.fails;
          break;
        case 1:
          if (running.delete(index)) await bench.start(index);
          else {
            running.add(index);
            await bench.stop(index);
          }
          break;
        case 2:
          await bench.rebalance();
          break;
        case 3:
          await bench.pass(pick(15_000));
          break;
        case 4:
          if (pick(2) === 0) await bench.stopAll();
          else bench.crash();
          bench.restart();
          for (const each of bench.tables) each.fails = false;
          running.clear();
          await bench.startAll();
          break;
        case 5:
          bench.makesNothing = !bench.makesNothing;
          break;
        default: {
          const partition = pick(2);
          const known = 1 + Math.min(types.length, Math.floor(step / 8) + 1);
          const values = Array.from({ length: 1 + pick(10) }, (_, id) => event(types[pick(known)] ?? 'order', step * 100 + id));
          for (const value of values) {
            const at = ends[partition] ?? 0;
            const type = /"type":"(\w+)"/u.exec(value)?.[1] ?? '';
            const name = type === 'order' ? 'orders' : `events_${type}`;
            expected.set(name, [...(expected.get(name) ?? []), `${partition}:${at} ${value}`]);
            ends[partition] = at + 1;
          }
          await bench.produce(values, partition, (['none', 'gzip', 'lz4'] as const)[pick(3)]);
          await bench.pass(pick(500));
        }
      }
    }
    for (const table of bench.tables) table.fails = false;
    bench.makesNothing = false;
    await bench.stopAll();
    bench.restart();
    await bench.startAll();
    await bench.pass(60_000);
    await bench.stopAll();
    for (const [name, rows] of expected) {
      const found = bench.tables[bench.indexOf(name)]?.rows ?? [];
      expect(found.toSorted(), name).toEqual(rows.toSorted());
      for (const partition of [0, 1]) {
        const offsets = found.filter((row) => row.startsWith(`${partition}:`)).map((row) => Number(row.slice(2).split(' ')[0]));
        expect(offsets, `order in ${name}`).toEqual(offsets.toSorted((left, right) => left - right));
      }
    }
    expect(bench.tables[1]?.rows).toEqual([]);
  });
});
