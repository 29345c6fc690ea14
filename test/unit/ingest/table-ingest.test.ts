import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { MemoryLedger } from '../../../src/ingest/memory/memory-ledger.ts';
import type { FetchedPartition, KafkaClient } from '../../../src/kafka/client.ts';
import { Bench, gate } from '../../support/ingest-bench.ts';

describe('sealing batches', () => {
  it('happens when enough rows, or enough bytes, are there', async () => {
    for (const [limit, by] of [
      [{ maxBatchRows: 10 }, 'rows'],
      [{ maxBatchBytes: 250 }, 'bytes'],
    ] as const) {
      const bench = new Bench();
      await bench.topic();
      await bench.start(limit);
      await bench.produce(9);
      await bench.produce(1);
      await bench.pass(10);
      expect(bench.sink.sealed).toEqual([`${by} 0:0-10`]);
      await bench.stop();
    }
  });

  it('happens when the oldest record of the batch has waited long enough', async () => {
    const bench = new Bench();
    await bench.topic(2);
    await bench.start({ maxBatchAgeMs: 500 });
    await bench.produce(3, 0);
    await bench.pass(400);
    await bench.produce(2, 1);
    expect(bench.sink.sealed).toEqual([]);
    await bench.pass(150);
    expect(bench.sink.sealed).toEqual(['age 0:0-3 1:0-2']);
    await bench.stop();
  });

  it('happens at the end: what was fetched is committed before the group is left', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.start();
    await bench.produce(3);
    await bench.pass(100);
    await bench.stop();
    expect(bench.sink.sealed).toEqual(['drain 0:0-3']);
    expect(bench.sink.marks.get('0')).toBe(3n);
    expect(bench.log.slice(-2)).toEqual(['draining', 'stopped']);
    expect(await bench.kafka.admin.groupOffsets('g', 'orders')).toEqual([{ topic: 'orders', partition: 0, offset: 3n }]);
  });
});

describe('back-pressure', () => {
  it('holds fetching back while too many bytes are under way, and lets it go on below half of that', async () => {
    const bench = new Bench();
    await bench.topic();
    const held = gate();
    bench.sink.held = held.opened;
    const ingest = await bench.start({ maxBatchRows: 5, maxBufferBytes: 400 });
    for (let batch = 0; batch < 10; batch += 1) {
      await bench.produce(5);
      await bench.pass(50);
    }
    const { bufferedBytes, batchesInFlight } = ingest.status;
    expect(bufferedBytes).toBeGreaterThan(400);
    expect(batchesInFlight).toBeLessThan(10);
    expect(bench.log).toContain('paused');
    held.open();
    await bench.pass(500);
    expect(bench.sink.marks.get('0')).toBe(50n);
    expect(bench.log.filter((entry) => entry === 'paused').length).toBe(bench.log.filter((entry) => entry === 'resumed').length);
    expect(ingest.status).toMatchObject({ bufferedBytes: 0, batchesInFlight: 0 });
    await bench.stop();
  });
});

describe('memory that tables share', () => {
  const hourMs = 3_600_000;

  it('is given back by a batch that is neither old nor large when there is no more of it', async () => {
    const bench = new Bench();
    bench.memory = new MemoryLedger({ sizeBytes: 400, shares: 2 });
    await bench.topic();
    await bench.start({ maxBatchAgeMs: hourMs });
    for (let batch = 0; batch < 10; batch += 1) {
      await bench.produce(5);
      await bench.pass(50);
    }
    await bench.pass(500);
    expect(bench.sink.marks.get('0')).toBe(50n);
    expect(new Set(bench.sink.batches.map(({ sealedBy }) => sealedBy))).toEqual(new Set(['memory']));
    await bench.stop();
    expect(bench.memory.status).toMatchObject({ heldBytes: 0, waiting: [] });
  });

  it('holds back a table whose commits wait, and lets it go on with them', async () => {
    const bench = new Bench();
    bench.memory = new MemoryLedger({ sizeBytes: 400, shares: 2 });
    await bench.topic();
    const held = gate();
    bench.sink.held = held.opened;
    const ingest = await bench.start({ maxBatchRows: 5 });
    for (let batch = 0; batch < 10; batch += 1) {
      await bench.produce(5);
      await bench.pass(50);
    }
    expect(ingest.status.batchesInFlight).toBeLessThan(10);
    expect(bench.memory.status.waiting).toEqual(['orders']);
    held.open();
    await bench.pass(500);
    expect(bench.sink.marks.get('0')).toBe(50n);
    await bench.stop();
  });
});

describe('back-pressure that was given up', () => {
  // What held fetching back was thrown away by a repositioning, and nothing was left to let it go on.
  it('ends with the bytes that caused it', async () => {
    const bench = new Bench();
    await bench.topic();
    const ingest = await bench.start({ maxBufferBytes: 10 });
    await bench.produce(4);
    await bench.pass(50);
    expect(bench.log.at(-1)).toBe('paused');
    ingest.onOutOfRange();
    await bench.pass(50);
    expect(ingest.status.partitions[0]?.nextOffset).toBe(4n);
    await bench.stop();
    expect(bench.sink.marks.get('0')).toBe(4n);
  });
});

describe('the place to read from', () => {
  it('is the mark of the table, whatever the group has published', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(10);
    bench.sink.marks.set('0', 7n);
    await bench.start({ maxBatchAgeMs: 100 });
    await bench.pass(300);
    expect(bench.sink.sealed).toEqual(['age 0:7-10']);
    expect(bench.sink.batches[0]?.ranges[0]?.expectedMark).toBe(7n);
    await bench.stop();
  });

  it('is sought again when a fetch starts somewhere else, and nothing of that fetch is used', async () => {
    const bench = new Bench();
    await bench.topic();
    const ingest = await bench.start({ maxBatchAgeMs: 100 });
    const topicId = await bench.kafka.admin.topicId('orders');
    const astray: FetchedPartition = {
      topic: 'orders',
      topicId,
      partition: 0,
      fetchOffset: 4n,
      untilOffset: 9n,
      highWatermark: 9n,
      batches: [],
    };
    ingest.onFetched(astray);
    expect(ingest.status.partitions).toEqual([{ topic: 'orders', partition: 0, nextOffset: 0n, discontinuity: undefined }]);
    await bench.produce(2);
    await bench.pass(300);
    expect(bench.sink.sealed).toEqual(['age 0:0-2']);
    await bench.stop();
  });

  it('is read from the table again after a batch was discarded', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.start({ maxBatchRows: 5 });
    let discards = 1;
    bench.sink.answer = () => {
      if (discards-- <= 0) return undefined;
      // Another process committed a part of it.
      bench.sink.marks.set('0', 3n);
      return { kind: 'discarded', reason: 'progress-moved' };
    };
    await bench.produce(5);
    await bench.pass(100);
    await bench.produce(4);
    await bench.pass(100);
    await bench.stop();
    expect(bench.sink.sealed).toEqual(['rows 0:0-5', 'rows 0:3-5', 'drain 0:5-9']);
    expect(bench.sink.marks.get('0')).toBe(9n);
  });
});

describe('an assignment that ends', () => {
  it('discards what is not committed, and goes on at the mark in the next generation', async () => {
    const bench = new Bench();
    await bench.topic();
    const held = gate();
    bench.sink.held = held.opened;
    await bench.start({ maxBatchRows: 5 });
    await bench.produce(5);
    await bench.pass(50);
    const rebalanced = bench.broker.rebalance('g');
    held.open();
    await bench.pass(50);
    await rebalanced;
    bench.sink.held = undefined;
    await bench.pass(100);
    expect(bench.sink.sealed).toEqual(['rows 0:0-5', 'rows 0:0-5']);
    expect(bench.sink.marks.get('0')).toBe(5n);
    await bench.stop();
  });

  // A repositioning that was slower than the rebalance put the positions of the old assignment over those of the next one, whose
  // fetches were then dropped for ever.
  it('waits for a repositioning under way, which must not reach into the next one', async () => {
    const bench = new Bench();
    await bench.topic(2);
    const slow = gate();
    let [asked, slowFrom] = [0, Number.POSITIVE_INFINITY];
    const admin = {
      ...bench.kafka.admin,
      offsets: async (topic: string) => {
        asked += 1;
        const held = await bench.kafka.admin.offsets(topic);
        if (asked === slowFrom) await slow.opened;
        return held;
      },
    };
    const kafka: KafkaClient = {
      admin,
      consumer: (options) => bench.kafka.consumer(options),
      workGroup: (options) => bench.kafka.workGroup(options),
      producer: () => bench.kafka.producer(),
      openTransactional: (options) => bench.kafka.openTransactional(options),
      readPartition: (options) => bench.kafka.readPartition(options),
      readBatches: (options) => bench.kafka.readBatches(options),
      close: () => bench.kafka.close(),
    };
    const other = bench.broker.client('another').consumer({
      groupId: 'g',
      topics: ['orders'],
      handler: {
        onAssigned: () => Promise.resolve([]),
        onRevoked: () => Promise.resolve(),
        onTopicsChanged: () => Promise.resolve(),
        onFetched: () => undefined,
        onFailed: () => undefined,
      },
    });
    await other.start();
    await bench.start({ maxBatchRows: 5 }, kafka);
    let discards = 1;
    bench.sink.answer = () => (discards-- > 0 ? { kind: 'discarded', reason: 'progress-moved' } : undefined);
    slowFrom = asked + 1;
    for (const partition of [0, 1]) await bench.produce(5, partition);
    await bench.pass(50);
    const left = other.stop();
    await bench.pass(50);
    slow.open();
    await bench.pass(200);
    await left;
    await bench.pass(200);
    await bench.stop();
    expect(Object.fromEntries(bench.sink.marks)).toEqual({ 0: 5n, 1: 5n });
  });
});

it('says how much lies before it when it starts, also when it starts again after a failure that left it nothing to fetch', async () => {
  const bench = new Bench();
  await bench.topic(2);
  await bench.produce(5, 0);
  bench.sink.marks.set('0', 2n);
  await bench.start();
  expect(bench.placed).toEqual(['0: 3', '1: 0']);
  await bench.stop();
});

describe('a discontinuity', () => {
  it('keeps its partition from being read and shows in the state, while other partitions go on', async () => {
    const bench = new Bench();
    await bench.topic(2);
    await bench.produce(5, 0);
    await bench.produce(5, 1);
    bench.sink.marks.set('0', 9n);
    const ingest = await bench.start({ maxBatchAgeMs: 100 });
    await bench.pass(300);
    expect(bench.sink.sealed).toEqual(['age 1:0-5']);
    expect(ingest.status.state).toBe('discontinuity');
    expect(ingest.status.detail).toMatch(
      /^OFFSET_DISCONTINUITY: .*the table's next offset is 9.*; decide with ingest.onOffsetDiscontinuity: /,
    );
    expect(bench.log).toContainEqual(expect.stringContaining('decide with ingest.onOffsetDiscontinuity: '));
    expect(ingest.status.partitions.map(({ discontinuity }) => discontinuity !== undefined)).toEqual([true, false]);
    await bench.stop();
  });

  it('is passed as the operator chose, in a commit of its own before anything is read', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(5);
    bench.sink.marks.set('0', 9n);
    await bench.start({ maxBatchAgeMs: 100, onOffsetDiscontinuity: 'reset-to-earliest' });
    await bench.pass(300);
    expect(bench.sink.settled).toEqual(['0:0']);
    expect(bench.sink.sealed).toEqual(['age 0:0-5']);
    await bench.stop();
  });

  it('is found while reading, when retention overtakes the reader', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(4);
    const held = gate();
    bench.sink.held = held.opened;
    const ingest = await bench.start({ maxBatchRows: 4, maxBufferBytes: 10 });
    await bench.produce(6);
    bench.broker.deleteRecords({ topic: 'orders', partition: 0 }, 8n);
    held.open();
    await bench.pass(500);
    expect(ingest.status.state).toBe('discontinuity');
    expect(bench.log).toContainEqual(expect.stringContaining("discontinuity 0: the table's next offset is 4"));
    await bench.stop();
    expect(bench.sink.marks.get('0')).toBe(4n);
  });
});

describe('the end of an ingest', () => {
  it('is its failure when the table cannot take a batch; nothing is submitted after it', async () => {
    const bench = new Bench();
    await bench.topic();
    const ingest = await bench.start({ maxBatchRows: 5 });
    bench.sink.answer = () => {
      throw new ServiceError({ code: 'INGEST_SUSPENDED', kind: 'invalid', message: 'a record does not fit' });
    };
    await bench.produce(5);
    await bench.pass(200);
    await expect(bench.failure).rejects.toMatchObject({ code: 'INGEST_SUSPENDED' });
    expect(ingest.status).toMatchObject({ state: 'failed', detail: 'INGEST_SUSPENDED: a record does not fit' });
    await bench.produce(5);
    await bench.pass(200);
    expect(bench.sink.batches).toHaveLength(1);
  });

  it('does not come from group offsets that cannot be published', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.start({ maxBatchRows: 5 });
    bench.broker.inject({ operation: 'commit-offsets', when: 'before' });
    await bench.produce(5);
    await bench.pass(100);
    await bench.produce(5);
    await bench.pass(100);
    expect(bench.log).toContain('group offsets not published');
    expect(bench.sink.marks.get('0')).toBe(10n);
    await bench.stop();
  });
});
