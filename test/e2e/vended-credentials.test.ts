import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSession } from '../../src/app/session.ts';
import { ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { privateRestCatalog } from '../support/rest-catalog.ts';
import { obtainS3Server, startS3Server } from '../support/s3-server.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { StorageVendor } from '../support/storage-vendor.ts';

const program = await obtainS3Server('versitygw');
const store = program === undefined ? undefined : await startS3Server('versitygw', program);
const warehouse = `s3://${store?.bucket ?? ''}/warehouse`;
const rest = store === undefined ? undefined : await privateRestCatalog('jdbc', { warehouse, properties: store.properties() });
afterAll(async () => {
  await rest?.[Symbol.asyncDispose]();
  await store?.stop();
});

describe.skipIf(rest === undefined)('the product over a REST catalog that vends credentials of an object store', () => {
  const dir = temporaryDirectory('vended-pipeline');
  const workload = new Workload();
  beforeAll(() => workload.connect());
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it.each([
    ['of which nobody says when they end', undefined],
    ['that say when they end', 4_000],
  ])('takes records from topic to table to feed exactly once while credentials %s are replaced', async (_, lifetimeMs) => {
    await using vendor = await StorageVendor.start(rest!.server.uri, store!);
    vendor.catalog.hasEndpoint = true;
    vendor.catalog.lifetimeMs = lifetimeMs;
    const pipeline = pipelineCase(dir, 'vended', {
      maintenance: '{ sweepInterval: 500ms, compaction: { minInputFiles: 4 } }',
      iceberg: { kind: 'rest', uri: vendor.catalog.uri, warehouse, database: '' },
    });
    const produced = new Produced();
    await workload.createTopic(pipeline);
    await workload.produce(pipeline, produced, 1_000);
    const running = new ProductProcess({ config: pipeline.config, args: ['serve'], env: { AWS_EC2_METADATA_DISABLED: 'true' } });
    const old = [vendor.vended['s3.secret-access-key'] ?? ''];
    try {
      for (let part = 0; part < 6; part += 1) {
        await vendor.rotate(lifetimeMs);
        old.push(vendor.vended['s3.secret-access-key'] ?? '');
        await workload.produce(pipeline, produced, 500);
        await sleep(500);
      }
      await untilThrough(running, pipeline, produced);
      // Idle while the credentials end: what comes then is not lost either.
      await vendor.rotate(lifetimeMs);
      await vendor.rotate(lifetimeMs);
      await workload.produce(pipeline, produced, 500);
      await untilThrough(running, pipeline, produced);
      const metrics = await running.metrics();
      // A commit whose answer got lost with its credentials is found in the table by whoever opens it again, and is not counted then.
      expect(metrics.sum('tidewater_ingest_records_committed_total')).toBeLessThanOrEqual(produced.rowCount);
      expect(metrics.sum('tidewater_cdf_records_total')).toBe(produced.rowCount);
      expect(await running.terminate(), running.log).toEqual({ code: 0, signal: null });
    } finally {
      await running.kill();
    }
    for (const secret of old) expect(running.log).not.toContain(secret);
    expect(running.log).not.toContain('stands still');
    const catalog = { type: 'rest', uri: vendor.catalog.uri };
    const settings = Object.entries(catalog).map(([key, value]) => [`spark.sql.catalog.lake.${key}`, value] as const);
    const session = createSession({ config: { ...Object.fromEntries(settings), 'spark.sql.warehouse.dir': dir } });
    try {
      const counted = await session.sql(
        `SELECT count(*) AS n, count(DISTINCT struct(kafka_partition, kafka_offset)) AS d FROM lake.\`${pipeline.name}\`.events`,
      );
      expect(await counted.collect()).toEqual([{ n: BigInt(produced.rowCount), d: BigInt(produced.rowCount) }]);
    } finally {
      await session.stop();
    }
  });
});
