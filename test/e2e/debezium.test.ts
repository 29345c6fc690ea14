import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytesOf, goldenEvents } from '../support/golden-events.ts';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* Change events that Debezium wrote, with Connect's schemas, through a real broker into both formats, with a kill in between. */

const own = goldenEvents().events.filter(({ capture, table }) => capture === 'js' && (table === 'customers' || table === null));
const changes = own.filter(({ table, kind }) => table !== null && kind !== 'tombstone');
const passedOver = own.length - changes.length;
const operations: Readonly<Record<string, string>> = { snapshot: 'r', create: 'c', update: 'u', delete: 'd' };
const recoveryMs = 120_000;

describe('change events of Debezium', () => {
  const { dir, workload, serve } = productBench('debezium');

  const caseOf = (label: string, format: string) => {
    const name = `debezium-${label}-${randomUUID().slice(0, 8)}`;
    mkdirSync(join(dir, name));
    const config = join(dir, name, 'pipeline.yaml');
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
  - name: customers
    format: ${format}
    columns:
      - { name: key_id, type: long, from: key, member: id }
      - { name: id, type: long, nullable: false }
      - { name: name, type: string }
      - { name: tags, type: "array<string>" }
      - { name: balance, type: "decimal(12,2)" }
      - { name: created_at, type: timestamp }
      - { name: updated_at, type: timestamp_ntz }
      - { name: __op, type: string, nullable: false }
      - { name: __deleted, type: boolean }
      - { name: __lsn, type: long }
ingest:
  maxBatchAge: 150ms
  maxBatchRows: 40
  sessionTimeout: 3s
  routes: [{ topics: [${name}.in], table: customers, value: { format: connect-json, envelope: debezium }, key: { format: connect-json } }]
  deadLetters: { topic: ${name}.dlq }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { config, topic: `${name}.in` };
  };
  const produce = async (topic: string): Promise<void> => {
    const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const messages = own.map((event) => ({ key: bytesOf(event, 'key') ?? null, value: bytesOf(event, 'value') ?? null }));
    for (let from = 0; from < messages.length; from += 50) await producer.send({ topic, messages: messages.slice(from, from + 50) });
    await producer.disconnect();
  };
  const until = (one: ProductProcess, count: number): Promise<unknown> =>
    eventually(
      `${count} rows are there`,
      async () => {
        if (one.exit !== undefined) throw new Error(one.log);
        return (await one.status()).tables[0]?.rowCount === count;
      },
      recoveryMs,
    );

  it.each(bothFormats)('P02: become rows of %s, each once; what is no row is counted', async (_, { label, iceberg }) => {
    const pipeline = caseOf(label, iceberg === undefined ? 'delta' : 'iceberg');
    await workload.createTopic({ topic: pipeline.topic, partitions: 1 });
    await produce(pipeline.topic);
    const first = serve(pipeline);
    await until(first, changes.length);
    await first.kill();
    await produce(pipeline.topic);
    const second = serve(pipeline);
    await until(second, 2 * changes.length);
    const metrics = await second.metrics();
    expect(metrics.sum('tidewater_ingest_records_dead_lettered_total')).toBe(0);
    expect(metrics.sum('tidewater_ingest_records_filtered_total', { reason: 'heartbeat' })).toBeGreaterThan(0);
    expect((await second.terminate()).code, second.log).toBe(0);
    const audit = await runProduct({ config: pipeline.config, args: ['audit', '--json'] });
    const account = { rows: 2 * changes.length, filtered: 2 * passedOver, deadLettered: 0, sound: true };
    expect(JSON.parse(audit.stdout), audit.stdout).toMatchObject(account);
    const found = await runProduct({ config: pipeline.config, args: ['rows', 'customers'] });
    const read = found.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const wanted = changes.map(({ kind, row }) => {
      const known = JSON.parse(row) as { readonly id: string; readonly name: string; readonly balance: string | null };
      const shown = kind === 'delete' ? [null, null] : [known.name, known.balance];
      return JSON.stringify([Number(known.id), operations[kind], kind === 'delete', ...shown]);
    });
    const rows = read.map((row) => {
      const shown = row['__deleted'] === true ? [null, null] : [row['name'], row['balance'] ?? null];
      return JSON.stringify([row['id'], row['__op'], row['__deleted'], ...shown]);
    });
    expect(rows.sort()).toEqual([...wanted, ...wanted].sort());
    expect(read.every((row) => row['key_id'] === row['id'])).toBe(true);
  });
});
