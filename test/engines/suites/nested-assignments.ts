import type { RestatedSuite } from './restated-case.ts';

/** Values of structs set by UPDATE, MERGE and INSERT. Cases of delta-io/delta, `spark/src/test/scala/org/apache/spark/sql/delta` (Apache-2.0). */
export const nestedAssignments: RestatedSuite = {
  name: 'nested-assignments',
  format: 'delta',
  cases: [
    {
      of: 'UpdateSuiteBase: nested data support',
      title: 'one member of a struct is set',
      steps: [
        'CREATE TABLE {t} (id INT, x STRUCT<a: INT, b: INT>) USING delta',
        "INSERT INTO {t} VALUES (1, named_struct('a', 1, 'b', 2))",
        'UPDATE {t} SET x.a = 5',
        'SELECT * FROM {t}',
        'UPDATE {t} SET x.c = 5',
      ],
    },
  ],
};
