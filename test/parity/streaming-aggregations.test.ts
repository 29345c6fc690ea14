import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataFrame, Row, StreamingQuery } from '../../src/index.ts';
import { functions } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

const { avg, count, sum } = functions;

/* Aggregations over a stream: what they give after any number of batches is what they give over all rows at once. */

describe('aggregations over a stream', () => {
  const bench = deltaBench();

  /** A table whose rows come in several versions, each a batch of its own. */
  async function source(name: string): Promise<DataFrame> {
    const { sql, at, path, session } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, k STRING, v INT, d DECIMAL(6,2)) USING delta`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a', 1, 0.10), (2, 'b', 2, 0.20), (3, NULL, NULL, NULL)`);
    await sql(`INSERT INTO ${at(name)} VALUES (4, 'a', 40, 9999.99), (5, NULL, -5, 0.01)`);
    await sql(`INSERT INTO ${at(name)} VALUES (6, 'c', NULL, 1.00), (7, 'b', 2147483647, 2.00)`);
    return session.readStream.format('delta').option('maxFilesPerTrigger', 1).load(path(name));
  }

  async function ended(query: Promise<StreamingQuery>): Promise<StreamingQuery> {
    const started = await query;
    await started.awaitTermination();
    return started;
  }

  const sorted = (rows: readonly unknown[]): readonly string[] =>
    rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))).toSorted();

  const aggregates = [
    'count(*)',
    'count(v)',
    'count_if(v > 1)',
    'sum(v)',
    'sum(d)',
    'avg(v)',
    'avg(d)',
    'mean(v)',
    'min(v)',
    'max(k)',
    'min_by(id, v)',
    'max_by(id, v)',
    'bool_and(v > 1)',
    'every(v > 0)',
    'bool_or(v > 100)',
    'any(v > 1)',
    'some(v > 1)',
    'bit_and(v)',
    'bit_or(v)',
    'bit_xor(v)',
    'sum(v) FILTER (WHERE id <> 7)',
    'CAST(sum(v) / count(*) AS DECIMAL(20, 3)) + 1',
  ];

  it.each(aggregates)('%s is that of all rows, with keys and without', async (aggregate) => {
    const { sql, at } = bench();
    const name = `agg-${aggregates.indexOf(aggregate)}`;
    const rows = await source(name);
    for (const [suffix, groups] of [
      ['all', ''],
      ['keyed', 'GROUP BY upper(k)'],
    ] as const) {
      const columns = groups === '' ? `${aggregate} AS x` : `upper(k) AS g, ${aggregate} AS x`;
      rows.createOrReplaceTempView('streamed');
      const streamed = await bench().session.sql(`SELECT ${columns} FROM streamed ${groups}`);
      const view = `result_${suffix}`;
      const writer = streamed.writeStream.format('memory').queryName(view).outputMode('complete').trigger({ availableNow: true });
      const query = await ended(writer.start());
      const atOnce = `SELECT ${columns} FROM ${at(name)} ${groups}`;
      expect(sorted(await sql(`SELECT * FROM ${view}`))).toEqual(sorted(await sql(atOnce)));
      expect((await streamed.schema).fields).toEqual((await (await bench().session.sql(atOnce)).schema).fields);
      expect(query.lastProgress?.batchId).toBe(2);
    }
  });

  it('a table has all groups after each batch, and each batch once, whatever was killed between', async () => {
    const { path, session, at } = bench();
    const rows = await source('totals');
    const checkpoint = path('totals-checkpoint');
    const run = (): Promise<StreamingQuery> =>
      ended(
        rows
          .groupBy('k')
          .agg(count('*').alias('n'), sum('v').alias('total'), avg('d').alias('mean'))
          .where('n > 1')
          .writeStream.format('delta')
          .outputMode('complete')
          .option('checkpointLocation', checkpoint)
          .trigger({ availableNow: true })
          .start(path('totals-out')),
      );
    const query = await run();
    const expected = async (): Promise<readonly string[]> =>
      sorted(
        await bench().sql(`SELECT k, count(*) AS n, sum(v) AS total, avg(d) AS mean FROM ${at('totals')} GROUP BY k HAVING count(*) > 1`),
      );
    const found = async (): Promise<readonly string[]> => sorted(await session.read.load(path('totals-out')).collect());
    expect(await found()).toEqual(await expected());
    const operators: unknown = query.recentProgress.map(({ stateOperators }) => stateOperators);
    expect(operators).toEqual([
      [{ operatorName: 'stateStoreSave', numRowsTotal: 3, numRowsUpdated: 3 }],
      [{ operatorName: 'stateStoreSave', numRowsTotal: 3, numRowsUpdated: 2 }],
      [{ operatorName: 'stateStoreSave', numRowsTotal: 4, numRowsUpdated: 2 }],
    ]);
    expect(readdirSync(join(checkpoint, 'state')).toSorted()).toEqual(['1.parquet', '2.parquet']);
    const [written] = await bench().sql(`DESCRIBE HISTORY ${at('totals-out')} LIMIT 1`);
    expect(Object.fromEntries(written?.['operationParameters'] as ReadonlyMap<string, string>)).toMatchObject({ outputMode: 'Complete' });
    // As after a kill between the sink and the end of the batch: it is run again, and not written again.
    rmSync(join(checkpoint, 'commits', '2'));
    await run();
    expect(await found()).toEqual(await expected());
    expect((await bench().sql(`DESCRIBE HISTORY ${at('totals-out')}`)).length).toBe(4);
    await bench().sql(`INSERT INTO ${at('totals')} VALUES (8, 'c', 1, 0.00)`);
    await run();
    expect(await found()).toEqual(await expected());
    await bench().agree('totals-out');
  });

  it('a batch whose sink failed behind the state counts once', async () => {
    const rows = await source('failing');
    const results: (readonly Row[])[] = [];
    const run = (failing: number | undefined): Promise<StreamingQuery> =>
      ended(
        rows
          .groupBy('k')
          .count()
          .orderBy('k')
          .writeStream.outputMode('complete')
          .option('checkpointLocation', bench().path('failing-checkpoint'))
          .foreachBatch(async (batch, id) => {
            if (id === failing) throw new Error('the sink is full');
            results.push(await batch.collect());
          })
          .trigger({ availableNow: true })
          .start(),
      );
    await expect(run(1)).rejects.toThrow(/the sink is full/);
    await expect(run(1)).rejects.toThrow(/the sink is full/);
    await run(undefined);
    expect(results).toHaveLength(3);
    expect(results.at(-1)).toEqual(await bench().sql(`SELECT k, count(*) AS count FROM ${bench().at('failing')} GROUP BY k ORDER BY k`));
  });

  it('update gives the groups that a batch changed', async () => {
    const rows = await source('updates');
    const batches: (readonly Row[])[] = [];
    const query = rows
      .groupBy('k')
      .count()
      .writeStream.outputMode('update')
      .foreachBatch(async (batch) => void batches.push(await batch.orderBy('k').collect()))
      .trigger({ availableNow: true })
      .start();
    await ended(query);
    expect(batches).toEqual([
      [
        { k: null, count: 1n },
        { k: 'a', count: 1n },
        { k: 'b', count: 1n },
      ],
      [
        { k: null, count: 2n },
        { k: 'a', count: 2n },
      ],
      [
        { k: 'b', count: 2n },
        { k: 'c', count: 1n },
      ],
    ]);
  });

  it('a complete result may be sorted, limited and joined with a table', async () => {
    const { sql, at } = bench();
    const rows = await source('sorted');
    await sql(`CREATE TABLE ${at('names')} (k STRING, name STRING) USING delta`);
    await sql(`INSERT INTO ${at('names')} VALUES ('a', 'first'), ('b', 'second')`);
    rows.createOrReplaceTempView('stream_of_sorted');
    const top = await bench().session.sql(
      `SELECT n.name, t.c FROM (SELECT k, count(*) AS c FROM stream_of_sorted GROUP BY k) t JOIN ${at('names')} n ON n.k = t.k ORDER BY n.name DESC LIMIT 1`,
    );
    await ended(top.writeStream.format('memory').queryName('top').outputMode('complete').trigger({ availableNow: true }).start());
    expect(await sql('SELECT * FROM top')).toEqual([{ name: 'second', c: 2n }]);
  });

  const refusals: readonly (readonly [string, string, 'append' | 'complete' | 'update', string])[] = [
    ['an aggregation to be appended', 'SELECT k, count(*) AS c FROM s GROUP BY k', 'append', 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION'],
    ['all rows of no aggregation', 'SELECT k FROM s', 'complete', 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION'],
    ['an aggregate without keys to be appended', 'SELECT count(*) AS c FROM s', 'append', 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION'],
    ['an aggregate of all values', 'SELECT collect_list(v) AS c FROM s', 'complete', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['distinct values', 'SELECT count(DISTINCT v) AS c FROM s', 'complete', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['subtotals', 'SELECT k, count(*) AS c FROM s GROUP BY ROLLUP (k)', 'complete', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    [
      'two aggregations',
      'SELECT max(c) AS m FROM (SELECT count(*) AS c FROM s GROUP BY k)',
      'complete',
      'STREAMING_OPERATION_NOT_SUPPORTED',
    ],
    ['sorting of what changed', 'SELECT k, count(*) AS c FROM s GROUP BY k ORDER BY k', 'update', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['sorting of rows', 'SELECT k FROM s ORDER BY k', 'append', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['a limit', 'SELECT k FROM s LIMIT 1', 'append', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['duplicates', 'SELECT DISTINCT k FROM s', 'append', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['a window', 'SELECT k, row_number() OVER (ORDER BY k) AS r FROM s', 'append', 'NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING'],
    ['the stream twice', 'SELECT a.k FROM s a JOIN s b ON a.id = b.id', 'append', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    ['the stream in an expression', 'SELECT 1 AS one WHERE 1 IN (SELECT id FROM s)', 'append', 'STREAMING_OPERATION_NOT_SUPPORTED'],
    [
      'an aggregation under WITH',
      'WITH t AS (SELECT k, count(*) AS c FROM s GROUP BY k) SELECT * FROM t',
      'complete',
      'STREAMING_OPERATION_NOT_SUPPORTED',
    ],
  ];

  it('what cannot be is refused at the start', async () => {
    const { path, session } = bench();
    const rows = await source('not-so');
    rows.createOrReplaceTempView('s');
    for (const [what, text, mode, errorClass] of refusals) {
      const writer = (await session.sql(text)).writeStream.format('memory').queryName('never').outputMode(mode);
      await expect(writer.start(), what).rejects.toMatchObject({ errorClass });
    }
    expect(() => rows.writeStream.outputMode('everything')).toThrow(
      expect.objectContaining({ errorClass: 'STREAMING_OUTPUT_MODE.INVALID' }),
    );
    const updates = rows.groupBy('k').count().writeStream.outputMode('update').option('checkpointLocation', path('not-so-checkpoint'));
    await expect(updates.format('delta').start(path('not-so-out'))).rejects.toThrow(/output mode "update" of a sink of format delta/);
    expect(existsSync(path('not-so-checkpoint'))).toBe(false);
  });

  it('ends when a changed query finds other groups in its checkpoint, or more than it keeps', async () => {
    const { path, session } = bench();
    const rows = await source('changed');
    const run = (frame: DataFrame): Promise<StreamingQuery> =>
      ended(
        frame.writeStream
          .format('delta')
          .outputMode('complete')
          .option('checkpointLocation', path('changed-checkpoint'))
          .trigger({ availableNow: true })
          .start(path('changed-out')),
      );
    await run(rows.groupBy('k').agg(count('*').alias('n')));
    await bench().sql(`INSERT INTO ${bench().at('changed')} VALUES (9, 'z', 1, 1.00)`);
    const other = run(rows.groupBy('k').agg(sum('v').alias('n')));
    await expect(other).rejects.toMatchObject({ cause: { code: 'STREAM_STATE_INCOMPATIBLE' } });
    await session.sql('SET tidewater.streaming.maxStateGroups = 4');
    const more = run(rows.groupBy('k').agg(count('*').alias('n')));
    await expect(more).rejects.toMatchObject({ cause: { code: 'STREAM_STATE_TOO_LARGE', message: /5 groups, more than the 4/ } });
    await session.sql('RESET tidewater.streaming.maxStateGroups');
    await run(rows.groupBy('k').agg(count('*').alias('n')));
    rmSync(join(path('changed-checkpoint'), 'state'), { recursive: true });
    await bench().sql(`INSERT INTO ${bench().at('changed')} VALUES (10, 'z', 1, 1.00)`);
    const lost = run(rows.groupBy('k').agg(count('*').alias('n')));
    await expect(lost).rejects.toMatchObject({ cause: { code: 'STREAM_CHECKPOINT_CORRUPT' } });
  });
});
