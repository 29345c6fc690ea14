import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/app/session.ts';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

describe('live reads beside a running ingest', () => {
  const dir = temporaryDirectory('live');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await Promise.all(running.map((started) => started.kill()));
    await workload.close();
    removeDirectory(dir);
  });

  it.each([['delta', undefined] as const, ['iceberg', { kind: 'files' } as const] as const])(
    'X12: have each record of a table of %s once, before, during and after a kill, and equal the table when it is through',
    async (format, iceberg) => {
      const pipeline = pipelineCase(dir, `live-${format}`, { iceberg });
      const produced = new Produced();
      await workload.createTopic(pipeline);
      await workload.produce(pipeline, produced, 200);
      const first = new ProductProcess({ config: pipeline.config, args: ['serve'], env: { FAILPOINT: 'commit-applied:kill:4' } });
      running.push(first);
      const config = { 'spark.sql.catalog.live': 'tidewater.LiveCatalog', 'spark.sql.catalog.live.config': pipeline.config };
      const session = createSession({ config: { ...config, 'tidewater.engine.threads': 1 } });
      const read = async (): Promise<readonly unknown[]> => {
        const sql = 'SELECT count(*) AS n, count(DISTINCT kafka_partition, kafka_offset) AS once FROM live.events';
        const [row] = await (await session.sql(sql)).collect();
        return [row?.['n'], row?.['once']];
      };
      const isRight = async (): Promise<void> => {
        const rows = BigInt(produced.rowCount);
        expect(await read()).toEqual([rows, rows]);
      };
      try {
        await eventually('the table is there', async () => (await read()).length > 0, 40_000);
        while (first.exit === undefined) {
          await workload.produce(pipeline, produced, 60);
          await isRight();
        }
        await workload.produce(pipeline, produced, 60);
        await isRight();
        const second = new ProductProcess({ config: pipeline.config, args: ['serve'] });
        running.push(second);
        for (let part = 0; part < 5; part += 1) {
          await workload.produce(pipeline, produced, 60);
          await isRight();
        }
        await untilThrough(second, pipeline, produced);
        await isRight();
        const [tail] = await (await session.sql('SELECT max(records) AS n FROM live.events.tail')).collect();
        expect(tail).toEqual({ n: 0n });
        expect((await second.terminate()).code).toBe(0);
        const cli = await runProduct({ config: pipeline.config, args: ['sql', '--json', '-e', 'SELECT count(*) AS n FROM live.events'] });
        expect(cli.code, cli.log).toBe(0);
        expect(JSON.parse(cli.stdout)).toEqual({ n: produced.rowCount });
      } finally {
        await session.stop();
      }
    },
    240_000,
  );
});
