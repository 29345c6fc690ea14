import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  sessionTimeout: 3s
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

  /** All rows of the tables, read by one process: ids in order by kind, of each table. */
  const rowsIn = async (
    config: string,
    tables: ReadonlyMap<string, 'delta' | 'iceberg'>,
  ): Promise<Record<string, Record<string, number[]>>> => {
    const parts = [...tables].map(
      ([table, format]) => `SELECT '${table}' AS t, kind, id FROM ${format}.\`${join(dirname(config), 'tables', table)}\``,
    );
    const { stdout, log } = await runProduct({ config, args: ['sql', '--json', '-e', `${parts.join(' UNION ALL ')} ORDER BY id`] });
    const found: Record<string, Record<string, number[]>> = {};
    try {
      for (const line of stdout.split('\n').filter((each) => each !== '')) {
        const { t, kind, id } = JSON.parse(line) as { readonly t: string; readonly kind: string; readonly id: number };
        ((found[t] ??= {})[kind] ??= []).push(id);
      }
    } catch (cause) {
      throw new Error(log, { cause });
    }
    return found;
  };

  it.each([
    [5, 'iceberg', 'commit-applied:kill:20'],
    [5, 'delta', 'after-dead-letters:kill:2'],
  ] as const)(
    'P01: %i %s tables after %s',
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
      const countIn = async (one: ProductProcess): Promise<number> =>
        (await one.status()).tables.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
      const first = serve({ config });
      await produce();
      await eventually('the first records are there', async () => (await countIn(first)) === total(), 90_000);
      const second = serve({ config }, { env: { FAILPOINT: failpoint } });
      for (let round = 0; second.exit === undefined && round < 300; round += 1) await produce();
      await eventually('one is killed', () => second.exit !== undefined, 60_000);
      const third = serve({ config });
      await produce();
      await eventually('all records are there', async () => (await countIn(first)) === total(), 120_000);
      const rows = await rowsIn(config, new Map(tables.map((table) => [table, format])));
      expect(rows).toEqual(Object.fromEntries(tables.map((table) => [table, { [table]: expected.get(table) }])));
      const listed = await runProduct({ config, args: ['dlq', 'list', '--json', '--limit', '100000'] });
      const found = listed.stdout.split('\n').filter((line) => line.includes('"offset"'));
      expect(found.length, listed.log).toBe(letters);
      for (const one of [first, third]) expect((await one.terminate()).code, one.log).toBe(0);
      const audit = await runProduct({ config, args: ['audit', '--json'] });
      expect(audit.code, audit.log).toBe(0);
      const offsets = await runProduct({ config, args: ['offsets', '--json'] });
      const hints = offsets.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { readonly table: string; readonly groupOffset: number | null });
      expect(new Set(hints.map(({ table }) => table))).toEqual(new Set(tables));
      expect(hints.filter(({ groupOffset }) => groupOffset === null)).toEqual([]);
    },
    300_000,
  );

  /* Ten tables of either format are listed, ten more are made; processes are killed where tables are made, and between a commit and its offsets. */
  it('P01: twenty lanes, half of them made by a template, lose and double nothing when processes are killed and a table stands still, and read what the broker has once', async () => {
    const name = `made-${randomUUID().slice(0, 8)}`;
    const config = join(dir, name, 'pipeline.yaml');
    mkdirSync(join(dir, name));
    const listed = Array.from({ length: 10 }, (_, index) => `t${index}`);
    const keys = Array.from({ length: 10 }, (_, index) => `Key-${index}`);
    const made = new Map(keys.map((key) => [`made_${key.toLowerCase().replace('-', '_')}`, key]));
    const columns = 'columns: [{ name: id, type: long, nullable: false }, { name: kind, type: string }]';
    writeFileSync(
      config,
      `pipeline: ${name}
dataDir: ${join(dir, name)}
kafka: { brokers: [${kafkaBrokers().join(', ')}] }
redis: { url: "${redisUrl()}" }
tables:
${listed.map((table, index) => `  - { name: ${table}, format: ${index % 2 === 0 ? 'delta' : 'iceberg'}, ${columns} }`).join('\n')}
  - { name: others, ${columns} }
ingest:
  maxBatchAge: 300ms
  sessionTimeout: 3s
  routes:
    - topics: [${name}]
      divide:
        member: kind
        tables:
${listed.map((table) => `          - { table: ${table}, values: [${table}] }`).join('\n')}
        template: { table: "made_{key}", like: others, max: ${keys.length} }
maintenance: { enabled: false }
server: { port: 0 }
logging: { format: json, level: info }
`,
    );
    await workload.createTopic({ topic: name, partitions: 4 });
    const expected = new Map<string, number[]>([...listed, ...made.values()].map((kind) => [kind, []]));
    let id = 0;
    let letters = 0;
    const produce = async (kinds: readonly string[], padding?: string): Promise<void> => {
      const producer = workload.kafka.producer({ idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      for (let partition = 0; partition < 4; partition += 1) {
        const messages = kinds.map((kind) => {
          id += 1;
          expected.get(kind)?.push(id);
          return { value: JSON.stringify({ id, kind, padding }), partition };
        });
        letters += 1;
        const compression = padding === undefined ? CompressionTypes.GZIP : CompressionTypes.None;
        await producer.send({ topic: name, messages: [...messages, { value: 'poison', partition }], compression });
      }
      await producer.disconnect();
    };
    const total = (left: readonly string[] = []): number =>
      [...expected].reduce((sum, [kind, ids]) => sum + (left.includes(kind) ? 0 : ids.length), 0);
    const countIn = async (one: ProductProcess, left: readonly string[] = []): Promise<number> =>
      (await one.status()).tables.reduce((sum, { name: table, rowCount }) => sum + (left.includes(table) ? 0 : (rowCount ?? 0)), 0);
    // The first to make a table is alone, so that it is who dies of it.
    const maker = serve({ config }, { env: { FAILPOINT: 'before-table-made:kill:1' } });
    await produce([...listed, ...keys.slice(0, 1)]);
    await eventually('one is killed that was to make a table', () => maker.exit !== undefined, 120_000);
    const first = serve({ config });
    for (const [round, point] of ['table-made:kill:1', 'commit-applied:kill:7'].entries()) {
      const second = serve({ config }, { env: { FAILPOINT: point } });
      // New keys each time, which both processes may be the first to meet.
      const kinds = [...listed, ...keys.slice(0, 4 * round + 5)];
      await eventually(
        `one reads that is to be killed at ${point}`,
        () => second.exit !== undefined || second.log.includes('partitions assigned'),
        180_000,
      );
      for (let tried = 0; second.exit === undefined && tried < 60; tried += 1) await produce(kinds);
      await eventually(`one is killed at ${point}`, () => second.exit !== undefined, 120_000);
    }
    await produce([...listed, ...keys]);
    await eventually('all records are there', async () => (await countIn(first)) === total(), 120_000);
    // One table stands still: where it lies is something else for a while.
    const place = join(dir, name, 'tables', 't0');
    renameSync(place, `${place}.away`);
    writeFileSync(place, '');
    await produce([...listed, ...keys]);
    await eventually('the others go on', async () => (await countIn(first, ['t0'])) === total(['t0']), 120_000);
    rmSync(place);
    renameSync(`${place}.away`, place);
    expect((await first.terminate()).code, first.log).toBe(0);
    const third = serve({ config });
    await eventually('the table has caught up', async () => (await countIn(third)) === total(), 120_000);
    // What the broker sends is sent once, for all lanes.
    const readBefore = bytesReadBy(third.pid);
    const padding = randomBytes(24 * 1024).toString('base64');
    for (let round = 0; round < 4; round += 1) await produce([...listed, ...keys], padding);
    await eventually('the large records are there', async () => (await countIn(third)) === total(), 120_000);
    const sent = 16 * (listed.length + keys.length) * padding.length;
    const read = bytesReadBy(third.pid) - readBefore;
    if (process.platform === 'linux') expect(read / sent).toBeGreaterThan(1);
    expect(read / sent).toBeLessThan(2);
    expect((await third.terminate()).code, third.log).toBe(0);
    const tables = [...listed.map((table) => [table, table] as const), ...made];
    const rows = await rowsIn(
      config,
      new Map(tables.map(([table], index) => [table, index < 10 && index % 2 === 1 ? 'iceberg' : 'delta'])),
    );
    expect(rows).toEqual(Object.fromEntries(tables.map(([table, kind]) => [table, { [kind]: expected.get(kind) }])));
    const found = await runProduct({ config, args: ['dlq', 'list', '--json', '--limit', '100000'] });
    expect(found.stdout.split('\n').filter((line) => line.includes('"offset"')).length, found.log).toBe(letters);
    const audit = await runProduct({ config, args: ['audit', '--json'] });
    expect(audit.code, audit.log).toBe(0);
    expect(audit.stdout.split('\n').filter((line) => line.includes('made_key_')).length).toBe(keys.length);
  }, 600_000);
});

/** From files and sockets; the kernel counts. */
function bytesReadBy(pid: number): number {
  if (process.platform !== 'linux') return 0;
  return Number(/rchar: (\d+)/u.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? 0);
}
