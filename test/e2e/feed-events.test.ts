import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { consume, type Received } from '../support/checks-feed.ts';
import { eventually } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { Produced, pipelineCase } from '../support/process-workload.ts';
import { bothFormats, productBench } from '../support/product-bench.ts';
import { kafkaBrokers } from '../support/servers.ts';
import { testKafka } from '../support/test-kafka.ts';

interface Mark {
  readonly status: 'BEGIN' | 'END';
  readonly id: string;
  readonly event_count: number | null;
}

interface Event {
  readonly transaction: { readonly id: string; readonly total_order: number };
}

const valuesOf = (received: readonly Received[], topic: string): readonly unknown[] =>
  received.filter((message) => message.topic === topic && message.value !== null).map(({ value }) => JSON.parse(String(value)) as unknown);

const marksIn = (received: readonly Received[], topic: string): readonly Mark[] => valuesOf(received, topic) as readonly Mark[];

/** Ids of the marks that are open: begun and not ended. */
const openIn = (marks: readonly Mark[]): readonly string[] =>
  marks
    .filter(({ status, id }) => status === 'BEGIN' && !marks.some((mark) => mark.status === 'END' && mark.id === id))
    .map(({ id }) => id);

describe('what a feed tells beside its rows', () => {
  const { dir, workload, serve } = productBench('feed-events');

  it.each(bothFormats)(
    'X08: of %s a version in many Kafka transactions begins and ends once, killed between both',
    async (_, { label, iceberg }) => {
      const [marks, schema] = ['transaction', 'schema'].map((topic) => `${label}-${randomUUID().slice(0, 8)}.${topic}`) as [string, string];
      const feed = `start: earliest, maxTransactionRows: 20, transactions: { topic: ${marks} }, schemaChanges: { topic: ${schema} }`;
      const pipeline = pipelineCase(dir, `told-${label}`, { iceberg, otherFeeds: { told: feed } });
      const told = `${pipeline.name}.told`;
      const produced = new Produced();
      await workload.createTopic(pipeline);
      await workload.produce(pipeline, produced, 600);
      const first = serve(pipeline, { env: { FAILPOINT: 'after-transaction:kill:8' } });
      await eventually('it is killed', () => Promise.resolve(first.exit !== undefined));
      const begun = await consume(testKafka({ brokers: kafkaBrokers() }), [marks], (received) => received.length > 0);
      expect(openIn(marksIn(begun, marks)), 'the kill came between BEGIN and END').toHaveLength(1);
      const second = serve(pipeline);
      await untilThrough(second, pipeline, produced);
      expect((await second.terminate()).code, second.log).toBe(0);
      const all = await consume(
        testKafka({ brokers: kafkaBrokers() }),
        [marks, schema, told],
        (received) => openIn(marksIn(received, marks)).length === 0,
      );
      const ends = marksIn(all, marks);
      const orders = new Map<string, number[]>();
      for (const { transaction } of valuesOf(all, told) as readonly Event[]) {
        orders.set(transaction.id, [...(orders.get(transaction.id) ?? []), transaction.total_order]);
      }
      const expected = [...orders].flatMap(([id, numbers]) => [
        { status: 'BEGIN', id, count: null },
        { status: 'END', id, count: numbers.length },
      ]);
      const byId = (one: { readonly id: string }, other: { readonly id: string }): number =>
        Number(one.id > other.id) - Number(one.id < other.id);
      expect(ends.map(({ status, id, event_count: count }) => ({ status, id, count })).toSorted(byId)).toEqual(expected.toSorted(byId));
      for (const numbers of orders.values()) expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_number, index) => index + 1));
      const [create, ...others] = valuesOf(all, schema);
      expect(create).toMatchObject({ tableChanges: [{ type: 'CREATE' }] });
      expect(others).toEqual([]);
    },
  );
});
