import { describe, expect, it } from 'vitest';
import { engineBench, enginesMissing } from '../support/engine-bench.ts';
import { directoryCatalog, settingsIn } from '../support/iceberg-bench.ts';
import { restatedSuites } from './index.ts';
import { type Recording, record, recordingOf, sparkOutcomes, withoutMessages } from './outcomes.ts';
import type { RestatedCase, RestatedSuite } from './restated-case.ts';

/*
 * The recordings of restated cases are what Spark gives. `RECORD=1` writes them anew, `SUITE=name,name` takes some suites; by default one case of
 * twenty is asked, `CASES=all` asks all of them, `TITLE=text` those whose title has it. What ours gives is held against them in `test/parity/suites.test.ts`, without Spark.
 */

const recording = process.env['RECORD'] === '1';
const titled = process.env['TITLE'] ?? '';
const share = recording || titled !== '' || process.env['CASES'] === 'all' ? 1 : 20;
const chosen = process.env['SUITE']?.split(',');
const suites = restatedSuites.filter(({ name }) => chosen?.includes(name) ?? true);

describe.skipIf(enginesMissing)('Spark gives what the recordings of restated cases say', () => {
  const bench = engineBench();

  it.each(suites)(
    '$name',
    async (suite) => {
      const { oracle, directory } = bench();
      const lake = settingsIn(directoryCatalog(`${directory}/${suite.name}`, 'lake'));
      await oracle.configureSpark({ ...lake, 'spark.sql.catalog.lake.cache-enabled': 'false' });
      await oracle.sql('CREATE NAMESPACE IF NOT EXISTS lake.cases');
      const taken = suite.cases.filter(({ title }, place) => place % share === 0 && title.includes(titled));
      const given: Recording = Object.fromEntries(await outcomes(suite, taken));
      if (recording) record(suite, inOrder(suite, { ...recordingOf(suite), ...given }));
      const recorded = recordingOf(suite);
      for (const { title } of taken) expect(withoutMessages(given[title]), title).toEqual(withoutMessages(recorded[title]));
    },
    1_200_000,
  );

  /** What is recorded of the suite's cases, in their order. */
  function inOrder({ cases }: RestatedSuite, recorded: Recording): Recording {
    return Object.fromEntries(cases.flatMap(({ title }) => (recorded[title] === undefined ? [] : [[title, recorded[title]]])));
  }

  async function outcomes(suite: RestatedSuite, cases: readonly RestatedCase[]): Promise<[string, Recording[string]][]> {
    const { oracle, directory } = bench();
    const made: [string, Recording[string]][] = [];
    for (const restated of cases) made.push([restated.title, await sparkOutcomes(oracle, suite, restated, `${directory}/${suite.name}`)]);
    return made;
  }
});
