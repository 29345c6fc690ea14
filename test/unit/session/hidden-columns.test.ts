import { describe, expect, it } from 'vitest';
import { array, col, explode, lit } from '../../../src/session/functions.ts';
import { temporarySession } from '../../support/temporary-session.ts';

describe('hidden columns of a DataFrame', () => {
  const place = '_metadata.row_index';

  it('come through what leaves rows as they are, and only when they are named', async () => {
    await using made = await temporarySession();
    await made.session.range(0, 10).write.saveAsTable('t');
    const frame = made.session.table('t');
    const through = frame.where('id > 2').orderBy(col('id').desc()).limit(3).alias('q').dropna();
    expect(await through.columns).toEqual(['id']);
    expect(await through.collect()).toEqual([{ id: 9n }, { id: 8n }, { id: 7n }]);
    expect(await through.select('id', col(`q.${place}`).alias('i')).collect()).toEqual([9n, 8n, 7n].map((id) => ({ id, i: id })));
    expect(await frame.where(col(place).lt(4)).count()).toBe(4);
    expect(await frame.groupBy(col(place).mod(2).alias('even')).count().orderBy('even').collect()).toEqual([
      { even: 0n, count: 5n },
      { even: 1n, count: 5n },
    ]);
    expect(await frame.select(frame.col('_metadata')).where(`${place} = 3`).count()).toBe(1);
    const made2 = frame.where('id = 4').select(explode(array(col(place), lit(0))).alias('v'));
    expect(await made2.orderBy('v').collect()).toEqual([{ v: 0n }, { v: 4n }]);
    expect(await frame.union(frame).distinct().count()).toBe(10);
  });

  it('are those of each side of a join', async () => {
    await using made = await temporarySession();
    await made.session.range(0, 4).write.saveAsTable('t');
    const [a, b] = [made.session.table('t').alias('a'), made.session.table('t').alias('b')];
    const joined = a.join(b, col(`a.${place}`).eq(col(`b.${place}`).plus(1)), 'left');
    expect(await joined.columns).toEqual(['id', 'id']);
    expect(
      await joined
        .select('a.id', col(`b.${place}`).alias('i'))
        .orderBy('id')
        .collect(),
    ).toEqual([
      { id: 0n, i: null },
      { id: 1n, i: 0n },
      { id: 2n, i: 1n },
      { id: 3n, i: 2n },
    ]);
    expect(await a.join(b, ['id']).select(`a.${place}`).count()).toBe(4);
    expect(
      await a
        .join(b, col(`b.${place}`).eq(2), 'semi')
        .select(`a.${place}`)
        .count(),
    ).toBe(4);
    await expect(joined.select(place).count()).rejects.toMatchObject({ errorClass: 'AMBIGUOUS_REFERENCE' });
  });

  it('end at a projection', async () => {
    await using made = await temporarySession();
    await made.session.range(0, 4).write.saveAsTable('t');
    const frame = made.session.table('t');
    for (const projected of [frame.select('id'), frame.withColumn('x', lit(1)), frame.withColumnRenamed('id', 'k'), frame.distinct()])
      await expect(projected.select(place).count()).rejects.toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
    frame.createOrReplaceTempView('seen');
    await expect(made.session.sql(`SELECT ${place} FROM seen`)).rejects.toMatchObject({ errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION' });
  });
});
