import { describe, expect, it } from 'vitest';
import { Bench, gate } from '../../support/ingest-bench.ts';

describe('a topic that is deleted and created again while it is read', () => {
  async function recreated(settings: Parameters<Bench['start']>[0], partitions = 1): Promise<Bench> {
    const bench = new Bench();
    await bench.topic();
    await bench.start({ maxBatchAgeMs: 100, ...settings });
    await bench.produce(400);
    await bench.pass(20);
    // Not committed yet: the batch is still open.
    expect(bench.sink.sealed).toEqual([]);
    await bench.kafka.admin.deleteTopic('orders');
    await bench.topic(partitions);
    await bench.produce(1_000);
    await bench.pass(500);
    return bench;
  }

  it('stands still loudly under the policy fail; what was fetched of the old one is committed as the old one', async () => {
    const bench = await recreated({});
    expect(bench.sink.sealed).toEqual(['drain 0:0-400']);
    expect(bench.log).toContainEqual(expect.stringContaining('another incarnation of the topic'));
    expect(bench.log.at(-1)).toBe('discontinuity');
    await bench.stop();
  });

  it.each(['accept', 'reset-to-earliest'] as const)('is read from its beginning under %s, and no batch holds both', async (policy) => {
    const bench = await recreated({ onOffsetDiscontinuity: policy });
    expect(bench.sink.settled).toEqual(['0:0']);
    expect(bench.sink.sealed).toEqual(['drain 0:0-400', 'rows 0:0-1000']);
    expect(new Set(bench.sink.batches.map(({ ranges }) => ranges[0]?.writerId)).size).toBe(2);
    await bench.stop();
  });

  it('is read from where it ended when that was decided under reset-to-latest', async () => {
    const bench = await recreated({ onOffsetDiscontinuity: 'reset-to-latest' });
    const [at] = bench.sink.settled;
    await bench.produce(7);
    await bench.pass(300);
    const from = Number(at?.split(':')[1]);
    const read = bench.sink.batches.slice(1).reduce((sum, { recordCount }) => sum + recordCount, 0);
    expect(read).toBe(1_007 - from);
    await bench.stop();
  });

  it('stands still with partitions it did not have before as well', async () => {
    const bench = await recreated({}, 3);
    await bench.produce(5, 2);
    await bench.pass(300);
    expect(bench.sink.sealed).toEqual(['drain 0:0-400']);
    await bench.stop();
  });
});

describe('reading from the end of a topic', () => {
  it('skips nothing that came after the first look, in partitions that were idle or not committed before a crash', async () => {
    const bench = new Bench();
    await bench.topic(3);
    await bench.produce(100, 0);
    const held = gate();
    bench.sink.held = held.opened;
    await bench.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    expect(bench.sink.settled).toEqual(['0:100 1:0 2:0']);
    await bench.produce(100, 0);
    await bench.produce(100, 1);
    // The process dies with its first commit under way.
    bench.broker.crashClient('worker');
    await bench.pass(300);
    bench.sink.answer = () => ({ kind: 'discarded', reason: 'revoked' });
    held.open();
    await bench.pass(10);
    [bench.sink.held, bench.sink.answer] = [undefined, undefined];
    const second = new Bench(bench);
    await second.produce(100, 2);
    await second.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await second.pass(300);
    expect(Object.fromEntries(second.sink.marks)).toEqual({ 0: 200n, 1: 100n, 2: 100n });
    await second.stop();
  });

  it('is not running before the end is in the table: what is sent to a process that is ready is read, whenever it dies', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(100);
    const settling = gate();
    bench.sink.settling = settling.opened;
    const ingest = await bench.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await bench.pass(1_000);
    expect(ingest.status.state).toBe('joining');
    settling.open();
    await bench.pass(100);
    expect([ingest.status.state, bench.sink.settled]).toEqual(['running', ['0:100']]);
    await bench.stop();
  });

  it('reads a topic from its beginning that was not there before, and says so by no state but after the decision is in the table', async () => {
    const bench = new Bench();
    const settling = gate();
    bench.sink.settling = settling.opened;
    const ingest = await bench.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await bench.pass(300);
    expect(ingest.status.state).toBe('waiting-for-topic');
    await bench.topic(2);
    await bench.produce(100);
    await bench.pass(300);
    expect(ingest.status.state).toBe('joining');
    settling.open();
    await bench.pass(300);
    expect(ingest.status.state).toBe('running');
    expect(bench.sink.settled).toEqual(['0:0 1:0']);
    expect(bench.sink.sealed).toEqual(['age 0:0-100']);
    await bench.stop();
  });

  it('remembers that a topic was not there while the process lives, also when its ingest starts again', async () => {
    const bench = new Bench();
    await bench.start({ startFrom: 'latest' });
    await bench.stop();
    await bench.topic();
    await bench.produce(100);
    const again = new Bench(bench);
    again.awaitedTopics = bench.awaitedTopics;
    await again.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await again.pass(300);
    expect(again.sink.sealed).toEqual(['age 0:0-100']);
    await again.stop();
    const other = new Bench();
    await other.topic();
    await other.produce(100);
    await other.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await other.pass(300);
    expect([other.sink.settled, other.sink.sealed]).toEqual([['0:100'], []]);
    await other.stop();
  });

  it('reads a partition that is added later from its beginning', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(10);
    await bench.start({ startFrom: 'latest', maxBatchAgeMs: 100 });
    await bench.pass(100);
    bench.broker.addPartitions('orders', 2);
    await bench.produce(4, 1);
    await bench.pass(300);
    expect(bench.sink.sealed).toEqual(['age 1:0-4']);
    await bench.stop();
  });
});

describe('a topic that does not exist', () => {
  it('is waited for in a state that names it, spoken of seldom, and read as soon as it is there', async () => {
    const bench = new Bench();
    const ingest = await bench.start({ maxBatchAgeMs: 100 });
    expect(ingest.status.state).toBe('waiting-for-topic');
    expect(ingest.status.detail).toContain('waiting for topic "orders"');
    await bench.pass(200_000);
    expect(bench.log.filter((entry) => entry === 'waiting for topic')).toHaveLength(1);
    await bench.pass(200_000);
    expect(bench.log.filter((entry) => entry === 'waiting for topic')).toHaveLength(2);
    await bench.topic();
    await bench.produce(3);
    await bench.pass(300);
    expect(ingest.status.state).toBe('running');
    expect(bench.sink.sealed).toEqual(['age 0:0-3']);
    await bench.stop();
  });
});

describe('a quiet topic', () => {
  it('is not waited for, and is read from its beginning when it is there, wherever other topics start', async () => {
    const bench = new Bench();
    const ingest = await bench.start({ topics: [], quietTopics: ['orders'], startFrom: 'latest', maxBatchAgeMs: 100 });
    await bench.pass(300);
    expect(ingest.status.state).toBe('running');
    await bench.topic(2);
    await bench.produce(100);
    await bench.pass(10_000);
    expect(bench.sink.sealed).toEqual(['age 0:0-100 1:0-0']);
    await bench.stop();
    const second = new Bench(bench);
    await second.produce(7, 1);
    await second.start({ topics: [], quietTopics: ['orders'], startFrom: 'latest', maxBatchAgeMs: 100 });
    await second.pass(300);
    expect(Object.fromEntries(second.sink.marks)).toEqual({ 0: 100n, 1: 7n });
    await second.stop();
  });

  it('that is there before the first start is read from its beginning too, and its discontinuity is as loud as that of others', async () => {
    const bench = new Bench();
    await bench.topic();
    await bench.produce(5);
    const settings = { topics: [], quietTopics: ['orders'], startFrom: 'latest', maxBatchAgeMs: 100 } as const;
    const ingest = await bench.start(settings);
    await bench.pass(300);
    expect(Object.fromEntries(bench.sink.marks)).toEqual({ 0: 5n });
    await bench.kafka.admin.deleteTopic('orders');
    await bench.topic();
    await bench.pass(10_000);
    expect(ingest.status.state).toBe('discontinuity');
    await bench.stop();
  });
});
