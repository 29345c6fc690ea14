import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSession } from '../../src/app/session.ts';
import { randomInt } from '../../src/base/random.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { Session } from '../../src/index.ts';
import { MemoryPipeline, type TextRecord } from '../support/memory-pipeline.ts';
import { withTemporaryDirectory } from '../support/servers.ts';

/* A live read equals the table after the tail is committed: the product's own ingest commits it, over a broker in memory. */

const quick = 'maxBatchAge: 20ms, maxFetchWait: 20ms';

interface World {
  readonly pipeline: MemoryPipeline;
  readonly session: Session;
  readonly live: (table?: string) => Promise<readonly string[]>;
  readonly stored: (table?: string) => Promise<readonly string[]>;
  readonly version: (table?: string) => Promise<number>;
  readonly tail: (table?: string) => Promise<Readonly<Record<string, unknown>>>;
}

async function withWorld(yaml: string, topics: Readonly<Record<string, number>>, use: (world: World) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const pipeline = new MemoryPipeline(directory, yaml, topics);
    const config = {
      'tidewater.engine.threads': 1,
      'spark.sql.catalog.live': 'tidewater.LiveCatalog',
      'spark.sql.catalog.live.config': 'pipeline.yaml',
    };
    const session = createSession({ config }, () => ({ components: pipeline.components, close: () => Promise.resolve() }));
    const rows = async (sql: string): Promise<readonly string[]> => {
      const found = await (await session.sql(sql)).collect();
      return found.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))).toSorted();
    };
    try {
      await use({
        pipeline,
        session,
        live: (table = 'orders') => rows(`SELECT * FROM live.${table}`),
        stored: async (table = 'orders') => {
          const { format, location } = await pipeline.components.catalog.load(table);
          return rows(`SELECT * FROM ${format}.\`${location}\``);
        },
        version: async (table = 'orders') => (await (await pipeline.components.catalog.load(table)).refresh()).version,
        tail: async (table = 'orders') => {
          const [first] = await (await session.sql(`SELECT * FROM live.${table}.tail`)).collect();
          return JSON.parse(JSON.stringify(first, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))) as Record<
            string,
            unknown
          >;
        },
      });
    } finally {
      await session.stop();
      await pipeline.close();
    }
  });
}

const json = (record: object): TextRecord => ({ value: JSON.stringify(record) });

async function equalAfterIngest({ pipeline, live, stored }: World, table = 'orders'): Promise<readonly string[]> {
  const before = await live(table);
  await pipeline.ingest();
  expect(await stored(table)).toEqual(before);
  expect(await live(table)).toEqual(before);
  return before;
}

/** Tables without records store their marks seldom: rows are waited for. */
async function ingestedUntil({ pipeline, stored }: World, rows: Readonly<Record<string, number>>): Promise<void> {
  const has = async ([table, count]: readonly [string, number]): Promise<boolean> => (await stored(table).catch(() => [])).length === count;
  await pipeline.whileIngesting(async () => {
    while (!(await Promise.all(Object.entries(rows).map(has))).every(Boolean)) await sleep(50);
  });
}

describe.each(['delta', 'iceberg'] as const)('a live read of a table of %s', (format) => {
  it('X12: has rows of the table and of the tail, each once; letters are left out and counted', async () => {
    const yaml = `
pipeline: p
tables:
  - name: orders
    format: ${format}
    columns: [{ name: id, type: long }, { name: amount, type: "decimal(12,2)" }, { name: at, type: timestamp }, { name: _offset, type: long, from: offset }]
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
    await withWorld(yaml, { orders: 2, dlq: 1 }, async (world) => {
      const { pipeline, live, tail } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, amount: '1.10', at: '2026-01-01T00:00:00Z' }), json({ id: 2 })]);
      await pipeline.ingest();
      expect(await live()).toHaveLength(2);
      await pipeline.produce('orders', 0, [json({ id: 3, amount: '3.30' }), { value: 'poison' }, json({ id: 4 })]);
      await pipeline.produce('orders', 1, [json({ id: 5 }), { value: null }]);
      expect(await live()).toHaveLength(5);
      expect(await tail()).toMatchObject({ from_offset: 2, until_offset: 5, records: 5, rows: 3, dead_letters: 2 });
      await equalAfterIngest(world);
      expect(await tail()).toMatchObject({ records: 0, rows: 0, dead_letters: 0 });
    });
  });

  it('X12: computes transforms, expectations and filters as the ingest does', async () => {
    const yaml = `
pipeline: p
tables: [{ name: orders, format: ${format}, columns: [{ name: id, type: long }, { name: twice, type: long }, { name: day, type: string }], partitionBy: [day] }]
ingest:
  maxBatchAge: 20ms
  deadLetters: { topic: dlq }
  routes:
    - topics: [orders]
      table: orders
      columns: [{ name: id, type: long }, { name: day, type: string }]
      select: ["id", "id * 2 AS twice", "upper(day) AS day"]
      where: id % 3 <> 0
      expect: [{ name: small, condition: "id < 100" }]
`;
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline, tail } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, day: 'a' })]);
      await pipeline.ingest();
      await pipeline.produce(
        'orders',
        0,
        [2, 3, 4, 500, 6].map((id) => json({ id, day: 'b' })),
      );
      expect(await tail()).toMatchObject({ records: 5, rows: 2, dead_letters: 1, filtered: 2 });
      expect(await equalAfterIngest(world)).toHaveLength(3);
    });
  });

  it('X12: divides the records of a route', async () => {
    const yaml = `
pipeline: p
tables:
  - { name: a, format: ${format}, columns: [{ name: id, type: long }, { name: type, type: string }] }
  - { name: b, format: ${format}, columns: [{ name: id, type: long }, { name: type, type: string }] }
ingest:
  maxBatchAge: 20ms
  deadLetters: { topic: dlq }
  routes:
    - topics: [orders]
      divide: { member: type, tables: [{ table: a, values: [a] }, { table: b, values: [b] }] }
`;
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline, live } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, type: 'a' }), json({ id: 2, type: 'b' })]);
      await pipeline.ingest();
      await pipeline.produce('orders', 0, [json({ id: 3, type: 'a' }), json({ id: 4, type: 'c' }), json({ id: 5, type: 'b' })]);
      const b = await live('b');
      expect(await equalAfterIngest(world, 'a')).toHaveLength(2);
      expect(await world.stored('b')).toEqual(b);
    });
  });

  it('X12: has what the tail holds for a table that a template has made, also of partitions it was never in', async () => {
    const yaml = `
pipeline: p
tables: [{ name: events, format: ${format}, columns: [{ name: id, type: long }, { name: type, type: string }] }]
ingest:
  ${quick.replaceAll(', ', '\n  ')}
  deadLetters: { topic: dlq }
  routes: [{ topics: [orders], divide: { member: type, template: { table: "raw_{key}", like: events, max: 3 } } }]
`;
    await withWorld(yaml, { orders: 2, dlq: 1 }, async (world) => {
      const { pipeline, live, stored } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, type: 'a' }), json({ id: 2, type: 'b' }), json({ id: 3, type: 'a' })]);
      await ingestedUntil(world, { raw_a: 2, raw_b: 1 });
      await pipeline.produce('orders', 1, [
        json({ id: 4, type: 'a' }),
        { value: 'poison' },
        json({ id: 5, type: 'c' }),
        json({ id: 6, type: 'a' }),
      ]);
      await pipeline.produce('orders', 0, [json({ id: 7, type: 'A' }), json({ id: 8, type: 'b' }), json({ id: 9, type: 'a' })]);
      const [a, b, events] = [await live('raw_a'), await live('raw_b'), await live('events')];
      expect([a.length, b.length, events.length]).toEqual([5, 2, 0]);
      await expect(live('raw_c')).rejects.toMatchObject({
        code: 'LIVE_READ_TABLE_UNKNOWN',
        hint: expect.stringContaining('run the ingest') as string,
      });
      await ingestedUntil(world, { raw_a: 5, raw_b: 2, raw_c: 1 });
      for (const [table, rows] of [
        ['raw_a', a],
        ['raw_b', b],
        ['events', events],
      ] as const) {
        expect(await stored(table)).toEqual(rows);
        expect(await live(table)).toEqual(rows);
      }
      expect(await live('raw_c')).toHaveLength(1);
    });
  });

  it('X12: has the columns and types that the records of the tail call for, as the table has them later', async () => {
    const yaml = `
pipeline: p
tables:
  - name: orders
    format: ${format}
    evolve: { addColumns: true, widenTypes: true, relaxRequired: true }
    columns: [{ name: id, type: long }, { name: n, type: integer }, { name: at, type: "struct<x:int>" }]
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline, session, live } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, n: 1, at: { x: 1 } }), json({ id: 2, n: 2 })]);
      await pipeline.ingest();
      const before = await world.version();
      await pipeline.produce('orders', 0, [
        json({ id: 3, n: 3 }),
        json({ id: 4, n: 4, city: 'Kiel' }),
        json({ id: 5, n: 5_000_000_000, at: { x: 5, y: 'deep' }, tags: ['a', 'b'] }),
        { value: 'poison' },
      ]);
      const { fields } = await (await session.sql('SELECT * FROM live.orders')).schema;
      expect(fields.map(({ name, type }) => `${name} ${type.kind}`)).toEqual([
        'id long',
        'n long',
        'at struct',
        'city string',
        'tags list',
      ]);
      expect(await live()).toHaveLength(5);
      // Whoever reads changes nothing.
      expect(await world.version()).toBe(before);
      const [big] = await (await session.sql('SELECT sum(n) AS n, count(city) AS c, max(at.y) AS y FROM live.orders')).collect();
      expect(big).toMatchObject({ n: 5_000_000_010n, c: 1n, y: 'deep' });
      await equalAfterIngest(world);
    });
  });

  it('X12: folds the rows of a keyed table as its commit would', async () => {
    const yaml = keyedYaml(format, 'mode: upsert');
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline } = world;
      await pipeline.produce('orders', 0, [put(1, 'a'), put(2, 'b'), put(3, 'c')]);
      await pipeline.ingest();
      await pipeline.produce('orders', 0, [put(1, 'x'), put(2, null), put(4, 'd'), put(4, null), put(5, 'e'), put(1, 'y'), put(9, null)]);
      expect(await equalAfterIngest(world)).toHaveLength(3);
    });
  });

  it('X12: leaves what is late against the rows of the table', async () => {
    const yaml = keyedYaml(format, 'mode: upsert, orderBy: [n]');
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline, live } = world;
      await pipeline.produce('orders', 0, [put(1, 'a', 5), put(2, 'b', 5), put(3, 'c', 5)]);
      await pipeline.ingest();
      await pipeline.produce('orders', 0, [put(1, 'late', 4), put(2, 'same', 5), put(3, 'new', 6), put(4, 'd', 1), put(4, 'late', 0)]);
      const found = await live();
      expect(found.map((row) => (JSON.parse(row) as { readonly v: string }).v)).toEqual(['a', 'same', 'new', 'd']);
      await equalAfterIngest(world);
    });
  });

  it('X12: has the values of the table where records leave columns as they are', async () => {
    const yaml = keyedYaml(format, 'mode: patch');
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline } = world;
      await pipeline.produce('orders', 0, [put(1, 'a', 1), put(2, 'b', 2), put(3, 'c', 3)]);
      await pipeline.ingest();
      const partial = (id: number, record: object): TextRecord => ({ key: String(id), value: JSON.stringify(record) });
      await pipeline.produce('orders', 0, [
        partial(1, { n: 7 }),
        partial(2, { v: 'new' }),
        partial(8, { n: 8 }),
        partial(1, { w: 'w' }),
        partial(3, { n: 9, v: null }),
      ]);
      expect(await equalAfterIngest(world)).toHaveLength(4);
    });
  });

  it('X12: equals the table after the commit of any tail', async () => {
    const yaml = keyedYaml(format, 'mode: upsert, orderBy: [n], tombstoneRetention: 3650d').replace(
      'maxBatchAge: 20ms',
      'maxBatchAge: 300ms',
    );
    await withWorld(yaml, { orders: 3, dlq: 1 }, async (world) => {
      const random = new SeededRandom(11);
      await world.pipeline.produce('orders', 0, [put(0, 'first')]);
      await world.pipeline.ingest();
      for (let round = 0; round < 4; round += 1) {
        for (const partition of [0, 1, 2]) {
          // Keys of a partition are its own, as a producer divides them.
          const records = Array.from({ length: randomInt(random, 12) }, () => {
            const id = randomInt(random, 6) * 3 + partition;
            if (randomInt(random, 9) === 0) return { key: String(id), value: 'poison' };
            return randomInt(random, 4) === 0
              ? put(id, null, randomInt(random, 40))
              : put(id, `v${randomInt(random, 1_000)}`, randomInt(random, 40));
          });
          if (records.length > 0) await world.pipeline.produce('orders', partition, records);
        }
        await equalAfterIngest(world);
      }
    });
  });
});

function keyedYaml(format: string, mode: string): string {
  return `
pipeline: p
tables:
  - { name: orders, format: ${format}, ${mode}, keyColumns: [id], deleteWhen: tombstone, columns: ${keyedColumns} }
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
}

const keyedColumns =
  '[{ name: id, type: string, from: key, nullable: false }, { name: n, type: timestamp, from: timestamp, nullable: false }, { name: v, type: string }, { name: w, type: string }]';

/** `n`: when. */
function put(id: number, v: string | null, n = 1): TextRecord {
  return { key: String(id), value: v === null ? null : JSON.stringify({ v }), timestampMs: 1_700_000_000_000 + n };
}

describe('a live read of a twin', () => {
  it('X12: has the rows of its leader and of the tail, and the twin has them later', async () => {
    const yaml = `
pipeline: p
tables:
  - { name: orders, format: delta, columns: [{ name: id, type: long }, { name: at, type: timestamp }, { name: amount, type: "decimal(12,2)" }] }
  - { name: orders_ice, format: iceberg, twinOf: orders }
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
    await withWorld(yaml, { orders: 1, dlq: 1 }, async (world) => {
      const { pipeline, live, stored } = world;
      await pipeline.produce('orders', 0, [json({ id: 1, at: '2026-01-01T00:00:00Z', amount: '1.10' })]);
      await pipeline.ingest();
      await pipeline.produce('orders', 0, [json({ id: 2, amount: '2.20' }), json({ id: 3 })]);
      const rows = await live('orders_ice');
      expect(rows).toHaveLength(3);
      expect(await live('orders')).toEqual(rows);
      await pipeline.ingest();
      expect([await stored('orders'), await stored('orders_ice')]).toEqual([rows, rows]);
    });
  });
});

describe('a live read', () => {
  const yaml = (more = ''): string => `
pipeline: p
tables: [{ name: orders, format: delta, columns: [{ name: id, type: long }] }]
ingest: { ${quick}, ${more}routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;

  it('X12: is refused when the tail takes more than it may, with the lag', async () => {
    await withWorld(yaml(), { orders: 1, dlq: 1 }, async ({ pipeline, session }) => {
      await pipeline.produce('orders', 0, [json({ id: 1 })]);
      await pipeline.ingest();
      await pipeline.produce(
        'orders',
        0,
        Array.from({ length: 100 }, (_, id) => json({ id })),
      );
      const read = session.read.format('tidewater-live').option('config', 'pipeline.yaml').option('maxBytes', '1KiB').load('orders');
      await expect(read.collect()).rejects.toMatchObject({ code: 'LIVE_READ_TOO_FAR_BEHIND', context: { lag: 100n } });
      const within = session.read.format('tidewater-live').option('config', 'pipeline.yaml').load('orders');
      expect(await within.count()).toBe(101);
    });
  });

  it('X12: tells what stands against it', async () => {
    await withWorld(yaml(), { orders: 1, dlq: 1 }, async ({ pipeline, live }) => {
      await pipeline.produce('orders', 0, [json({ id: 1 })]);
      await pipeline.ingest();
      await expect(live('order')).rejects.toMatchObject({ code: 'LIVE_READ_TABLE_UNKNOWN', hint: 'did you mean "orders"?' });
      await pipeline.kafka.admin.deleteTopic('orders');
      await expect(live()).rejects.toMatchObject({ code: 'LIVE_READ_TOPIC_MISSING' });
      await pipeline.kafka.admin.ensureTopics([{ topic: 'orders', partitions: 1 }]);
      await expect(live()).rejects.toMatchObject({ code: 'LIVE_READ_DISCONTINUITY' });
    });
  });

  it('X12: stops where the ingest would stop', async () => {
    const stopping = yaml().replace('{ topic: dlq }', '{ topic: dlq, onReject: suspend }');
    await withWorld(stopping, { orders: 1, dlq: 1 }, async ({ pipeline, live }) => {
      await pipeline.produce('orders', 0, [json({ id: 1 })]);
      await pipeline.ingest();
      await pipeline.produce('orders', 0, [json({ id: 2 }), { value: 'poison' }]);
      await expect(live()).rejects.toMatchObject({ code: 'LIVE_READ_SUSPENDED' });
    });
  });

  it('X12: of a configuration that is named is refused in a confined session', async () => {
    const confined = createSession({ config: { 'tidewater.files.allowedLocations': '/tmp/nowhere' } });
    const load = (): unknown => confined.read.format('tidewater-live').option('config', '/etc/passwd').load('orders');
    expect(load).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_FEATURE' }));
    await confined.stop();
  });

  it('X12: reads no other version', async () => {
    await withWorld(yaml(), { orders: 1, dlq: 1 }, async ({ pipeline, session }) => {
      await pipeline.produce('orders', 0, [json({ id: 1 })]);
      await pipeline.ingest();
      const read = async (): Promise<unknown> => (await session.sql('SELECT * FROM live.orders VERSION AS OF 0')).collect();
      await expect(read()).rejects.toMatchObject({ code: 'UNSUPPORTED_FEATURE' });
    });
  });

  it('X12: has each record once while the ingest runs', async () => {
    await withWorld(yaml(), { orders: 2, dlq: 1 }, async ({ pipeline, session }) => {
      await pipeline.produce('orders', 0, [json({ id: 0 })]);
      await pipeline.ingest();
      await pipeline.whileIngesting(async () => {
        let produced = 1;
        for (let round = 0; round < 25; round += 1) {
          const count = 1 + (round % 7);
          await pipeline.produce(
            'orders',
            round % 2,
            Array.from({ length: count }, (_, index) => json({ id: produced + index })),
          );
          produced += count;
          const [row] = await (await session.sql('SELECT count(*) AS n, count(DISTINCT id) AS d, max(id) AS m FROM live.orders')).collect();
          expect(row).toMatchObject({ n: BigInt(produced), d: BigInt(produced), m: BigInt(produced - 1) });
        }
      });
    });
  });
});
