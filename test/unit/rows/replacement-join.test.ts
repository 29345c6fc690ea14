import { afterAll, beforeAll, expect, it } from 'vitest';
import { joinReplacements } from '../../../src/rows/keyed/replacement-join.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

let bench: TestEngine;

beforeAll(async () => {
  bench = await openTestEngine();
});

afterAll(() => bench.close());

const replacements = { keyColumns: ['a', 'b'], isReplaced: 'm.clause = 1', columns: ['s.v AS v'] };

it('gives the row in its place to a row that is replaced, and to no other', async () => {
  const rows = 'SELECT * FROM (VALUES (1, 1, 1), (1, 2, 0), (2, 1, 1), (3, 3, 1)) t(a, b, clause)';
  const staged = "SELECT * FROM (VALUES (1, 1, 'one'), (1, 2, 'two'), (2, 2, 'three'), (3, 3, NULL)) t(a, b, v)";
  expect(await bench.engine.rows(`${joinReplacements(rows, staged, replacements)} ORDER BY a, b`)).toEqual([
    [1, 1, 1, 'one'],
    [1, 2, 0, null],
    [2, 1, 1, null],
    [3, 3, 1, null],
  ]);
});

it('compares no row with each of the others, however many there are', async () => {
  const rows = 'SELECT range AS a, range AS b, CAST(range % 2 AS INTEGER) AS clause FROM range(5000)';
  const staged = 'SELECT range AS a, range AS b, range AS v FROM range(5000)';
  const plan = String(await bench.engine.rows(`EXPLAIN ${joinReplacements(rows, staged, replacements)}`));
  expect(plan).toContain('HASH_JOIN');
  expect(plan).not.toContain('NL_JOIN');
});
