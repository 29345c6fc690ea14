import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DataFrame, StreamingQuery, TriggerOptions } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';

/** Where streams write to. The Kafka sink has its test beside the other tests with a broker, in test/integration/session. */
describe('streaming sinks', () => {
  const bench = deltaBench();

  async function source(name: string): Promise<DataFrame> {
    const { sql, at, path, session } = bench();
    await sql(`CREATE TABLE ${at(name)} (id INT, v STRING) USING delta`);
    await sql(`INSERT INTO ${at(name)} VALUES (1, 'a'), (2, 'b')`);
    await sql(`INSERT INTO ${at(name)} VALUES (3, 'c')`);
    return session.readStream.format('delta').option('maxFilesPerTrigger', 1).load(path(name));
  }

  async function ended(query: Promise<StreamingQuery>): Promise<StreamingQuery> {
    const started = await query;
    await started.awaitTermination();
    return started;
  }

  it('B18: the memory sink keeps the rows in a view of the name of the query', async () => {
    const rows = await source('memory');
    const query = await ended(rows.where('id <> 2').writeStream.format('memory').queryName('kept').trigger({ availableNow: true }).start());
    expect(await bench().sql('SELECT id, v FROM kept ORDER BY id')).toEqual([
      { id: 1, v: 'a' },
      { id: 3, v: 'c' },
    ]);
    expect(query.name).toBe('kept');
    expect(query.lastProgress).toMatchObject({ name: 'kept', sink: { description: 'MemorySink' } });
    await expect(rows.writeStream.format('memory').start()).rejects.toThrow(/queryName/);
  });

  it('B18: the console sink prints each batch under its number', async () => {
    const rows = await source('console');
    await ended(rows.writeStream.format('console').option('truncate', false).trigger({ availableNow: true }).start());
    const bar = '-------------------------------------------';
    const printed = bench().printed();
    expect(printed).toContain(`${bar}\nBatch: 0\n${bar}`);
    expect(printed).toContain(`${bar}\nBatch: 1\n${bar}`);
    expect(printed).toContain('|id |v  |');
    expect(printed).toContain('|3  |c  |');
  });

  it('B18: foreachBatch is given each batch as a DataFrame with its id', async () => {
    const rows = await source('foreach');
    const { path, session } = bench();
    const ids: number[] = [];
    const query = rows.writeStream
      .foreachBatch(async (batch, batchId) => {
        ids.push(batchId);
        await batch.write.format('delta').mode('append').options({ txnAppId: 'foreach', txnVersion: batchId }).save(path('written'));
      })
      .trigger({ availableNow: true })
      .start();
    await ended(query);
    expect(ids).toEqual([0, 1]);
    expect(await session.read.load(path('written')).count()).toBe(3);
    await bench().agree('written');
  });

  it.each([
    { by: 'path', trigger: { availableNow: true } },
    { by: 'name', trigger: { processingTime: '50 milliseconds' } },
  ] satisfies readonly { readonly by: string; readonly trigger: TriggerOptions }[])(
    'B18: the delta sink makes a table by $by and a version of each batch',
    async ({ by, trigger }) => {
      const { session, sql, at, path, commit } = bench();
      const writer = (await source(`delta-${by}`)).writeStream
        .format('delta')
        .partitionBy('v')
        .option('checkpointLocation', path(`checkpoint-${by}`))
        .trigger(trigger);
      const target = join('warehouse', 'streamed');
      const query = await (by === 'path' ? writer.start(path('streamed')) : writer.toTable('streamed'));
      if (by === 'path') await query.awaitTermination();
      else await query.processAllAvailable();
      await query.stop();
      const name = by === 'path' ? 'streamed' : target;
      const written = await session.read.load(path(name)).orderBy('id').collect();
      expect(written.map((row) => row['id'])).toEqual([1, 2, 3]);
      const history = await sql(`DESCRIBE HISTORY ${at(name)}`);
      const streamed = history.filter((entry) => entry['operation'] === 'STREAMING UPDATE');
      expect(streamed).toHaveLength(2);
      expect(Object.fromEntries(streamed[0]?.['operationParameters'] as ReadonlyMap<string, string>)).toMatchObject({
        outputMode: 'Append',
        queryId: query.id,
        epochId: '1',
      });
      const version = Number(streamed[0]?.['version']);
      expect(commit(name, version).find((action) => 'txn' in action)?.['txn']).toMatchObject({ appId: query.id, version: 1 });
      const progress = query.recentProgress.find(({ numInputRows }) => numInputRows > 0);
      expect(progress?.sink).toEqual({ description: expect.stringMatching(/^DeltaSink\[/) as string, numOutputRows: 2 });
      await bench().agree(name);
    },
  );

  it('B18: the delta sink writes a batch once, also when the query died before it wrote that down', async () => {
    const { session, path, version } = bench();
    const rows = await source('died');
    const run = (): Promise<StreamingQuery> =>
      ended(rows.writeStream.option('checkpointLocation', path('died-c')).trigger({ availableNow: true }).start(path('once')));
    await run();
    const before = await version('once');
    rmSync(join(path('died-c'), 'commits', '1'));
    const again = await run();
    expect(again.recentProgress[0]?.batchId).toBe(1);
    expect(await version('once')).toBe(before);
    expect(await session.read.load(path('once')).count()).toBe(3);
  });

  it('B18: the delta sink refuses rows of another shape, and takes them with mergeSchema', async () => {
    const { session, sql, at, path } = bench();
    const rows = await source('wider');
    await sql(`CREATE TABLE ${at('narrow')} (id INT) USING delta`);
    const writer = rows.writeStream.option('checkpointLocation', path('narrow-c')).trigger({ availableNow: true });
    await expect(ended(writer.start(path('narrow')))).rejects.toMatchObject({
      errorClass: 'STREAM_FAILED',
      cause: { errorClass: 'DELTA_METADATA_MISMATCH' },
    });
    await ended(writer.option('mergeSchema', true).start(path('narrow')));
    expect(await session.read.load(path('narrow')).columns).toEqual(['id', 'v']);
    await bench().agree('narrow');
  });

  it('B18: what cannot be streamed is refused at the start', async () => {
    const rows = await source('refused');
    await expect(rows.writeStream.start(bench().path('nowhere'))).rejects.toThrow(/checkpointLocation/);
    await expect(rows.collect()).rejects.toMatchObject({ errorClass: 'STREAMING_QUERY_NOT_STARTED' });
    await expect(rows.groupBy('v').count().writeStream.format('memory').queryName('q').start()).rejects.toMatchObject({
      errorClass: 'STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION',
    });
    expect(() => rows.writeStream.trigger({ processingTime: 'soon' })).toThrow(/processingTime/);
    expect(() => bench().session.readStream.option('startingVersions', 1).load(bench().path('refused'))).toThrow(/startingVersions/);
  });
});
