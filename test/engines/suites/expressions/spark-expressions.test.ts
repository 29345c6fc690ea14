import { describe, expect, it } from 'vitest';
import { engineBench, enginesMissing } from '../../support/engine-bench.ts';
import { recordExpressions, recordedExpressions, sparkLines } from './expression-outcomes.ts';
import { expressionSuites } from './index.ts';

/*
 * What Spark gives for each expression. `RECORD=1` writes the recordings anew, `SUITE=name` takes one; by default one group of forty is asked,
 * `CASES=all` asks all. What ours gives is held against them in `test/parity/expressions.test.ts`, without Spark.
 */

const recording = process.env['RECORD'] === '1';
const share = recording || process.env['CASES'] === 'all' ? 1 : 40;
const wanted = process.env['SUITE'];
const suites = expressionSuites.filter(({ name }) => wanted === undefined || name === wanted || name.startsWith(`${wanted}-`));

describe.skipIf(enginesMissing)('Spark gives what the recordings of expressions say', () => {
  const bench = engineBench();

  it.each(suites)(
    '$name',
    async (suite) => {
      const groups = Object.entries(suite.groups).filter((_, place) => place % share === 0);
      const given: Record<string, Readonly<Record<string, string>>> = {};
      for (const [title, expressions] of groups) given[title] = await sparkLines(bench().oracle, expressions, suite);
      if (recording) recordExpressions(suite, given);
      const recorded = recordedExpressions(suite);
      expect(given).toEqual(Object.fromEntries(groups.map(([title]) => [title, recorded[title]])));
    },
    1_200_000,
  );
});
