import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/index.ts';
import {
  declaredDifferences,
  type ExpressionLines,
  expectedLines,
  frameLines,
  needlessDifferences,
  ourLines,
  recordedExpressions,
  unnamedLines,
  withWantedDigits,
} from '../engines/suites/expressions/expression-outcomes.ts';
import { expressionSuites } from '../engines/suites/expressions/index.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Every function that is listed, operators and casts, over values at the edges: ours gives what Spark gave, or what is declared. */

const notAsked = 'Spark was not asked: RECORD=1 npx vitest run --project engines test/engines/suites/expressions';

/** A session for the tests of a `describe` block. */
function parity(): Session {
  const directory = temporaryDirectory('expressions');
  const session = createSession({
    config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': 1 },
    print: () => undefined,
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });
  return session;
}

/** One of so many is asked; `CASES=all` asks all. */
const share = process.env['CASES'] === 'all' ? 1 : 10;

describe.each(expressionSuites.filter(({ unnamed }) => unnamed))('$name', (suite) => {
  const session = parity();

  it('gives what Spark gave, or what is declared', async () => {
    const recorded = Object.assign({}, ...Object.values(recordedExpressions(suite))) as ExpressionLines;
    const declared = declaredDifferences(suite);
    const unasked = Object.values(suite.groups).flatMap((group) => group.filter((expression) => recorded[expression] === undefined));
    expect(unasked, notAsked).toEqual([]);
    const all = Object.entries(expectedLines(recorded, declared));
    const wanted = Object.fromEntries(all.filter((_, place) => place % share === 0));
    expect(withWantedDigits(await unnamedLines(session, wanted), wanted)).toEqual(wanted);
    expect(needlessDifferences(recorded, declared)).toEqual([]);
  });
});

describe.each(expressionSuites.filter(({ unnamed }) => !unnamed))('$name', (suite) => {
  const session = parity();
  const recording = recordedExpressions(suite);
  const declared = declaredDifferences(suite);

  it.each(Object.entries(suite.groups))('%s', async (title, expressions) => {
    const recorded = recording[title] ?? {};
    const unasked = expressions.filter((expression) => recorded[expression] === undefined);
    expect(unasked, notAsked).toEqual([]);
    const wanted = expectedLines(recorded, declared);
    expect(withWantedDigits(await ourLines(session, expressions, suite.conf), wanted)).toEqual(wanted);
  });

  // A DataFrame has a column here that a suggestion can name.
  const withoutSuggestions = (lines: ExpressionLines): ExpressionLines =>
    Object.fromEntries(Object.entries(lines).map(([expression, line]) => [expression, line.replace(/\.WITH(?:OUT)?_SUGGESTION$/, '')]));

  it.each(Object.entries(suite.groups))('%s, in a DataFrame as in SQL', async (title, expressions) => {
    const frames = await frameLines(session, expressions, suite.conf);
    const sql = expectedLines(recording[title] ?? {}, declared);
    const same = Object.fromEntries(Object.keys(frames).map((expression) => [expression, sql[expression] ?? '']));
    expect(withoutSuggestions(withWantedDigits(frames, same))).toEqual(withoutSuggestions(same));
  });

  it('declares no difference that there is none of', () => {
    const recorded = Object.fromEntries(Object.values(recording).flatMap(Object.entries<string>));
    expect(needlessDifferences(recorded, declared)).toEqual([]);
  });
});
