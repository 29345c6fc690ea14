import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/app/session.ts';
import { ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

const program = await obtainS3Server('versitygw');
const server = program === undefined ? undefined : await startS3Server('versitygw', program);
afterAll(() => server?.stop());

describe.skipIf(server === undefined)('the product over an object store', () => {
  const dir = temporaryDirectory('s3-pipeline');
  const workload = new Workload();
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it('takes records from topic to table to feed exactly once, told of the server by the environment', async () => {
    const location = `s3://${server?.bucket ?? ''}/${randomUUID()}/events`;
    const pipeline = pipelineCase(dir, 's3', { maintenance: '{ sweepInterval: 500ms, compaction: { minInputFiles: 4 } }', location });
    const produced = new Produced();
    await workload.createTopic(pipeline);
    await workload.produce(pipeline, produced, 2_000);
    const properties = server?.properties() ?? {};
    const env = {
      AWS_ENDPOINT_URL_S3: properties['s3.endpoint'] ?? '',
      AWS_REGION: properties['s3.region'] ?? '',
      AWS_ACCESS_KEY_ID: properties['s3.access-key-id'] ?? '',
      AWS_SECRET_ACCESS_KEY: properties['s3.secret-access-key'] ?? '',
    };
    const running = new ProductProcess({ config: pipeline.config, args: ['serve'], env });
    try {
      for (let part = 0; part < 4; part += 1) await workload.produce(pipeline, produced, 500);
      await untilThrough(running, pipeline, produced);
      const metrics = await running.metrics();
      expect(metrics.sum('tidewater_ingest_records_committed_total')).toBe(produced.rowCount);
      expect(metrics.sum('tidewater_cdf_records_total')).toBe(produced.rowCount);
      expect(await running.terminate(), running.log).toEqual({ code: 0, signal: null });
    } finally {
      await running.kill();
    }
    expect(running.log).not.toContain(properties['s3.secret-access-key']);
    const session = createSession({ config: { ...properties, 'spark.sql.warehouse.dir': dir } });
    try {
      const counted = await session.sql(
        `SELECT count(*) AS n, count(DISTINCT struct(kafka_partition, kafka_offset)) AS d FROM delta.\`${location}\``,
      );
      expect(await counted.collect()).toEqual([{ n: BigInt(produced.rowCount), d: BigInt(produced.rowCount) }]);
    } finally {
      await session.stop();
    }
  });
});
