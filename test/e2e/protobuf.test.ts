import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CapturedRegistry, goldenPayloads } from '../support/golden-payloads.ts';
import { eventually, runProduct } from '../support/process.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* Protobuf of another serializer, three versions of a schema in one topic, through a real broker and a registry, into both formats. */

const { schemas, records } = goldenPayloads('protobuf');
const own = records.filter(({ record }) => record.topic === 'enc.proto.orders');
const rows = own.flatMap(({ row }) => (row === 'null' ? [] : [JSON.parse(row) as Readonly<Record<string, unknown>>]));

describe('Protobuf with a registry', () => {
  const { dir, workload, serve } = productBench('protobuf');

  it.each(bothFormats)('P02: becomes rows of %s, each once, through a kill', async (_, { label, iceberg }) => {
    await using registry = new CapturedRegistry(schemas, 'PROTOBUF');
    await registry.start();
    const name = `protobuf-${label}-${randomUUID().slice(0, 8)}`;
    mkdirSync(join(dir, name));
    const config = join(dir, name, 'pipeline.yaml');
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
schemaRegistry: { url: "${registry.url}" }
tables:
  - name: orders
    format: ${iceberg === undefined ? 'delta' : 'iceberg'}
    columns:
      - { name: id, type: long, nullable: false }
      - { name: qty, type: long }
      - { name: status, type: string }
      - { name: channel, type: string }
      - { name: ship, type: "struct<city:string,zip:string>" }
      - { name: tags, type: "array<string>" }
ingest:
  maxBatchAge: 150ms
  sessionTimeout: 3s
  routes: [{ topics: [${name}.in], table: orders, value: { format: protobuf, tombstones: skip } }]
  deadLetters: { topic: ${name}.dlq }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    await workload.createTopic({ topic: `${name}.in`, partitions: 1 });
    const produce = async (): Promise<void> => {
      const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64'));
      await producer.send({ topic: `${name}.in`, messages: own.map(({ record }) => ({ key: record.key, value: bytes(record.value) })) });
      await producer.disconnect();
    };
    await produce();
    const first = serve({ config });
    await eventually('all rows are there', async () => (await first.status()).tables[0]?.rowCount === rows.length, 120_000);
    await first.kill();
    await produce();
    const second = serve({ config });
    await eventually('all rows are there twice', async () => (await second.status()).tables[0]?.rowCount === 2 * rows.length, 120_000);
    expect((await second.terminate()).code, second.log).toBe(0);
    const found = await runProduct({ config, args: ['rows', 'orders'] });
    const read = found.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const shown = ({ id, qty, status, channel, tags }: Readonly<Record<string, unknown>>): string =>
      JSON.stringify([Number(id), Number(qty), String(status), channel ?? null, (tags as readonly string[] | undefined) ?? []]);
    // A field that the writer's schema does not have is null; one that it has and the record has not is its type's zero.
    const wanted = rows.map(shown);
    expect(read.map(shown).sort()).toEqual([...wanted, ...wanted].sort());
  });
});
