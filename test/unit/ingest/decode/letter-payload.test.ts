import { describe, expect, it } from 'vitest';
import { decodeRecordBatch } from '../../../../src/app/workers/decode-batch.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { schemaOfColumns } from '../../../../src/ingest/column-settings.ts';
import { DeadLetterTopic } from '../../../../src/ingest/dead-letter-topic.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import { letterColumns } from '../../../../src/ingest/letters/letter-members.ts';
import type { OutgoingRecord } from '../../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import type { RejectedRecord } from '../../../../src/protocol/sealed-batch.ts';
import { MemoryBroker } from '../../../support/kafka/memory-broker.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { rowsOf } from './decoding.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const at = Date.UTC(2026, 0, 2);

async function lettersOf(...rejects: readonly Partial<RejectedRecord>[]): Promise<readonly OutgoingRecord[]> {
  const clock = new StepClock(at);
  const kafka = new MemoryBroker({ clock, random: new SeededRandom(1) }).client('test');
  const whole = rejects.map(
    (rest, index): RejectedRecord => ({
      ...{ topic: 'orders', partition: 3, offset: BigInt(index) + 2n ** 53n, timestampMs: 1_500 },
      ...{ key: utf8('k'), value: Uint8Array.of(0xff, 0), reason: 'wrong-type', message: 'column "a": no' },
      headers: [
        ['h', utf8('1')],
        ['h', Uint8Array.of(0xff)],
      ],
      ...rest,
    }),
  );
  const to = {
    policy: 'dead-letter',
    oversize: 'truncate',
    topic: 'dead',
    partitions: 1,
    pipeline: 'p',
    table: 't',
    kafka,
    clock,
  } as const;
  const sink = new DeadLetterTopic(to);
  const range = { topic: 'orders', partition: 3, from: 0n, until: 2n ** 60n, expectedMark: 0n, writerId: 'p:orders:3:c:x' };
  await sink.write({ ranges: [range] }, whole);
  await sink.close();
  const found: OutgoingRecord[] = [];
  const [{ latest: until } = { latest: 0n }] = await kafka.admin.offsets('dead');
  for await (const record of kafka.readPartition({ topic: 'dead', partition: 0, from: 0n, until })) found.push(record);
  return found;
}

function decoded(records: readonly OutgoingRecord[], columns = letterColumns) {
  const sources = columns.map(({ source }) => source);
  const decoder = new RecordDecoder(schemaOfColumns(columns), { sources, unknownMembers: 'ignore', value: { kind: 'letter' } });
  const { bytes } = encodeRecordBatch({ topic: 'dead', partition: 0, records });
  const { rejects } = decodeRecordBatch(bytes, { topic: 'dead', partition: 0, start: 0, end: bytes.length, fromOffset: 0n }, decoder);
  return { rejects, rows: rowsOf(decoder.finish()) };
}

describe('dead letters as rows', () => {
  it('tell all that the letter does, and hold the bytes of the record', async () => {
    const history = { topic: 'first', partition: 1, offset: 4n, timestampMs: 7, times: 2, firstReason: 'not-an-object' };
    const { rows, rejects } = decoded(
      await lettersOf(
        { part: 'key' },
        {
          key: undefined,
          value: undefined,
          headers: [],
          reason: 'null-value',
          replayed: { ...history, firstRejectedAt: '2026-01-01T00:00:00.000Z' },
        },
        { reason: 'corrupt-batch', unopened: { until: 2n ** 53n + 9n, records: 7 }, cut: [{ part: 'value', bytes: 9, sha256: 'ab' }] },
      ),
    );
    expect(rejects).toEqual([]);
    expect(rows[0]).toEqual({
      ...{ letter_partition: 0, letter_offset: 0n, reason: 'wrong-type', stage: 'KEY_CONVERTER', message: 'column "a": no' },
      ...{
        pipeline: 'p',
        table_name: 't',
        source_topic: 'orders',
        source_partition: 3,
        source_offset: 2n ** 53n,
        source_timestamp: 1_500_000n,
      },
      ...{ until_offset: null, rejected_at: BigInt(at) * 1000n, times_replayed: 0, first_reason: 'wrong-type' },
      ...{ first_rejected_at: BigInt(at) * 1000n, cut: null, key: 'hex:6b', value: 'hex:ff00' },
      headers: [
        { name: 'h', value: 'hex:31' },
        { name: 'h', value: 'hex:ff' },
      ],
    });
    expect(rows[1]).toMatchObject({
      ...{ key: null, value: null, headers: [], source_topic: 'first', source_offset: 4n, source_timestamp: 7_000n, times_replayed: 2 },
      ...{ reason: 'null-value', first_reason: 'not-an-object', first_rejected_at: BigInt(Date.UTC(2026, 0, 1)) * 1000n },
    });
    expect(rows[2]).toMatchObject({ until_offset: 2n ** 53n + 9n, cut: 'value', stage: 'KAFKA_CONSUME' });
  });

  it('are there for records of other programs and for damaged ones, with what they tell', () => {
    const foreign = (headers: OutgoingRecord['headers'], timestampMs = 0): OutgoingRecord => ({
      ...{ value: utf8('x'), headers, timestampMs: toEpochMs(timestampMs) },
    });
    const { rows, rejects } = decoded([
      foreign([
        ['__connect.errors.topic', utf8('o')],
        ['__connect.errors.exception.class.name', utf8('E')],
      ]),
      foreign([
        ['tidewater.dlq.rejected_at', utf8('yesterday')],
        ['__connect.errors.partition', utf8('9999999999')],
        ['tidewater.dlq.reason', Uint8Array.of(0xff)],
      ]),
      foreign(
        [
          ['tidewater.dlq.replayed', utf8('{"topic":')],
          ['tidewater.dlq.id', utf8('no id')],
        ],
        -1,
      ),
    ]);
    expect(rejects).toEqual([]);
    expect(rows).toMatchObject([
      { source_topic: 'o', reason: 'E', source_partition: null, rejected_at: null, table_name: null },
      { rejected_at: null, source_partition: null, reason: '\ufffd' },
      { times_replayed: 0, source_timestamp: null, pipeline: null },
    ]);
  });

  it('fill columns whose nested fields have the ids of a table and are required', async () => {
    const fields = [
      { name: 'name', type: { kind: 'string' }, nullable: false, id: 22 },
      { name: 'value', type: { kind: 'binary' }, nullable: true, id: 23 },
    ] as const;
    const type = { kind: 'list', element: { kind: 'struct', fields }, elementNullable: false } as const;
    const { rows } = decoded(await lettersOf({}), [{ name: 'h', type, nullable: true, source: { kind: 'value', name: 'headers' } }]);
    expect(rows).toMatchObject([{ h: [{ name: 'h', value: 'hex:31' }, { name: 'h' }] }]);
  });

  it('are refused where a column is required that a letter does not tell, and columns that no letter fills', () => {
    const column = (name: string, type: 'string' | 'long', nullable = true) =>
      ({ name, type: { kind: type }, nullable, source: { kind: 'value', name } }) as const;
    const { rows, rejects } = decoded([{ value: utf8('x'), timestampMs: toEpochMs(0) }], [column('reason', 'string', false)]);
    expect(rows).toEqual([]);
    expect(rejects).toMatchObject([{ reason: 'missing-required' }]);
    expect(() => decoded([], [column('colour', 'string')])).toThrow('takes "colour" of a dead letter, which has no such member');
    expect(() => decoded([], [column('reason', 'long')])).toThrow(
      'column "reason" of type long cannot hold "reason" of a dead letter, which is string',
    );
  });
});
