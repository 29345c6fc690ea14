import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCertificates } from '../support/certificates.ts';
import { CapturedRegistry, goldenPayloads } from '../support/golden-payloads.ts';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* Records of another serializer, through a real broker and a registry that is away, late and ignorant, into both formats. */

const topic = 'enc.avro.orders';
const { schemas, records } = goldenPayloads();
const own = records.filter(({ record }) => record.topic === topic);
const rows = own.flatMap(({ row }) => (row === 'null' ? [] : [JSON.parse(row) as Readonly<Record<string, unknown>>]));
const tombstones = own.length - rows.length;
/** Of the version of the schema that the last records were written with. */
const lastSchema = 12;
const recoveryMs = 240_000;

describe('Avro with a registry', () => {
  const { dir, workload, serve } = productBench('avro');

  const caseOf = (label: string, format: string, registry: string) => {
    const name = `avro-${label}-${randomUUID().slice(0, 8)}`;
    mkdirSync(join(dir, name));
    const config = join(dir, name, 'pipeline.yaml');
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
schemaRegistry: { url: "${registry}" }
tables:
  - name: orders
    format: ${format}
    columns:
      - { name: order_id, type: long, from: key, member: id }
      - { name: id, type: long, nullable: false }
      - { name: amount, type: double }
      - { name: qty, type: long }
      - { name: status, type: string }
      - { name: note, type: string }
      - { name: channel, type: string }
      - { name: ship, type: "struct<city:string,zip:string>" }
ingest:
  maxBatchAge: 150ms
  sessionTimeout: 3s
  routes: [{ topics: [${name}.in], table: orders, value: { format: avro }, key: { format: avro } }]
  deadLetters: { topic: ${name}.dlq }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { config, topic: `${name}.in`, partitions: 1 };
  };
  const produce = async (to: { readonly topic: string }): Promise<void> => {
    const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text, 'base64'));
    await producer.send({ topic: to.topic, messages: own.map(({ record }) => ({ key: bytes(record.key), value: bytes(record.value) })) });
    await producer.disconnect();
  };
  const rowCount = async (one: ProductProcess): Promise<number> => (await one.status()).tables[0]?.rowCount ?? 0;
  /** Until the table holds what became of the topic, `times` produced: its rows, and the letters of what is none. */
  const until = (one: ProductProcess, times: number): Promise<unknown> =>
    // A table that had to wait tries again after longer and longer.
    eventually(
      `the records are there ${times} times`,
      async () => {
        if (one.exit !== undefined) throw new Error(one.log);
        return (await one.status()).tables[0]?.partitions[0]?.committedOffset === times * own.length;
      },
      recoveryMs,
    );

  it('P02: waits for a registry that does not answer, and for a schema that it does not have yet; what it knows is read without', async () => {
    makeCertificates(join(dir, 'tls'));
    const pem = (name: string): Buffer => readFileSync(join(dir, 'tls', name));
    await using registry = new CapturedRegistry(schemas, 'AVRO', { key: pem('server.key'), cert: pem('server.crt') });
    await registry.start();
    registry.leave();
    const pipeline = caseOf('waits', 'delta', registry.url);
    await workload.createTopic({ topic: pipeline.topic, partitions: 1 });
    await produce(pipeline);
    const first = serve(pipeline, { env: { NODE_EXTRA_CA_CERTS: join(dir, 'tls', 'ca.pem') } });
    await eventually('the registry is missed', () => first.said('REGISTRY_UNAVAILABLE'));
    expect((await first.probe('/livez')).status).toBe(200);
    registry.hide(lastSchema);
    registry.comeBack();
    await eventually('the schema is missed', () => first.said('SCHEMA_UNKNOWN'));
    expect(await rowCount(first)).toBe(0);
    registry.show(lastSchema);
    await until(first, 1);
    expect((await first.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(tombstones);
    registry.leave();
    await produce(pipeline);
    await until(first, 2);
    expect(await rowCount(first)).toBe(2 * rows.length);
    expect((await first.terminate()).code, first.log).toBe(0);
  });

  it.each(bothFormats)('P02: becomes rows of %s, each once, whatever a kill does', async (_, { label, iceberg }) => {
    await using registry = new CapturedRegistry(schemas);
    await registry.start();
    const pipeline = caseOf(label, iceberg === undefined ? 'delta' : 'iceberg', registry.url);
    await workload.createTopic({ topic: pipeline.topic, partitions: 1 });
    await produce(pipeline);
    const first = serve(pipeline);
    await until(first, 1);
    await first.kill();
    await produce(pipeline);
    const second = serve(pipeline);
    await until(second, 2);
    expect((await second.metrics()).sum('tidewater_ingest_records_dead_lettered_total')).toBe(tombstones);
    expect((await second.terminate()).code, second.log).toBe(0);
    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    expect(JSON.parse(audit.stdout), audit.stdout).toMatchObject({ rows: 2 * rows.length, sound: true });
    const found = await runProduct({ config: pipeline.config, args: ['rows', 'orders'] });
    const read = found.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const shown = (row: Readonly<Record<string, unknown>>): string =>
      JSON.stringify([row['id'], row['amount'], row['qty'], row['status'], row['note'] ?? null, row['channel'] ?? null]);
    expect(read.map(shown).sort()).toEqual([...rows, ...rows].map(shown).sort());
    expect(read.every((row) => row['order_id'] === row['id'])).toBe(true);
  });

  it('P02: that names a schema nobody has is a dead letter where that is wanted, and says so', async () => {
    await using registry = new CapturedRegistry(schemas.filter(({ id }) => id !== lastSchema));
    await registry.start();
    const pipeline = caseOf('unknown', 'delta', registry.url);
    await workload.createTopic({ topic: pipeline.topic, partitions: 1 });
    await produce(pipeline);
    const worker = serve(pipeline, { args: ['--set', 'schemaRegistry.onUnknownSchema=dead-letter'] });
    const unknown = own.filter(({ record }) => Buffer.from(record.value ?? '', 'base64')[4] === lastSchema).length;
    expect(unknown).toBeGreaterThan(0);
    await until(worker, 1);
    expect(await rowCount(worker)).toBe(rows.length - unknown);
    const metrics = await worker.metrics();
    expect(metrics.sum('tidewater_ingest_records_dead_lettered_total', { reason: 'unknown-schema' })).toBe(unknown);
    expect((await worker.terminate()).code, worker.log).toBe(0);
  });
});
