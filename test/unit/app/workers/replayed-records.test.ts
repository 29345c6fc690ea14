import { describe, expect, it } from 'vitest';
import { type DecodeBatchOptions, decodeRecordBatch, rejectedRows } from '../../../../src/app/workers/decode-batch.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { KnownSchemas } from '../../../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import { DivisionKeys } from '../../../../src/ingest/divide/division-keys.ts';
import type { OutgoingRecord } from '../../../../src/kafka/client.ts';
import { encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import type { DivisionSpec } from '../../../../src/protocol/division.ts';
import { printReplayed, type ReplayedRecord, replayHeader } from '../../../../src/protocol/replayed-record.ts';
import { rowsOf } from '../../ingest/decode/decoding.ts';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
const target = { topic: 'replay', pipeline: 'p', table: 't', tableId: 'id-t' };
const said: ReplayedRecord = {
  ...{ pipeline: 'p', table: 't', tableId: 'id-t', topic: 'orders', partition: 3, offset: 2n ** 53n + 1n, timestampMs: 1_500 },
  ...{ times: 1, firstReason: 'wrong-type', firstRejectedAt: '2026-01-02T00:00:00.000Z', replayedAt: '2026-01-03T00:00:00.000Z' },
  ...{ reason: 'wrong-type', stage: 'VALUE_CONVERTER', rejectedAt: '2026-01-02T00:00:00.000Z' },
  letter: { topicId: 'x', partition: 0, offset: 4n },
};

function replayOf(value: string, rest: Partial<ReplayedRecord> = {}): OutgoingRecord {
  const header = [replayHeader, utf8(printReplayed({ ...said, ...rest }))] as const;
  return { key: utf8('k'), value: utf8(value), headers: [['trace', utf8('t1')], header], timestampMs: toEpochMs(9_000) };
}

function decoded(records: readonly OutgoingRecord[], topic = 'replay', options: DecodeBatchOptions = { replays: target }) {
  const fields = [
    { name: 'id', type: { kind: 'long' }, nullable: false },
    { name: 'topic', type: { kind: 'string' }, nullable: false },
    { name: 'partition', type: { kind: 'integer' }, nullable: false },
    { name: 'offset', type: { kind: 'long' }, nullable: false },
    { name: 'at', type: { kind: 'timestamp' }, nullable: true },
    { name: 'headers', type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'string' }, valueNullable: true }, nullable: true },
  ] as const;
  const sources = [
    { kind: 'value', name: 'id' },
    ...(['topic', 'partition', 'offset', 'timestamp', 'headers'] as const).map((kind) => ({ kind })),
  ] as const;
  const decoder = new RecordDecoder({ kind: 'struct', fields }, { sources, unknownMembers: 'ignore' });
  const { bytes } = encodeRecordBatch({ topic, partition: 1, records });
  const packed = { topic, partition: 1, start: 0, end: bytes.length, fromOffset: 0n };
  const result = decodeRecordBatch(bytes, packed, decoder, options);
  return { ...result, bytes, packed, rows: rowsOf(decoder.finish()) };
}

describe('records of the replay topic', () => {
  it('are decoded as what they were in their own topic', () => {
    const { rows, replayed, read } = decoded([replayOf('{"id":1}'), replayOf('{"id":2}', { topic: 'returns', partition: 0, offset: 5n })]);
    expect(rows).toMatchObject([
      { id: 1n, topic: 'orders', partition: 3, offset: 2n ** 53n + 1n, at: 1_500_000n },
      { id: 2n, topic: 'returns', partition: 0, offset: 5n },
    ]);
    expect([replayed, read]).toEqual([2, 2]);
  });

  it('are passed over by every table that did not reject them, and by a table that took its name', () => {
    const none = { ...replayOf('{"id":5}'), headers: [['trace', utf8('t1')] as const] };
    const broken = { ...replayOf('{"id":5}'), headers: [[replayHeader, utf8('{"letter":')] as const] };
    const covered = { ...replayOf('{"id":5}'), headers: [...(replayOf('{}').headers ?? []), ['after', utf8('it')] as const] };
    const others = [
      replayOf('{"id":1}', { table: 'u' }),
      replayOf('{"id":2}', { pipeline: 'q' }),
      replayOf('{"id":3}', { tableId: 'id-u' }),
    ];
    const { rows, passedOver, rejects, read } = decoded([...others, none, broken, covered, replayOf('{"id":9}')]);
    expect(rows).toMatchObject([{ id: 9n }]);
    expect(passedOver).toEqual(Array.from({ length: 6 }, () => 'not-for-table'));
    expect([rejects, read]).toEqual([[], 7]);
  });

  it('are rejected with their place in the replay topic and where they came from at first, by the decoder and by a transform', () => {
    const { rejects, bytes, packed } = decoded([replayOf('{"id":1}'), replayOf('{"id":"many"}')]);
    const expected = {
      ...{ topic: 'replay', partition: 1, offset: 1n, timestampMs: 9_000 },
      replayed: { topic: 'orders', partition: 3, offset: 2n ** 53n + 1n, times: 1, firstReason: 'wrong-type' },
    };
    expect(rejects).toMatchObject([{ ...expected, reason: 'wrong-type' }]);
    expect(rejects[0]?.headers.map(([name]) => name)).toEqual(['trace']);
    const failures = new Map([[1, { reason: 'not-computed', message: 'no' } as const]]);
    expect(rejectedRows(bytes, packed, failures, { replays: target })).toMatchObject([{ ...expected, reason: 'not-computed' }]);
  });

  it('are divided anew where the records of the route are', () => {
    const spec: DivisionSpec = {
      key: { kind: 'member', path: ['type'], type: 'string' },
      value: { kind: 'json', framed: false },
      parts: [
        { table: 't', values: ['t'] },
        { table: 'u', values: ['u'] },
      ],
      unmatched: 'reject',
    };
    const of = (index: number) => {
      const keys = new DivisionKeys(spec, { schemas: new KnownSchemas() });
      const together = ['t', 'u'];
      const own = index === 0 ? target : { ...target, table: 'u', tableId: 'id-u' };
      return { replays: { ...own, together }, division: { spec, index, keys } };
    };
    const lost = { reason: 'no-table' };
    const records = [
      replayOf('{"id":1,"type":"u"}', lost),
      replayOf('{"id":2,"type":"t"}', lost),
      replayOf('{"id":3,"type":"x"}', lost),
      replayOf('no JSON', lost),
      replayOf('{"id":5,"type":"u"}', { table: 'v' }),
      replayOf('{"id":6,"type":"u"}', { table: 'u', tableId: 'id-u' }),
      replayOf('{"id":7,"type":"u"}', { table: 'u', tableId: 'of another time' }),
    ];
    const first = decoded(records, 'replay', of(0));
    expect(first.rows).toMatchObject([{ id: 2n, topic: 'orders' }]);
    expect(first.rejects).toMatchObject([
      { reason: 'no-table', offset: 2n, replayed: { topic: 'orders' } },
      { reason: 'invalid-json', offset: 3n },
    ]);
    const second = decoded(records, 'replay', of(1));
    expect(second.rows).toMatchObject([{ id: 1n }, { id: 6n }]);
    expect(second.rejects).toEqual([]);
  });

  it('are told from records of other topics by the topic alone', () => {
    const { rows, replayed } = decoded([replayOf('{"id":1}')], 'orders');
    expect(rows).toMatchObject([{ topic: 'orders', partition: 1, offset: 0n }]);
    expect(replayed).toBe(0);
  });
});
