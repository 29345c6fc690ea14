import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/index.ts';
import { declaredDifferences, expectedLines, ourLines, recordedExpressions } from '../engines/suites/expressions/expression-outcomes.ts';
import { expressionSuites } from '../engines/suites/expressions/index.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Every function that is listed, operators and casts, over values at the edges: ours gives what Spark gave, or what is declared. */

describe.each(expressionSuites)('$name', (suite) => {
  const directory = temporaryDirectory('expressions');
  const session = createSession({
    config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': 1 },
    print: () => undefined,
  });
  afterAll(async () => {
    await session.stop();
    removeDirectory(directory);
  });
  const recording = recordedExpressions(suite);
  const declared = declaredDifferences(suite);

  it.each(Object.entries(suite.groups))('%s', async (title, expressions) => {
    const recorded = recording[title] ?? {};
    const unasked = expressions.filter((expression) => recorded[expression] === undefined);
    expect(unasked, 'Spark was not asked: RECORD=1 npx vitest run --project engines test/engines/suites/expressions').toEqual([]);
    expect(await ourLines(session, expressions)).toEqual(expectedLines(recorded, declared));
  });

  it('declares no difference that there is none of', () => {
    const recorded = Object.fromEntries(Object.values(recording).flatMap(Object.entries<string>));
    const needless = Object.values(declared).flatMap((ours) =>
      Object.entries(ours).filter(([expression, line]) => recorded[expression] === line),
    );
    expect(needless).toEqual([]);
  });
});
