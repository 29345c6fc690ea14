import { afterAll, describe, expect, it } from 'vitest';
import { col, sum } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

// Cases of DataFramePivotSuite (apache/spark, sql/core), with others beside them.

const made = await temporarySession();
const { session } = made;

afterAll(async () => {
  await made[Symbol.asyncDispose]();
});

const sales = session.createDataFrame(
  [
    { course: 'dotNET', year: 2012, earnings: 10_000 },
    { course: 'Java', year: 2012, earnings: 20_000 },
    { course: 'dotNET', year: 2012, earnings: 5_000 },
    { course: 'dotNET', year: 2013, earnings: 48_000 },
    { course: 'Java', year: 2013, earnings: 30_000 },
  ],
  'course STRING, year INT, earnings DOUBLE',
);

describe('pivot without values', () => {
  it('has a column for each value there is, in order', async () => {
    const frame = sales.groupBy('year').pivot('course').agg(sum('earnings'));
    expect(await frame.columns).toEqual(['year', 'Java', 'dotNET']);
    expect(await frame.orderBy(col('year')).collect()).toEqual([
      { year: 2012, Java: 20_000, dotNET: 15_000 },
      { year: 2013, Java: 30_000, dotNET: 48_000 },
    ]);
  });

  it('has those of values of other types than text', async () => {
    const years = sales.groupBy('course').pivot('year').sum('earnings').orderBy(col('course'));
    expect(await years.collect()).toEqual([
      { course: 'Java', 2012: 20_000, 2013: 30_000 },
      { course: 'dotNET', 2012: 15_000, 2013: 48_000 },
    ]);
    const [row] = await (
      await session.sql(
        "SELECT 1 AS g, d, t, n, b FROM VALUES (DATE'2024-02-29', TIMESTAMP'2024-02-29 01:02:03.5', 1.50, true) AS v(d, t, n, b)",
      )
    ).collect();
    const frame = session.createDataFrame([row ?? {}], 'g INT, d DATE, t TIMESTAMP, n DECIMAL(3,2), b BOOLEAN');
    for (const [name, value] of [
      ['d', '2024-02-29'],
      ['t', '2024-02-29 01:02:03.5'],
      ['n', '1.50'],
      ['b', 'true'],
    ] as const) {
      expect(await frame.groupBy('g').pivot(name).count().collect(), name).toEqual([{ g: 1, [value]: 1n }]);
    }
  });

  it('has one for NULL, before the others', async () => {
    const frame = session
      .createDataFrame([{ a: null }, { a: 1 }], 'a INT')
      .groupBy('a')
      .pivot('a')
      .count();
    expect(await frame.columns).toEqual(['a', 'null', '1']);
    expect(await frame.orderBy(col('a')).collect()).toEqual([
      { a: null, null: 1n, 1: null },
      { a: 1, null: null, 1: 1n },
    ]);
  });

  it('has the groups alone where there are no rows', async () => {
    expect(await sales.filter('year = 1').groupBy('year').pivot('course').count().columns).toEqual(['year']);
  });

  it('ends where there are more values than the session allows', async () => {
    session.conf.set('spark.sql.pivotMaxValues', 1);
    try {
      await expect(sales.groupBy('year').pivot('course').count().collect()).rejects.toMatchObject({
        errorClass: '_LEGACY_ERROR_TEMP_1324',
        message: expect.stringContaining('set spark.sql.pivotMaxValues to at least') as unknown,
      });
    } finally {
      session.conf.unset('spark.sql.pivotMaxValues');
    }
  });

  it('is not of values that have no text, nor of an empty list of them', async () => {
    const lists = session.createDataFrame([{ a: [1] }], 'a ARRAY<INT>');
    await expect(lists.groupBy('a').pivot('a').count().collect()).rejects.toMatchObject({ errorClass: 'UNSUPPORTED_FEATURE' });
    expect(() => sales.groupBy('year').pivot('course', [])).toThrow(expect.objectContaining({ errorClass: 'INVALID_ARGUMENT' }));
  });
});
