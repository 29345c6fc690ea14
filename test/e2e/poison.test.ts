import { createHash, randomBytes } from 'node:crypto';
import { CompressionTypes, Partitioners } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { consume, header } from '../support/checks-feed.ts';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { type PipelineCase, type PipelineOptions, pipelineCase, valueOf, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/* Records and batches that neither fit a table nor, as they are, the dead-letter topic: none of them stops a table (docs/spec/dead-letters.md). */

const MiB = 1024 * 1024;
const formats: readonly (readonly [string, PipelineOptions])[] = [
  ['a Delta table', {}],
  ['an Iceberg table', { iceberg: { kind: 'sql' } }],
];

describe('records that no dead letter holds whole', () => {
  const dir = temporaryDirectory('poison');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  const incompressible = randomBytes(1_048_400);

  /** Four rows of one partition, with poison between them. */
  const produce = async ({ topic }: PipelineCase): Promise<void> => {
    const producer = workload.kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    const send = (value: string | Buffer, compression: CompressionTypes = CompressionTypes.None): Promise<unknown> =>
      producer.send({ topic, compression, messages: [{ value, partition: 0 }] });
    try {
      await send(valueOf(1));
      await send(incompressible);
      await send(valueOf(2));
      await send(Buffer.alloc(2 * MiB, 'no json '), CompressionTypes.GZIP);
      await send(valueOf(4));
      await send(Buffer.alloc(300 * MiB, ' '), CompressionTypes.GZIP);
      await send(valueOf(5));
    } finally {
      await producer.disconnect();
    }
  };
  const serve = (pipeline: PipelineCase): ProductProcess => {
    const started = new ProductProcess({ config: pipeline.config, args: ['serve'] });
    running.push(started);
    return started;
  };
  const untilRows = (one: ProductProcess, rows: number): Promise<boolean> =>
    eventually(`the table has ${rows} rows`, async () => (await one.status()).tables[0]?.rowCount === rows, 60_000);
  const auditOf = async (pipeline: PipelineCase): Promise<unknown> =>
    JSON.parse((await runProduct({ config: pipeline.config, args: ['audit', '--json'] })).stdout);

  beforeAll(() => workload.connect());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  it.each(formats)(
    'P06: are letters cut or of a whole batch, and the rows behind them reach %s',
    async (_, options) => {
      const pipeline = pipelineCase(dir, 'letters', { ...options, partitions: 1 });
      await workload.createTopic(pipeline);
      await produce(pipeline);
      const one = serve(pipeline);
      await untilRows(one, 4);
      expect((await one.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(3);
      const letters = await consume(workload.kafka, [pipeline.deadLetterTopic], (received) => received.length >= 3);
      const found = letters.map((letter) => [
        header(letter, '__connect.errors.offset'),
        header(letter, 'tidewater.dlq.reason'),
        header(letter, 'tidewater.dlq.cut'),
        header(letter, 'tidewater.dlq.until_offset'),
      ]);
      expect(found).toEqual([
        ['1', 'invalid-json', 'value', undefined],
        ['3', 'invalid-json', undefined, undefined],
        ['5', 'batch-too-large', undefined, '6'],
      ]);
      const [cut, whole] = letters;
      expect(cut === undefined ? undefined : header(cut, 'tidewater.dlq.value.sha256')).toBe(
        createHash('sha256').update(incompressible).digest('hex'),
      );
      expect(whole?.value?.length).toBe(2 * MiB);
      const listed = await runProduct({ config: pipeline.config, args: ['dlq', 'list', '--json'] });
      const told = listed.stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line): unknown => JSON.parse(line));
      expect(told, listed.log).toMatchObject([
        { table: 'events', reason: 'invalid-json', source: { topic: pipeline.topic, offset: 1 }, cut: [{ part: 'value' }] },
        { table: 'events', reason: 'invalid-json', source: { topic: pipeline.topic, offset: 3 }, cut: [] },
        { table: 'events', reason: 'batch-too-large', source: { topic: pipeline.topic, offset: 5, untilOffset: 6 } },
      ]);
      const place = `${whole?.partition}:${whole?.offset}`;
      const raw = await runProduct({ config: pipeline.config, args: ['dlq', 'show', place, '--raw', 'value'] });
      expect(raw.stdout.length, raw.log).toBe(2 * MiB);
      expect((await one.terminate()).code, one.log).toBe(0);
      expect(await auditOf(pipeline)).toMatchObject({ records: 7, rows: 4, deadLettered: 3, sound: true });
    },
    180_000,
  );

  it.each(formats)(
    'P06: are passed by skip, counted, for %s',
    async (_, options) => {
      const pipeline = pipelineCase(dir, 'skip', { ...options, partitions: 1 });
      await workload.createTopic(pipeline);
      await produce(pipeline);
      const one = new ProductProcess({ config: pipeline.config, args: ['serve', '--set', 'ingest.deadLetters.onReject=skip'] });
      running.push(one);
      await untilRows(one, 4);
      expect((await one.terminate()).code, one.log).toBe(0);
      expect(await auditOf(pipeline)).toMatchObject({ records: 7, rows: 4, filtered: 3, sound: true });
    },
    180_000,
  );
});
