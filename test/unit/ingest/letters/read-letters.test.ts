import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { DeadLetterTopic } from '../../../../src/ingest/dead-letter-topic.ts';
import { type LetterFilter, readLetter, readLetters } from '../../../../src/ingest/letters/read-letters.ts';
import type { StoredLetter } from '../../../../src/ingest/letters/stored-letter.ts';
import type { KafkaClient } from '../../../../src/kafka/client.ts';
import type { RejectedRecord } from '../../../../src/protocol/sealed-batch.ts';
import { writerIdOf } from '../../../../src/protocol/source-offsets.ts';
import { MemoryBroker } from '../../../support/kafka/memory-broker.ts';
import { StepClock } from '../../../support/step-clock.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const writtenAt = Date.UTC(2026, 0, 2);

class Bench {
  readonly clock: StepClock = new StepClock(writtenAt);
  readonly client: KafkaClient = new MemoryBroker({ clock: this.clock, random: new SeededRandom(1) }).client('test');

  async write(table: string, rest: Partial<RejectedRecord>): Promise<void> {
    const reject: RejectedRecord = {
      topic: 'orders',
      partition: 0,
      offset: 7n,
      timestampMs: 1_700_000_000_123,
      key: utf8('k'),
      value: utf8('{"id":'),
      headers: [['trace', utf8('t1')]],
      reason: 'invalid-json',
      message: 'not valid JSON at byte 6',
      ...rest,
    };
    const { topic, partition, offset } = reject;
    const writerId = writerIdOf({ pipeline: 'p', clusterId: 'c', topic, topicId: 'first' }, partition);
    const range = { topic, partition, from: offset, until: offset + 1n, expectedMark: offset, writerId };
    const { client: kafka, clock } = this;
    const options = {
      policy: 'dead-letter',
      oversize: 'truncate',
      topic: 'dead',
      partitions: 2,
      pipeline: 'p',
      table,
      kafka,
      clock,
    } as const;
    const sink = new DeadLetterTopic(options);
    await sink.write({ ranges: [range] }, [reject]);
    await sink.close();
  }

  async list(filter: LetterFilter = {}): Promise<readonly StoredLetter[]> {
    const letters: StoredLetter[] = [];
    for await (const letter of readLetters(this.client, { topic: 'dead', filter })) letters.push(letter);
    return letters;
  }
}

describe('letters that are read back', () => {
  it('tell why, when and where, and hold the record as it was', async () => {
    const bench = new Bench();
    expect(await bench.list()).toEqual([]);
    await bench.write('a:b', { partition: 3 });
    const [letter] = await bench.list();
    expect(letter).toMatchObject({
      place: { topic: 'dead', partition: 1, offset: 0n },
      table: 'a:b',
      pipeline: 'p',
      reason: 'invalid-json',
      stage: 'VALUE_CONVERTER',
      message: 'not valid JSON at byte 6',
      rejectedAt: '2026-01-02T00:00:00.000Z',
      source: { topic: 'orders', partition: 3, offset: 7n },
      untilOffset: undefined,
      cut: [],
      timestampMs: 1_700_000_000_123,
    });
    expect([textOf(letter?.key), textOf(letter?.value)]).toEqual(['k', '{"id":']);
    expect(letter?.headers.map(([name, value]) => [name, textOf(value)])).toEqual([['trace', 't1']]);
    expect(await readLetter(bench.client, { topic: 'dead', partition: 1, offset: 0n })).toEqual(letter);
  });

  it.each([
    [{ reason: 'wrong-type' }, 'VALUE_CONVERTER'],
    [{ reason: 'wrong-type', part: 'key' }, 'KEY_CONVERTER'],
    [{ reason: 'duplicate-member', part: 'headers' }, 'HEADER_CONVERTER'],
    [{ reason: 'expectation-failed' }, 'TRANSFORMATION'],
    [{ reason: 'corrupt-batch' }, 'KAFKA_CONSUME'],
  ] as const)('tell at which stage %j failed', async (rest, stage) => {
    const bench = new Bench();
    await bench.write('a', rest);
    expect((await bench.list()).map((letter) => letter.stage)).toEqual([stage]);
  });

  it('are chosen by table, topic, reason and the time they were written', async () => {
    const bench = new Bench();
    await bench.write('one', { offset: 1n });
    await bench.clock.sleep(1_000);
    await bench.write('two', { offset: 2n, reason: 'wrong-type' });
    await bench.write('two', { offset: 3n, topic: 'returns' });
    const rejected = (await bench.list()).map(({ rejectedAt }) => Date.parse(rejectedAt ?? ''));
    const second = Math.max(...rejected);
    expect(second).toBeGreaterThan(writtenAt);
    const offsets = async (filter: LetterFilter): Promise<readonly unknown[]> =>
      (await bench.list(filter)).map(({ source }) => source.offset);
    expect(await offsets({ table: 'two' })).toEqual([2n, 3n]);
    expect(await offsets({ topic: 'returns' })).toEqual([3n]);
    expect(await offsets({ reason: 'wrong-type' })).toEqual([2n]);
    expect(await offsets({ sinceMs: writtenAt + 1 })).toEqual([2n, 3n]);
    expect(await offsets({ untilMs: writtenAt + 1 })).toEqual([1n]);
    expect(await offsets({ table: 'one', reason: 'wrong-type' })).toEqual([]);
  });

  it('keep apart what a letter tells and what the record had from the letter that it was before', async () => {
    const bench = new Bench();
    await bench.write('one', {});
    const [first] = await bench.client.admin.offsets('dead');
    const before: (readonly [string, Uint8Array])[] = [];
    const range = { topic: 'dead', partition: 0, from: first?.earliest ?? 0n, until: first?.latest ?? 0n };
    for await (const record of bench.client.readPartition(range)) before.push(...record.headers);
    await bench.write('two', { topic: 'dead', offset: 40n, headers: before });
    const [again] = await bench.list({ table: 'two' });
    expect(again?.source).toEqual({ topic: 'dead', partition: 0, offset: 40n });
    expect(again?.headers).toEqual(before);
  });

  it('give back headers of the record that are named like those of a letter', async () => {
    const bench = new Bench();
    const own = [
      ['a', utf8('1')],
      ['__connect.errors.topic', utf8('theirs')],
      ['tidewater.dlq.reason', utf8('theirs')],
    ] as const;
    await bench.write('t', { headers: own });
    const [letter] = await bench.list();
    expect(letter?.headers.map(([name, value]) => [name, textOf(value)])).toEqual(own.map(([name, value]) => [name, textOf(value)]));
    expect(letter?.source).toEqual({ topic: 'orders', partition: 0, offset: 7n });
  });

  it('say what was cut, and which offsets a batch had that could not be opened', async () => {
    const bench = new Bench();
    await bench.write('t', {
      reason: 'corrupt-batch',
      unopened: { until: 12n, records: 5 },
      cut: [{ part: 'value', bytes: 99, sha256: 'ab' }],
    });
    const [letter] = await bench.list();
    expect(letter).toMatchObject({ untilOffset: 12n, cut: [{ part: 'value', bytes: '99', sha256: 'ab' }] });
    expect(letter?.headers.map(([name]) => name)).toEqual(['trace']);
  });

  it('are refused by name where there is none', async () => {
    const bench = new Bench();
    const at = (partition: number, offset: bigint): Promise<StoredLetter> => readLetter(bench.client, { topic: 'dead', partition, offset });
    await expect(at(0, 0n)).rejects.toThrow('no letter at offset 0 of partition 0 of topic "dead": the topic has no such partition');
    await bench.write('t', {});
    await expect(at(0, 99n)).rejects.toMatchObject({ code: 'DEAD_LETTER_NOT_FOUND', kind: 'not-found' });
  });
});
