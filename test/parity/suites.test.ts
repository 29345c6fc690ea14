import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSession, type Session } from '../../src/index.ts';
import { restatedSuites } from '../engines/suites/index.ts';
import { compared, expectedOutcomes, ourOutcomes, recordingOf } from '../engines/suites/outcomes.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/** Cases of the test suites of Delta, Iceberg and Spark, restated: ours gives what Spark gave (`test/engines/suites`). */

describe('restated cases of the reference suites', () => {
  const directory = temporaryDirectory('suites');
  const sessions: Session[] = [];
  afterAll(async () => {
    await Promise.all(sessions.map((session) => session.stop()));
    removeDirectory(directory);
  });

  describe.each(restatedSuites)('$name', (suite) => {
    const session = createSession({
      config: {
        'spark.sql.warehouse.dir': join(directory, suite.name, 'warehouse'),
        'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.lake.type': 'hadoop',
        'spark.sql.catalog.lake.warehouse': join(directory, suite.name, 'lake'),
        'tidewater.engine.threads': 1,
        'tidewater.delta.allowedLocations': directory,
      },
      print: () => undefined,
    });
    sessions.push(session);
    const recording = recordingOf(suite);

    it.each(suite.cases)('$title', async (restated) => {
      const expected = expectedOutcomes(restated, recording[restated.title] ?? []);
      expect(expected, 'Spark was not asked: RECORD=1 npx vitest run --project engines test/engines/suites').toHaveLength(
        restated.steps.length,
      );
      const outcomes = await ourOutcomes(session, suite, restated, join(directory, suite.name));
      expect(compared(outcomes, expected)).toEqual(expected);
    });

    it('has one case of a title', () => {
      expect(new Set(suite.cases.map(({ title }) => title)).size).toBe(suite.cases.length);
      expect(Object.keys(recording).sort()).toEqual(suite.cases.map(({ title }) => title).sort());
    });
  });
});
