import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { countRead } from '../../../../src/protocol/sealed-batch.ts';
import { openTestEngine, type TestEngine } from '../../../support/test-engine.ts';
import { type BenchRecord, type BenchTable, type Transformed, transformed } from '../../../support/transform-bench.ts';

let opened: TestEngine;
beforeAll(async () => {
  opened = await openTestEngine();
});
afterAll(() => opened.close());

function run(bench: BenchTable, ...batches: readonly (readonly BenchRecord[])[]): Promise<Transformed> {
  return transformed(bench, batches, () => Promise.resolve(opened.engine));
}

const values = (...all: readonly object[]): readonly BenchRecord[] => all.map((value) => ({ value }));

const orders: BenchTable = {
  columns: ['name: id, type: long', 'name: name, type: string', 'name: day, type: date', 'name: cents, type: long'],
  route: `
columns:
  - { name: id, type: long }
  - { name: name, type: string }
  - { name: placed, type: string }
  - { name: amount, type: "decimal(12,2)" }
  - { name: kind, type: string }
select:
  - id
  - upper(name) AS name
  - CAST(placed AS date) AS day
  - CAST(amount * 100 AS bigint) AS cents
where: kind <> 'test'`,
};

describe('select and where of a route', () => {
  it('make rows of records, and count those that are filtered', async () => {
    const { rows, rejects, passedOver, rowCount, ...rest } = await run(
      orders,
      values(
        { id: 1, name: 'ann', placed: '2026-01-02', amount: '1.25', kind: 'a' },
        { id: 2, name: 'bob', placed: 'never', amount: '2', kind: 'test' },
        { id: 3, placed: '2026-01-03', kind: null },
        { id: 4, name: null, placed: '2026-01-04T10:00:00', amount: '-0.01', kind: 'b' },
      ),
    );
    expect(rows).toEqual([
      { id: 1n, name: 'ANN', day: 20_455, cents: 125n },
      { id: 4n, name: null, day: 20_457, cents: -1n },
    ]);
    expect([rejects, passedOver, rowCount, countRead({ rejects, passedOver, rowCount, ...rest, files: [] })]).toEqual([
      [],
      { filtered: 2 },
      2,
      4,
    ]);
  });

  it('a record that an expression fails is a dead letter that names it, the others are rows', async () => {
    const { rows, rejects, passedOver } = await run(
      orders,
      values({ id: 1, name: 'a', placed: '2026-01-02', kind: 'a' }, { id: 2, placed: 'yesterday', amount: '7', kind: 'a' }),
      values(
        { id: 'x' },
        { id: 3, placed: '2026-01-02', kind: 'a' },
        { id: 4, placed: 'no', kind: 'test' },
        { id: 5, placed: '', kind: 'a' },
      ),
    );
    expect(rows.map(({ id }) => id)).toEqual([1n, 3n]);
    expect(passedOver).toEqual({ filtered: 1 });
    const begins = (value: Uint8Array | undefined): string =>
      Buffer.from(value ?? [])
        .toString()
        .slice(0, 8);
    expect(rejects.map(({ offset, reason, message, value }) => [offset, reason, message, begins(value)])).toEqual([
      [1n, 'not-computed', 'select "CAST(placed AS date) AS day" cannot be computed from placed = "yesterday"', '{"id":2,'],
      [2n, 'wrong-type', 'column "id": "x" is not a long', '{"id":"x'],
      [5n, 'not-computed', 'select "CAST(placed AS date) AS day" cannot be computed from placed = ""', '{"id":5,'],
    ]);
  });

  it('every record of a large batch that fails is found, whatever the expression', async () => {
    const bench: BenchTable = {
      columns: ['name: id, type: long', 'name: r, type: double'],
      route: 'columns: [{ name: id, type: long }, { name: d, type: long }]\nselect: [id, "id / d AS r"]\nwhere: 10 / (id + 1) > -1',
    };
    const all = Array.from({ length: 10_000 }, (_, id) => ({ id: id - 1, d: id % 3 === 0 ? 0 : 2 }));
    const { rows, rejects } = await run(bench, values(...all));
    expect(rows.length).toBe(all.filter(({ id, d }) => d !== 0 && id !== -1).length);
    expect(rejects.length).toBe(10_000 - rows.length);
    expect(rejects[0]?.message).toBe('where "10 / (id + 1) > -1" cannot be computed from id = -1');
    expect(rejects[1]?.message).toBe('select "id / d AS r" cannot be computed from id = 2, d = 0');
  });

  it.each([
    ['10 / n > 1 AND n <> 0', 2],
    ['n <> 0 AND 10 / n > 1', 1],
  ])('%s is asked from left to right, of each record alone', async (where, letters) => {
    const bench: BenchTable = {
      columns: ['name: n, type: long', 'name: t, type: integer'],
      route: `columns: [{ name: n, type: long }, { name: s, type: string }]\nselect: [n, "CAST(s AS int) AS t"]\nwhere: ${where}`,
    };
    const zero = { n: 0, s: '1' };
    const alone = await run(bench, values(zero));
    // Another record of the batch fails, and all are looked at one by one.
    const beside = await run(bench, values({ n: 3, s: 'x' }, zero));
    expect(beside.rejects.filter(({ message }) => message.includes('n = 0'))).toEqual(
      alone.rejects.map((reject) => ({ ...reject, offset: 1n, timestampMs: reject.timestampMs + 1 })),
    );
    expect([beside.rows.length, alone.rows.length]).toEqual([0, 0]);
    expect((await run(bench, values({ n: 5, s: '1' }))).rows.map(({ n }) => Number(n))).toEqual([5]);
    expect(beside.rejects.length).toBe(letters);
  });

  it('what a required column of the table gets no value for is a dead letter', async () => {
    const { rows, rejects } = await run(
      {
        columns: ['name: id, type: long', 'name: n, type: string, nullable: false'],
        route: 'columns: [{ name: id, type: long }, { name: a, type: string }]\nselect: [id, "nullif(a, \'\') AS n"]',
      },
      values({ id: 1, a: 'x' }, { id: 2, a: '' }),
    );
    expect(rows).toEqual([{ id: 1n, n: 'x' }]);
    expect(rejects).toMatchObject([
      {
        offset: 1n,
        reason: 'missing-required',
        message: `column "n": a value is required, and select "nullif(a, '') AS n" gives none from a = ""`,
      },
    ]);
  });

  it('rows are written in several files when they are many, each record once', async () => {
    const all = values(
      ...Array.from({ length: 3_000 }, (_, id) => ({ id, name: `n${id}`, placed: id % 100 === 5 ? '?' : '2026-01-02', kind: 'a' })),
    );
    const batches = [0, 1_000, 2_000].map((from) => all.slice(from, from + 1_000));
    const result = await transformed(orders, batches, () => Promise.resolve(opened.engine), { maxDecodedBytes: 1_000 });
    expect(result.files.length).toBe(3);
    expect(result.rows.map(({ id }) => Number(id))).toEqual(Array.from({ length: 3_000 }, (_, id) => id).filter((id) => id % 100 !== 5));
    expect(result.rejects.map(({ offset }) => Number(offset))).toEqual(Array.from({ length: 30 }, (_, index) => index * 100 + 5));
  });

  it('a transform that computes nothing needs no engine', async () => {
    const { rows } = await transformed(
      {
        columns: ['name: b, type: long', 'name: a, type: string'],
        route: 'columns: [{ name: a, type: string }, { name: x, type: long }]\nselect: ["x AS b", a]',
      },
      [values({ a: 'q', x: 7 })],
      () => Promise.reject(new Error('the engine was started')),
    );
    expect(rows).toEqual([{ b: 7n, a: 'q' }]);
  });
});

describe('expectations', () => {
  const bench = (onFailure: string): BenchTable => ({
    columns: ['name: id, type: long', 'name: amount, type: long'],
    route: `
select: [id, "amount * 2 AS amount"]
expect:
  - { name: positive, condition: amount > 0, onFailure: ${onFailure} }
  - { name: small, condition: "amount < 100", onFailure: count }`,
  });
  const records = values({ id: 1, amount: 5 }, { id: 2, amount: -5 }, { id: 3 }, { id: 4, amount: 70 });

  it('reject: the record is a dead letter that names the expectation; null passes', async () => {
    const { rows, rejects, unmet } = await run(bench('reject'), records);
    expect(rows.map(({ id }) => id)).toEqual([1n, 3n, 4n]);
    expect(rejects).toMatchObject([
      { offset: 1n, reason: 'expectation-failed', message: 'expectation "positive" "amount > 0" is not met from amount = -5' },
    ]);
    expect(rejects[0]?.suspends).toBeUndefined();
    expect(unmet).toEqual({ positive: 1, small: 1 });
  });

  it('suspend: the record says that the table is to stand still', async () => {
    const { rejects } = await run(bench('suspend'), records);
    expect(rejects).toMatchObject([{ offset: 1n, reason: 'expectation-failed', suspends: true }]);
  });

  it('count: the row is written', async () => {
    const { rows, rejects, unmet } = await run(bench('count'), records);
    expect([rows.length, rejects, unmet]).toEqual([4, [], { positive: 1, small: 1 }]);
  });
});

describe('explode', () => {
  const bench: BenchTable = {
    columns: ['name: id, type: long', 'name: item, type: string', 'name: place, type: integer'],
    route: `
columns: [{ name: id, type: long }, { name: items, type: array<string> }]
select: [id, "posexplode(items) AS (place, item)"]
expect: [{ name: named, condition: "item <> ''" }]`,
  };

  it('makes rows of elements; records without any are counted, one bad row rejects its record whole', async () => {
    const { rows, rejects, passedOver, rowCount, recordsWithRows } = await run(
      bench,
      values({ id: 1, items: ['a', 'b'] }, { id: 2, items: [] }, { id: 3 }, { id: 4, items: ['c', '', 'd'] }, { id: 5, items: [null] }),
    );
    expect(rows).toEqual([
      { id: 1n, item: 'a', place: 0 },
      { id: 1n, item: 'b', place: 1 },
      { id: 5n, item: null, place: 0 },
    ]);
    expect([rowCount, recordsWithRows, passedOver]).toEqual([3, 2, { 'no-elements': 2 }]);
    expect(rejects).toMatchObject([{ offset: 3n, reason: 'expectation-failed' }]);
  });

  it('a list that is too long is a dead letter', async () => {
    const { rows, rejects } = await run(
      bench,
      values({ id: 1, items: Array.from({ length: 10_001 }, () => 'x') }, { id: 2, items: ['y'] }),
    );
    expect(rows).toEqual([{ id: 2n, item: 'y', place: 0 }]);
    expect(rejects).toMatchObject([{ offset: 0n, reason: 'not-computed' }]);
  });

  it('explode_outer keeps records without elements', async () => {
    const route =
      'columns: [{ name: id, type: long }, { name: m, type: "map<string,int>" }]\nselect: [id, "explode_outer(m) AS (item, place)"]';
    const { rows, recordsWithRows } = await run({ ...bench, route }, values({ id: 1, m: { k: 7 } }, { id: 2 }));
    expect(rows).toEqual([
      { id: 1n, item: 'k', place: 7 },
      { id: 2n, item: null, place: null },
    ]);
    expect(recordsWithRows).toBe(2);
  });
});
