import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DataFrame } from '../../../src/session/data-frame.ts';
import { col, count, expr, rowNumber } from '../../../src/session/functions.ts';
import { Window } from '../../../src/session/window.ts';
import { triesOf } from '../../support/property/property-runs.ts';
import { temporarySession } from '../../support/temporary-session.ts';

// Story: conditions travel below projections, joins, unions and aggregates to leave files out. A step that lets one pass which it must stop
// gives other rows than the same steps over the same rows in memory, where nothing is left out.

const rows = Array.from({ length: 24 }, (_, id) => ({ id, p: `p${id % 4}`, n: id % 3 === 0 ? null : id - 12 }));
const schema = 'id BIGINT, p STRING, n INT';

const conditions = [
  "p = 'p1'",
  "p <> 'p2' AND id > 4",
  'n IS NULL',
  'n > 0 OR id < 3',
  "p IN ('p0', 'p3')",
  'id BETWEEN 5 AND 15',
  'NOT (n <= 0)',
];

type Step = (frame: DataFrame) => DataFrame;

const condition = fc.constantFrom(...conditions);
const steps: fc.Arbitrary<Step> = fc.oneof(
  condition.map(
    (text): Step =>
      (frame) =>
        frame.where(text),
  ),
  fc.constant<Step>((frame) => frame.select(col('n').alias('x'), 'id', 'p').withColumnRenamed('x', 'n')),
  fc.constant<Step>((frame) => frame.withColumn('n', expr('coalesce(n, 0) - 1').cast('int'))),
  fc.constant<Step>((frame) => frame.withColumn('p', expr("concat('p', cast(id % 3 as string))"))),
  fc.constant<Step>((frame) => frame.orderBy(col('id').desc(), 'n', 'p').limit(7)),
  fc.constant<Step>((frame) => frame.distinct()),
  fc.constant<Step>((frame) => frame.fillna(5)),
  fc.constant<Step>((frame) => frame.withColumn('id', rowNumber().over(Window.partitionBy('p').orderBy('id', 'n')).cast('bigint'))),
  fc.constant<Step>((frame) =>
    frame.groupBy('p').agg(count('*').alias('id'), expr('cast(max(n) as int)').alias('n')).select('id', 'p', 'n'),
  ),
  condition.map(
    (text): Step =>
      (frame) =>
        frame.union(frame.where(text)),
  ),
  condition.map(
    (text): Step =>
      (frame) =>
        frame.except(frame.where(text)),
  ),
  fc.tuple(condition, fc.constantFrom('inner', 'left', 'right', 'outer', 'semi', 'anti')).map(
    ([text, how]): Step =>
      (frame) => {
        const other = frame.where(text).groupBy('p').agg(expr('cast(min(n) as int)').alias('m'));
        const joined = frame.join(other, 'p', how);
        return how === 'semi' || how === 'anti' ? joined : joined.withColumn('n', expr('coalesce(m, n)')).select('id', 'p', 'n');
      },
  ),
);

describe('conditions that reach the files of a table', () => {
  it('never change the rows of a query', async () => {
    await using made = await temporarySession();
    const { session } = made;
    const held = session.createDataFrame(rows, schema);
    await held.write.partitionBy('p').saveAsTable('t');
    const table = session.table('t').select('id', 'p', 'n');
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 5 }), condition, async (chain, last) => {
        const apply = (start: DataFrame): DataFrame => chain.reduce((frame, step) => step(frame), start).where(last);
        const order = (frame: DataFrame): DataFrame => frame.orderBy('id', 'p', 'n');
        expect(await order(apply(table)).collect()).toEqual(await order(apply(held)).collect());
      }),
      { numRuns: triesOf(60) },
    );
  });
});
