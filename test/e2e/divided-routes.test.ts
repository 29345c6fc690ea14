import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompressionTypes } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { eventually, type ProductProcess, runProduct } from '../support/process.ts';
import { productBench } from '../support/product-bench.ts';
import { kafkaBrokers, redisUrl } from '../support/servers.ts';

/* One topic to many tables through one reader: two processes, one killed; each record in its table once, what no table takes a letter once. */

interface Route {
  readonly config: string;
  readonly topic: string;
  readonly tables: readonly string[];
}

describe('a topic whose records are divided among tables', () => {
  const { dir, workload, serve } = productBench('divided');

  function route(count: number, format: 'delta' | 'iceberg'): Route {
    const name = `divided-${randomUUID().slice(0, 8)}`;
    const config = join(dir, name, 'pipeline.yaml');
    mkdirSync(join(dir, name));
    const tables = Array.from({ length: count }, (_, index) => `t${index}`);
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
${tables.map((table) => `  - { name: ${table}, format: ${format}, columns: [{ name: id, type: long, nullable: false }, { name: kind, type: string }] }`).join('\n')}
ingest:
  maxBatchAge: 300ms
  sessionTimeout: 6s
  routes:
    - topics: [${name}]
      divide:
        member: kind
        tables:
${tables.map((table) => `          - { table: ${table}, values: [${table}] }`).join('\n')}
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    return { config, topic: name, tables };
  }

  const rowsOf = async ({ config }: Route, table: string): Promise<readonly { readonly id: number; readonly kind: string }[]> => {
    const { stdout, log } = await runProduct({ config, args: ['rows', table] });
    try {
      const lines = stdout.split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as { readonly id: number; readonly kind: string });
    } catch (cause) {
      throw new Error(log, { cause });
    }
  };

  it.each([
    [20, 'delta', 'commit-applied:kill:60'],
    [5, 'iceberg', 'commit-applied:kill:20'],
    [5, 'delta', 'after-dead-letters:kill:2'],
    [5, 'delta', 'after-fetch:kill:6'],
  ] as const)(
    '%i %s tables after %s',
    async (count, format, failpoint) => {
      const divided = route(count, format);
      const { config, topic, tables } = divided;
      await workload.createTopic({ topic, partitions: 4 });
      const expected = new Map<string, number[]>(tables.map((table) => [table, []]));
      let id = 0;
      let letters = 0;
      const produce = async (): Promise<void> => {
        const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
        await producer.connect();
        for (let partition = 0; partition < 4; partition += 1) {
          const messages = Array.from({ length: 2 * count + 2 }, () => {
            id += 1;
            const table = tables[id % (count + 1)];
            if (table === undefined) letters += 1;
            else expected.get(table)?.push(id);
            return { value: JSON.stringify({ id, kind: table ?? 'nobody' }), partition };
          });
          letters += 1;
          await producer.send({ topic, messages: [...messages, { value: 'poison', partition }], compression: CompressionTypes.GZIP });
        }
        await producer.disconnect();
      };
      const total = (): number => [...expected.values()].reduce((sum, ids) => sum + ids.length, 0);
      const rowsIn = async (one: ProductProcess): Promise<number> =>
        (await one.status()).tables.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
      const first = serve({ config });
      await produce();
      await eventually('the first records are there', async () => (await rowsIn(first)) === total(), 90_000);
      const second = serve({ config }, { env: { FAILPOINT: failpoint } });
      for (let round = 0; second.exit === undefined && round < 300; round += 1) await produce();
      await eventually('one is killed', () => second.exit !== undefined, 60_000);
      const third = serve({ config });
      await produce();
      await eventually('all records are there', async () => (await rowsIn(first)) === total(), 120_000);
      for (const table of tables) {
        const rows = await rowsOf(divided, table);
        expect(new Set(rows.map(({ kind }) => kind)), table).toEqual(new Set([table]));
        expect(
          rows.map((row) => row.id).toSorted((left, right) => left - right),
          table,
        ).toEqual(expected.get(table));
      }
      const listed = await runProduct({ config, args: ['dlq', 'list', '--json', '--limit', '100000'] });
      const found = listed.stdout.split('\n').filter((line) => line.includes('"offset"'));
      expect(found.length, listed.log).toBe(letters);
      for (const one of [first, third]) expect((await one.terminate()).code, one.log).toBe(0);
      const audit = await runProduct({ config, args: ['audit', '--json'] });
      expect(audit.code, audit.log).toBe(0);
    },
    300_000,
  );
});
