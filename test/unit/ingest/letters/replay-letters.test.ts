import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { DeadLetterTopic } from '../../../../src/ingest/dead-letter-topic.ts';
import { CommittedRanges } from '../../../../src/ingest/letters/committed-ranges.ts';
import type { ReplayTable } from '../../../../src/ingest/letters/judge-letter.ts';
import { readLetters } from '../../../../src/ingest/letters/read-letters.ts';
import {
  type ReplayDependencies,
  type ReplayOutcome,
  type ReplayReport,
  type ReplayRequest,
  replayLetters,
} from '../../../../src/ingest/letters/replay-letters.ts';
import { readReplayed } from '../../../../src/ingest/letters/replayed-letters.ts';
import type { StoredLetter } from '../../../../src/ingest/letters/stored-letter.ts';
import type { KafkaClient, KafkaRecord, TransactionalProducer } from '../../../../src/kafka/client.ts';
import { printAccounting } from '../../../../src/protocol/commit-accounting.ts';
import { type ReplayedRecord, replayedOf } from '../../../../src/protocol/replayed-record.ts';
import type { RejectedRecord } from '../../../../src/protocol/sealed-batch.ts';
import { writerIdOf } from '../../../../src/protocol/source-offsets.ts';
import { MemoryBroker } from '../../../support/kafka/memory-broker.ts';
import { StepClock } from '../../../support/step-clock.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
/** The client with other transactional producers. */
function opening(kafka: KafkaClient, openTransactional: KafkaClient['openTransactional']): KafkaClient {
  return {
    admin: kafka.admin,
    consumer: (options) => kafka.consumer(options),
    producer: () => kafka.producer(),
    workGroup: (options) => kafka.workGroup(options),
    readPartition: (range) => kafka.readPartition(range),
    readBatches: (range) => kafka.readBatches(range),
    close: () => kafka.close(),
    openTransactional,
  };
}

const all: ReplayRequest = { filter: {}, again: false, dryRun: false };

class Bench {
  readonly clock: StepClock = new StepClock(Date.UTC(2026, 0, 2));
  readonly broker: MemoryBroker = new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) });
  kafka: KafkaClient = this.broker.client('test');
  readonly tables: Map<string, ReplayTable> = new Map([['t', { tableId: 'id-t', marks: new Map() }]]);
  readonly told: [bigint | undefined, ReplayOutcome][] = [];

  /** A letter of table `t`, whose table has passed it. */
  async write(
    offset: bigint,
    rest: Partial<RejectedRecord> = {},
    named: { pipeline?: string; table?: string; topicId?: string } = {},
  ): Promise<void> {
    const { pipeline = 'p', table = 't', topicId = 'first' } = named;
    const reject: RejectedRecord = {
      topic: 'orders',
      partition: 0,
      offset,
      timestampMs: 1_700_000_000_000 + Number(offset),
      key: utf8(`k${offset}`),
      value: utf8('{"id":'),
      headers: [['trace', utf8('t1')]],
      reason: 'invalid-json',
      message: 'not valid JSON at byte 6',
      ...rest,
    };
    const { topic, partition } = reject;
    const writerId = writerIdOf({ pipeline, clusterId: 'c', topic, topicId }, partition);
    const range = { topic, partition, from: offset, until: offset + 1n, expectedMark: offset, writerId };
    const { kafka, clock } = this;
    const to = { topic: 'dead', partitions: 1, pipeline, table, kafka, clock } as const;
    const sink = new DeadLetterTopic({ policy: 'dead-letter', oversize: 'truncate', ...to });
    await sink.write({ ranges: [range] }, [reject]);
    await sink.close();
    this.pass(table, writerId, offset + 1n);
  }

  pass(table: string, writerId: string, mark: bigint): void {
    const known = this.tables.get(table);
    if (known !== undefined) this.tables.set(table, { ...known, marks: new Map([...known.marks, [writerId, mark]]) });
  }

  replay(request: Partial<ReplayRequest> = {}, rest: Partial<ReplayDependencies> = {}): Promise<ReplayReport> {
    const { kafka, clock, tables } = this;
    const to = { kafka, clock, tables, pipeline: 'p', deadLetterTopic: 'dead', replayTopic: 'replay', partitions: 2, ...rest };
    return replayLetters(to, { ...all, ...request }, (letter, outcome) => {
      this.told.push([letter.source.offset, outcome]);
      return Promise.resolve();
    });
  }

  async replayed(): Promise<readonly (KafkaRecord & { readonly said: ReplayedRecord | undefined })[]> {
    const found: (KafkaRecord & { readonly said: ReplayedRecord | undefined })[] = [];
    if ((await this.kafka.admin.partitionCount('replay')) === undefined) return found;
    for (const { partition, earliest, latest } of await this.kafka.admin.offsets('replay'))
      for await (const record of this.kafka.readPartition({ topic: 'replay', partition, from: earliest, until: latest }))
        found.push({ ...record, said: replayedOf(record.headers) });
    return found;
  }

  async letters(): Promise<readonly StoredLetter[]> {
    const letters: StoredLetter[] = [];
    for await (const letter of readLetters(this.kafka, { topic: 'dead', filter: {} })) letters.push(letter);
    return letters;
  }
}

describe('replaying dead letters', () => {
  it('writes the record as it was, with where it came from, to the partition of its own', async () => {
    const bench = new Bench();
    expect(await bench.replay()).toEqual({ replayed: 0, replayedBefore: 0, otherPipelines: 0, refused: 0 });
    await bench.write(7n, { partition: 3 });
    expect(await bench.replay()).toMatchObject({ replayed: 1, refused: 0 });
    const [record, ...more] = await bench.replayed();
    expect(more).toEqual([]);
    expect(record).toMatchObject({ partition: 1, timestampMs: 1_700_000_000_007 });
    expect([textOf(record?.key), textOf(record?.value)]).toEqual(['k7', '{"id":']);
    expect(record?.headers.map(([name]) => name)).toEqual(['trace', 'tidewater.replay']);
    expect(record?.said).toMatchObject({
      letter: { topicId: await bench.kafka.admin.topicId('dead'), partition: 0, offset: 0n },
      ...{ pipeline: 'p', table: 't', tableId: 'id-t', topic: 'orders', partition: 3, offset: 7n, timestampMs: 1_700_000_000_007 },
      ...{
        reason: 'invalid-json',
        stage: 'VALUE_CONVERTER',
        times: 1,
        firstReason: 'invalid-json',
        firstRejectedAt: '2026-01-02T00:00:00.000Z',
      },
    });
    expect((await bench.kafka.admin.topicConfig('replay')).get('retention.ms')).toBe('-1');
  });

  it('replays each letter once, and again only when it is asked to', async () => {
    const bench = new Bench();
    for (const offset of [1n, 2n, 3n]) await bench.write(offset);
    expect(await bench.replay({ limit: 2 })).toMatchObject({ replayed: 2 });
    expect(await bench.replay()).toMatchObject({ replayed: 1, replayedBefore: 2 });
    expect(await bench.replay()).toMatchObject({ replayed: 0, replayedBefore: 3 });
    expect((await bench.replayed()).map(({ said }) => said?.offset)).toEqual([1n, 2n, 3n]);
    expect(await bench.replay({ again: true, limit: 1 })).toMatchObject({ replayed: 1, replayedBefore: 0 });
    expect(await bench.replayed()).toHaveLength(4);
  });

  it('writes nothing in a dry run, not even the topic', async () => {
    const bench = new Bench();
    await bench.write(1n);
    expect(await bench.replay({ dryRun: true })).toMatchObject({ replayed: 1 });
    expect(await bench.kafka.admin.partitionCount('replay')).toBeUndefined();
  });

  it('chooses by reason, stage, table and place', async () => {
    const bench = new Bench();
    await bench.write(1n);
    await bench.write(2n, { reason: 'wrong-type', part: 'key' });
    await bench.write(3n, { reason: 'wrong-type' });
    expect(await bench.replay({ filter: { reason: 'wrong-type', stage: 'KEY_CONVERTER' } })).toMatchObject({ replayed: 1 });
    expect(await bench.replay({ filter: { table: 'other' } })).toMatchObject({ replayed: 0, replayedBefore: 0 });
    const [first] = await bench.letters();
    const place = { partition: 0, offset: first?.place.offset ?? -1n };
    expect(await bench.replay({ places: [place, place] })).toMatchObject({ replayed: 1 });
    expect((await bench.replayed()).map(({ said }) => said?.offset)).toEqual([2n, 1n]);
    await expect(bench.replay({ places: [{ partition: 0, offset: 999n }] })).rejects.toMatchObject({ code: 'DEAD_LETTER_NOT_FOUND' });
  });

  it('refuses by name what it cannot replay, and leaves letters of other pipelines alone', async () => {
    const bench = new Bench();
    await bench.write(1n, { cut: [{ part: 'value', bytes: 99, sha256: 'ab' }] });
    await bench.write(2n, { reason: 'corrupt-batch', unopened: { until: 9n, records: 7 } });
    await bench.write(3n, {}, { table: 'gone' });
    await bench.write(4n, {}, { pipeline: 'q' });
    await bench.write(5n);
    await bench.write(6n);
    bench.pass('t', 'p:orders:0:c:first', 6n);
    expect(await bench.replay()).toEqual({ replayed: 1, replayedBefore: 0, otherPipelines: 1, refused: 4 });
    // What could be replayed is told when its transaction has ended.
    expect(bench.told.map(([offset, outcome]) => [offset, outcome.kind === 'refused' ? outcome.why : outcome.kind])).toEqual([
      [1n, 'not-whole'],
      [2n, 'unopened-batch'],
      [3n, 'no-table'],
      [6n, 'not-passed'],
      [5n, 'replayed'],
    ]);
  });

  it('leaves letters alone whose records their table has taken since, unless they are named again', async () => {
    const bench = new Bench();
    for (const offset of [1n, 2n, 3n]) await bench.write(offset);
    const commit = (from: bigint, until: bigint, deadLettered: number): { readonly userMetadata: string } => ({
      userMetadata: printAccounting({
        pipeline: 'p',
        ranges: [{ topic: 'orders', partition: 0, from, until }],
        ...{ records: 1, rows: 1, deadLettered, filtered: 0 },
      }),
    });
    const committed = (): Promise<CommittedRanges> => Promise.resolve(new CommittedRanges([commit(2n, 3n, 0), commit(1n, 2n, 1)], 'p'));
    const table = { tableId: 'id-t', marks: bench.tables.get('t')?.marks ?? new Map<string, bigint>(), committed };
    bench.tables.set('t', table);
    // Of the third nothing is known any more.
    expect(await bench.replay()).toEqual({ replayed: 2, replayedBefore: 0, otherPipelines: 0, refused: 1 });
    expect(bench.told[0]).toEqual([2n, { kind: 'refused', why: 'accepted' }]);
    // Commits of another incarnation of the topic may be those.
    bench.tables.set('t', { ...table, marks: new Map([...table.marks, ['p:orders:0:c:second', 9n]]) });
    expect(await bench.replay({ dryRun: true })).toMatchObject({ replayed: 1, replayedBefore: 2 });
    bench.tables.set('t', table);
    expect(await bench.replay({ places: [{ partition: 0, offset: 2n }], again: true })).toMatchObject({ replayed: 1, refused: 0 });
  });

  it('goes on where a replay ended between two transactions, and in one whose answer was lost', async () => {
    const bench = new Bench();
    for (let offset = 1n; offset <= 9n; offset += 1n) await bench.write(offset);
    const whole = bench.kafka;
    for (const landsFirst of [false, true]) {
      let published = 0;
      const publish = async (producer: TransactionalProducer, ...batches: Parameters<TransactionalProducer['publish']>): Promise<void> => {
        published += 1;
        if (published < 2 || landsFirst) await producer.publish(...batches);
        if (published === 2) throw new ServiceError({ code: 'KAFKA_UNKNOWN', kind: 'unknown-outcome', message: 'no answer' });
      };
      bench.kafka = opening(whole, async (options) => {
        const producer = await whole.openTransactional(options);
        return { publish: (...batches) => publish(producer, ...batches), close: () => producer.close() };
      });
      await expect(bench.replay({}, { maxParcelLetters: 2 })).rejects.toMatchObject({ kind: 'unknown-outcome' });
    }
    bench.kafka = whole;
    // 2 before the first end, 4 with the second, whose last transaction had landed.
    expect(await bench.replay({}, { maxParcelLetters: 2 })).toMatchObject({ replayedBefore: 6, replayed: 3 });
    expect((await bench.replayed()).map(({ said }) => said?.offset)).toEqual([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n]);
  });

  it('ends when another replay of the pipeline begins', async () => {
    const bench = new Bench();
    for (const offset of [1n, 2n, 3n]) await bench.write(offset);
    const { kafka } = bench;
    let second: ReplayReport | undefined;
    bench.kafka = opening(kafka, async (options) => {
      const producer = await kafka.openTransactional(options);
      const publish: TransactionalProducer['publish'] = async (...batches) => {
        second ??= await bench.replay({}, { kafka });
        await producer.publish(...batches);
      };
      return { publish, close: () => producer.close() };
    });
    await expect(bench.replay()).rejects.toMatchObject({ code: 'DEAD_LETTER_REPLAY_FENCED', kind: 'fenced' });
    expect(second).toMatchObject({ replayed: 3 });
    expect(await bench.replayed()).toHaveLength(3);
  });

  it('does not take a topic that was made anew for one that nothing was replayed to', async () => {
    const bench = new Bench();
    await bench.write(1n);
    await bench.replay();
    bench.pass(
      't',
      writerIdOf({ pipeline: 'p', clusterId: 'c', topic: 'replay', topicId: await bench.kafka.admin.topicId('replay') }, 0),
      1n,
    );
    expect(await bench.replay()).toMatchObject({ replayedBefore: 1 });
    await bench.kafka.admin.deleteTopic('replay');
    await expect(bench.replay()).rejects.toMatchObject({ code: 'DEAD_LETTER_REPLAYS_LOST', kind: 'discontinuity' });
    expect(await bench.replay({ again: true })).toMatchObject({ replayed: 1 });
  });

  it('keeps the first reason, time and source of a record that fails again, and counts', async () => {
    const bench = new Bench();
    await bench.write(7n, { partition: 3 });
    await bench.replay();
    const [record] = await bench.replayed();
    const said = record?.said;
    await bench.clock.sleep(5_000);
    const topicId = await bench.kafka.admin.topicId('replay');
    const failed = { topic: 'replay', partition: 1, reason: 'wrong-type', replayed: said, timestampMs: 1_700_000_000_007 } as const;
    await bench.write(record?.offset ?? -1n, failed, { topicId });
    const [, again] = await bench.letters();
    expect(again).toMatchObject({
      reason: 'wrong-type',
      source: { topic: 'orders', partition: 3, offset: 7n },
      name: { source: `p:replay:1:c:${topicId}` },
      history: { times: 1, firstReason: 'invalid-json', firstRejectedAt: '2026-01-02T00:00:00.000Z' },
    });
    expect(again?.headers.map(([name]) => name)).toEqual(['trace']);
    // The first letter was replayed, this one was not.
    expect(await bench.replay()).toMatchObject({ replayed: 1, replayedBefore: 1 });
    const last = (await bench.replayed()).at(-1)?.said;
    expect(last).toMatchObject({ times: 2, reason: 'wrong-type', firstReason: 'invalid-json', topic: 'orders', partition: 3, offset: 7n });
    const known = await readReplayed(bench.kafka, {
      replayTopic: 'replay',
      topicId: await bench.kafka.admin.topicId('dead'),
      filter: { reason: 'wrong-type' },
    });
    expect(known.count).toBe(1);
  });
});
