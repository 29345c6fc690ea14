import { describe, expect, it } from 'vitest';
import type { FreshnessRequest, TableFreshness } from '../../../src/admin/freshness.ts';
import { topicFreshness, untilFresh } from '../../../src/app/freshness/topic-freshness.ts';
import { MemoryPipeline } from '../../support/memory-pipeline.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';

/* The product's own ingest over a broker in memory; the tables are on disk. */

const quick = 'maxBatchAge: 20ms, maxFetchWait: 20ms';

async function withPipeline(
  yaml: string,
  topics: Readonly<Record<string, number>>,
  use: (pipeline: MemoryPipeline) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const pipeline = new MemoryPipeline(directory, yaml, topics);
    try {
      await use(pipeline);
    } finally {
      await pipeline.close();
    }
  });
}

async function statesOf(
  { components }: MemoryPipeline,
  request: Omit<FreshnessRequest, 'topic'> & { readonly topic?: string },
): Promise<Readonly<Record<string, TableFreshness['state']>>> {
  const { tables } = await topicFreshness({ components, kafka: components.kafka }, { topic: 'orders', ...request });
  return Object.fromEntries(tables.map(({ table, state }) => [table, state]));
}

const json = (record: object): { readonly value: string } => ({ value: JSON.stringify(record) });

describe.each(['delta', 'iceberg'] as const)('where a record is, in tables of %s', (format) => {
  it('tells rows, letters and what is still to come, each as the tables and the topics have it', async () => {
    const yaml = `
pipeline: p
tables: [{ name: orders, format: ${format}, columns: [{ name: id, type: long }] }]
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }], deadLetters: { topic: dlq } }
`;
    await withPipeline(yaml, { orders: 2, dlq: 1 }, async (pipeline) => {
      expect(await statesOf(pipeline, { partition: 0, offset: 0n })).toEqual({ orders: 'no-table' });
      await pipeline.produce('orders', 0, [json({ id: 1 }), { value: 'poison' }, json({ id: 3 })]);
      await pipeline.ingest();
      const { tables, endOffset } = await topicFreshness(
        { components: pipeline.components, kafka: pipeline.kafka },
        {
          topic: 'orders',
          partition: 0,
          offset: 1n,
        },
      );
      expect(endOffset).toBe(3n);
      expect(tables).toMatchObject([
        { state: 'dead-letter', letter: { topic: 'dlq', partition: 0, offset: 0n, reason: 'invalid-json' }, commit: { deadLettered: 1 } },
      ]);
      expect(await statesOf(pipeline, { partition: 0, offset: 2n })).toEqual({ orders: 'visible' });
      await pipeline.produce('orders', 0, [json({ id: 4 })]);
      const later = await topicFreshness(
        { components: pipeline.components, kafka: pipeline.kafka },
        {
          topic: 'orders',
          partition: 0,
          offset: 5n,
        },
      );
      expect(later.tables).toMatchObject([{ state: 'not-yet', nextOffset: 3n, behind: 3n }]);
      // Without a broker a letter is not told from a row, and what is a row is.
      const alone = { components: pipeline.components, kafka: undefined };
      const found = await topicFreshness(alone, { topic: 'orders', partition: 0, offset: 2n });
      expect(found).toMatchObject({ endOffset: undefined, tables: [{ state: 'covered', commit: { rows: 2, deadLettered: 1 } }] });
    });
  });

  it('waits until every table has it, and tells how far the others are when time is over', async () => {
    const yaml = `
pipeline: p
tables:
  - { name: one, format: ${format}, columns: [{ name: id, type: long }] }
  - { name: other, format: ${format}, columns: [{ name: id, type: long }] }
ingest: { ${quick}, routes: [{ topics: [orders], table: one }, { topics: [orders], table: other }] }
`;
    await withPipeline(yaml, { orders: 1 }, async (pipeline) => {
      const request = { topic: 'orders', partition: 0, offset: 0n };
      const late = await untilFresh({ components: pipeline.components, kafka: pipeline.kafka }, request, { timeoutMs: 300 });
      expect(late.tables.map(({ state }) => state)).toEqual(['no-table', 'no-table']);
      const waited = await pipeline.whileIngesting(async () => {
        const waiting = untilFresh({ components: pipeline.components, kafka: pipeline.kafka }, request, { timeoutMs: 30_000 });
        await pipeline.produce('orders', 0, [json({ id: 1 })]);
        return waiting;
      });
      expect(waited.tables).toMatchObject([
        { table: 'one', state: 'visible' },
        { table: 'other', state: 'visible' },
      ]);
    });
  });

  it('says of a divided route which table takes the record', async () => {
    const yaml = `
pipeline: p
tables:
  - { name: a, format: ${format}, columns: [{ name: id, type: long }, { name: type, type: string }] }
  - { name: b, format: ${format}, columns: [{ name: id, type: long }, { name: type, type: string }] }
ingest:
  ${quick.replace(', ', '\n  ')}
  deadLetters: { topic: dlq }
  routes:
    - topics: [orders]
      divide: { member: type, tables: [{ table: a, values: [a] }, { table: b, values: [b] }] }
`;
    await withPipeline(yaml, { orders: 1, dlq: 1 }, async (pipeline) => {
      await pipeline.produce('orders', 0, [
        json({ id: 1, type: 'a' }),
        json({ id: 2, type: 'b' }),
        json({ id: 3, type: 'c' }),
        json({ id: 4, type: 'a' }),
      ]);
      await pipeline.produce('orders', 0, [json({ id: 5, type: 'b' })]);
      await pipeline.ingest(['a', 'b']);
      const at = async (offset: bigint): Promise<unknown> => statesOf(pipeline, { partition: 0, offset });
      expect(await at(0n)).toEqual({ a: 'visible', b: 'other-table' });
      expect(await at(1n)).toEqual({ a: 'other-table', b: 'visible' });
      expect(await at(2n)).toEqual({ a: 'dead-letter', b: 'other-table' });
      expect(await at(3n)).toEqual({ a: 'visible', b: 'other-table' });
    });
  });

  it('tells what a route leaves out from what it takes', async () => {
    const yaml = `
pipeline: p
tables: [{ name: orders, format: ${format}, columns: [{ name: id, type: long }] }]
ingest: { ${quick}, routes: [{ topics: [orders], table: orders, where: id > 1 }], deadLetters: { topic: dlq } }
`;
    await withPipeline(yaml, { orders: 1, dlq: 1 }, async (pipeline) => {
      await pipeline.produce('orders', 0, [json({ id: 1 }), json({ id: 2 }), { value: 'poison' }]);
      await pipeline.ingest();
      const at = async (offset: bigint): Promise<unknown> => statesOf(pipeline, { partition: 0, offset });
      expect(await at(0n)).toEqual({ orders: 'filtered' });
      expect(await at(1n)).toEqual({ orders: 'visible' });
      expect(await at(2n)).toEqual({ orders: 'dead-letter' });
    });
  });

  it('names no table for a topic that feeds none', async () => {
    const yaml = `
pipeline: p
tables: [{ name: orders, format: ${format}, columns: [{ name: id, type: long }] }]
ingest: { routes: [{ topics: [orders], table: orders }] }
`;
    await withPipeline(yaml, { orders: 1 }, async (pipeline) => {
      const asked = topicFreshness(
        { components: pipeline.components, kafka: pipeline.kafka },
        { topic: 'order', partition: 0, offset: 0n },
      );
      await expect(asked).rejects.toMatchObject({ code: 'FRESHNESS_NOT_FED', hint: 'did you mean "orders"?' });
    });
  });
});

describe('where a record is, in twins', () => {
  it('tells each table by its own commits', async () => {
    const yaml = `
pipeline: p
tables:
  - { name: orders, format: delta, columns: [{ name: id, type: long }] }
  - { name: lake, format: iceberg, twinOf: orders }
ingest: { ${quick}, routes: [{ topics: [orders], table: orders }] }
`;
    await withPipeline(yaml, { orders: 1 }, async (pipeline) => {
      await pipeline.produce('orders', 0, [json({ id: 1 }), json({ id: 2 })]);
      await pipeline.ingest();
      const { tables } = await topicFreshness(
        { components: pipeline.components, kafka: pipeline.kafka },
        {
          topic: 'orders',
          partition: 0,
          offset: 1n,
        },
      );
      expect(tables).toMatchObject([
        { table: 'orders', state: 'visible', commit: { rows: 2 } },
        { table: 'lake', state: 'visible', commit: { rows: 2 } },
      ]);
    });
  });
});
