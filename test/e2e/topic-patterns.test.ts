import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* Topics that a route reads because their names match: there from the start, made while processes run, and while one is killed. */

describe('topics that match a pattern', () => {
  const { dir, workload, serve } = productBench('patterns');
  const name = `patterns-${randomUUID().slice(0, 8)}`;
  const config = join(dir, name, 'pipeline.yaml');
  mkdirSync(join(dir, name));
  const topicOf = (suffix: string): string => `${name}.in.${suffix}`;
  const write = (): void => {
    // The topic of dead letters matches, too: the pipeline does not read what it writes.
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
  - name: events
    columns: [{ name: id, type: long, nullable: false }, { name: topic, type: string, from: topic }]
ingest:
  maxBatchAge: 100ms
  sessionTimeout: 3s
  startFrom: latest
  routes: [{ topicPattern: '${name}\\.in\\..+', table: events }]
  deadLetters: { topic: ${name}.in.dlq }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
  };
  const produce = async (suffix: string, ids: readonly number[]): Promise<void> => {
    const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    const messages = ids.map((id) => ({ value: JSON.stringify({ id }), partition: id % 2 }));
    await producer.send({ topic: topicOf(suffix), messages: [...messages, { value: 'poison', partition: 0 }] });
    await producer.disconnect();
  };
  const create = async (suffix: string): Promise<void> => {
    await workload.createTopic({ topic: topicOf(suffix), partitions: 2 });
  };
  const rowsIn = async (one: ProductProcess): Promise<number> => (await one.status()).tables[0]?.rowCount ?? 0;
  const ids = (from: number): readonly number[] => Array.from({ length: 100 }, (_, index) => from + index);

  it('are read from their beginning when they come, each record once, and nothing that the pipeline writes', async () => {
    write();
    await create('a');
    const first = serve({ config });
    // Some commits only say where reading starts, how many depends on who joins first: the kill comes well after them.
    const second = serve({ config }, { env: { FAILPOINT: 'commit-applied:kill:12' } });
    const shares = async (processes: readonly ProductProcess[]): Promise<number> => {
      const counts = await Promise.all(processes.map(async (one) => (await one.metrics()).sum('tidewater_ingest_partitions_assigned')));
      return counts.reduce((sum, count) => sum + count, 0);
    };
    // A partition of the replay topic is not there yet.
    await eventually('both read the first topic', async () => (await shares([first, second])) === 2);
    await produce('a', ids(0));
    await eventually('the first topic is read', async () => (await rowsIn(first)) === 100);
    await create('b');
    await produce('b', ids(100));
    await eventually('the second topic is found', async () => (await rowsIn(first)) === 200, 90_000);
    for (let from = 1_000; second.exit === undefined && from < 50_000; from += 100) await produce('a', ids(from));
    await eventually('one is killed', () => second.exit !== undefined);
    const third = serve({ config });
    await create('c');
    await produce('c', ids(100_000));
    const rows = async (): Promise<readonly { readonly id: number; readonly topic: string }[]> => {
      const found = await runProduct({ config, args: ['rows', 'events'] });
      return found.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly id: number; readonly topic: string });
    };
    await eventually(
      'the third topic is found',
      async () => (await rows()).filter(({ topic }) => topic === topicOf('c')).length === 100,
      90_000,
    );
    const read = await rows();
    expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
    expect([...new Set(read.map(({ topic }) => topic))].toSorted()).toEqual(['a', 'b', 'c'].map(topicOf));
    expect(read.filter(({ topic }) => topic === topicOf('b'))).toHaveLength(100);
    // Two of each topic: those of the route's own pattern are shown as those that it names.
    expect((await first.status()).tables[0]?.partitions.filter(({ committedOffset }) => committedOffset !== null)).toHaveLength(6);
    for (const one of [first, third]) expect((await one.terminate()).code, one.log).toBe(0);
    const audit = await runProduct({ config, args: ['audit', '--json'] });
    expect(JSON.parse(audit.stdout), audit.stdout).toMatchObject({ rows: read.length, sound: true });
  });
});
