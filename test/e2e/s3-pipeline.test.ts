import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/app/session.ts';
import { consume, foldFeed } from '../support/checks-feed.ts';
import { ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { privateRestCatalog } from '../support/rest-catalog.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

const program = await obtainS3Server('versitygw');
const server = program === undefined ? undefined : await startS3Server('versitygw', program);
const warehouse = `s3://${server?.bucket ?? ''}/warehouse`;
const rest = server === undefined ? undefined : await privateRestCatalog('jdbc', { warehouse, properties: server.properties() });
afterAll(async () => {
  await rest?.[Symbol.asyncDispose]();
  await server?.stop();
});

describe.skipIf(rest === undefined)('the product over an object store', () => {
  const dir = temporaryDirectory('s3-pipeline');
  const workload = new Workload();
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it('X07: takes records from topic to a table, its feed and its twin in a REST catalog exactly once, told of the server by the environment, with a kill', async () => {
    const location = `s3://${server?.bucket ?? ''}/${randomUUID()}/events`;
    const uri = rest?.server.uri ?? '';
    const pipeline = pipelineCase(dir, 's3', {
      maintenance: '{ sweepInterval: 500ms, compaction: { minInputFiles: 4 } }',
      location,
      twin: { kind: 'rest', uri, warehouse, database: '' },
    });
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
    const killed = new ProductProcess({ config: pipeline.config, args: ['serve'], env: { ...env, FAILPOINT: 'after-twin-commit:kill:1' } });
    expect(await killed.exited(), killed.log).toMatchObject({ signal: 'SIGKILL' });
    const running = new ProductProcess({ config: pipeline.config, args: ['serve'], env });
    try {
      for (let part = 0; part < 4; part += 1) await workload.produce(pipeline, produced, 500);
      await untilThrough(running, pipeline, produced);
      expect(await running.terminate(), running.log).toEqual({ code: 0, signal: null });
    } finally {
      await running.kill();
    }
    const feed = foldFeed(await consume(workload.kafka, [pipeline.feedTopic], (received) => received.length >= produced.rowCount));
    expect({ ...feed, rows: feed.rows.length }).toEqual({ events: produced.rowCount, rows: produced.rowCount, findings: [] });
    expect(running.log).not.toContain(properties['s3.secret-access-key']);
    const session = createSession({
      config: { ...properties, 'spark.sql.warehouse.dir': dir, 'spark.sql.catalog.lake.type': 'rest', 'spark.sql.catalog.lake.uri': uri },
    });
    try {
      for (const table of [`delta.\`${location}\``, `lake.\`${pipeline.name}\`.events`]) {
        const counted = await session.sql(`SELECT count(*) AS n, count(DISTINCT struct(kafka_partition, kafka_offset)) AS d FROM ${table}`);
        expect(await counted.collect(), table).toEqual([{ n: BigInt(produced.rowCount), d: BigInt(produced.rowCount) }]);
      }
    } finally {
      await session.stop();
    }
  });
});
