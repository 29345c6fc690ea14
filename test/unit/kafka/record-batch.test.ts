import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../src/base/clock.ts';
import type { OutgoingRecord } from '../../../src/kafka/client.ts';
import { readBatchHeader, splitRecordBatches } from '../../../src/kafka/records/batch-header.ts';
import type { Compression } from '../../../src/kafka/records/compression.ts';
import { crc32c, crc32cReplaced } from '../../../src/kafka/records/crc32c.ts';
import { decodeRecords, encodeRecordBatch, forEachRecord } from '../../../src/kafka/records/record-batch.ts';
import { encodeHeaders, RecordBatchBuilder, stampRecordBatch } from '../../../src/kafka/records/record-batch-builder.ts';
import { RecordCursor } from '../../../src/kafka/records/record-cursor.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const at = { topic: 'orders', partition: 3 };
const codecs: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4'];

// One record (key "k", value "v", header h=1, timestamp 1700000000000) as Apache Kafka's own `RecordBatch` writer lays it out, by
// KIP-98's field list: written by hand, so that encoder and decoder cannot agree on a mistake.
const byHand = Uint8Array.from([
  ...[0, 0, 0, 0, 0, 0, 0, 42], // base offset
  ...[0, 0, 0, 62], // length after this field
  ...[0xff, 0xff, 0xff, 0xff], // leader epoch
  2, // magic
  ...[0, 0, 0, 0], // crc, filled in by the test
  ...[0, 0], // attributes
  ...[0, 0, 0, 0], // last offset delta
  ...[0, 0, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00], // base timestamp
  ...[0, 0, 0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x00], // max timestamp
  ...[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], // producer id
  ...[0xff, 0xff], // producer epoch
  ...[0xff, 0xff, 0xff, 0xff], // base sequence
  ...[0, 0, 0, 1], // record count
  24, // zigzag length 12
  ...[0, 0, 0], // attributes, timestamp delta, offset delta
  ...[2, 0x6b], // key
  ...[2, 0x76], // value
  ...[2, 2, 0x68, 2, 0x31], // headers
]);

const outgoing: fc.Arbitrary<OutgoingRecord> = fc.record({
  key: fc.option(fc.uint8Array({ maxLength: 200 }), { nil: undefined }),
  value: fc.option(fc.uint8Array({ maxLength: 400 }), { nil: undefined }),
  headers: fc.array(fc.tuple(fc.string({ maxLength: 8 }), fc.uint8Array({ maxLength: 80 })), { maxLength: 3 }),
  timestampMs: fc.integer({ min: 0, max: 2 ** 43 }).map(toEpochMs),
});

describe('crc32c', () => {
  it('gives the check value of the CRC-32C standard', () => {
    expect(crc32c(bytes('123456789'))).toBe(0xe3069283);
  });

  it('gives the values of RFC 3720 for 32 zeros and 32 rising bytes', () => {
    expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa);
    expect(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index))).toBe(0x46dd794e);
  });

  it('covers exactly the range it is given', () => {
    expect(crc32c(bytes('xx123456789yy'), 2, 11)).toBe(0xe3069283);
  });

  it('follows bytes at the beginning that are replaced, whatever comes behind them', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.tuple(fc.nat(255), fc.nat(255)), { maxLength: 50 }), (rest, pairs) => {
        const before = Uint8Array.from(pairs, ([byte]) => byte);
        const now = Uint8Array.from(pairs, ([, byte]) => byte);
        const change = { before: crc32c(before), now: crc32c(now), restBytes: rest.length };
        expect(crc32cReplaced(crc32c(Buffer.concat([before, rest])), change)).toBe(crc32c(Buffer.concat([now, rest])));
      }),
      { numRuns: 200 },
    );
  });
});

describe('record batches', () => {
  it('reads a batch written by hand from the specification', () => {
    const batch = byHand.slice();
    new DataView(batch.buffer).setUint32(17, crc32c(batch, 21));
    expect(batch.length).toBe(12 + 62);
    expect(decodeRecords(batch, at)).toEqual([
      { ...at, offset: 42n, timestampMs: 1_700_000_000_000, key: bytes('k'), value: bytes('v'), headers: [['h', bytes('1')]] },
    ]);
  });

  it('writes the bytes that the specification asks for', () => {
    const { bytes: written } = encodeRecordBatch({
      ...at,
      records: [{ key: bytes('k'), value: bytes('v'), headers: [['h', bytes('1')]], timestampMs: toEpochMs(1_700_000_000_000) }],
    });
    const expected = byHand.slice();
    expected[7] = 0;
    new DataView(expected.buffer).setUint32(17, crc32c(expected, 21));
    expect([...written]).toEqual([...expected]);
  });

  it.each(codecs)('returns any records it was given, packed with %s', (compression) => {
    fc.assert(
      fc.property(fc.array(outgoing, { minLength: 1, maxLength: 30 }), (records) => {
        const encoded = encodeRecordBatch({ ...at, records, compression });
        expect(encoded.recordCount).toBe(records.length);
        expect(decodeRecords(encoded.bytes, at)).toEqual(records.map((record, index) => ({ ...at, offset: BigInt(index), ...record })));
      }),
      { numRuns: 60 },
    );
  });

  it('appends byte ranges as it appends separate records', () => {
    const source = bytes('..key..value..');
    const headers = [['name', bytes('text')] as const];
    const ranged = new RecordBatchBuilder();
    ranged.appendRanges(source, { keyStart: 2, keyEnd: 5, valueStart: 7, valueEnd: 12, timestampMs: 5, headers: encodeHeaders(headers) });
    ranged.appendRanges(source, { keyStart: -1, keyEnd: -1, valueStart: -1, valueEnd: -1, timestampMs: 7 });
    const plain = new RecordBatchBuilder();
    plain.append({ key: bytes('key'), value: bytes('value'), timestampMs: 5, headers });
    plain.append({ timestampMs: 7 });
    expect(ranged.sizeBytes).toBe(plain.sizeBytes);
    expect(ranged.finish()).toEqual(plain.finish());
  });

  it('starts an empty batch after finish', () => {
    const builder = new RecordBatchBuilder();
    const empty = builder.sizeBytes;
    builder.append({ value: bytes('first'), timestampMs: 1 });
    builder.finish();
    expect(builder.sizeBytes).toBe(empty);
    builder.append({ value: bytes('second'), timestampMs: 9 });
    const [record, ...others] = decodeRecords(builder.finish().bytes, at);
    expect(others).toEqual([]);
    expect(record).toMatchObject({ offset: 0n, timestampMs: 9, value: bytes('second') });
  });

  it('tells a null key and value from empty ones', () => {
    const { bytes: batch } = encodeRecordBatch({
      ...at,
      records: [{ timestampMs: toEpochMs(0) }, { key: bytes(''), value: bytes(''), timestampMs: toEpochMs(0) }],
    });
    const seen: (readonly [number, number])[] = [];
    forEachRecord(batch, (cursor) => seen.push([cursor.keyEnd - cursor.keyStart, Math.min(cursor.keyStart, cursor.valueStart)]));
    expect(seen[0]).toEqual([0, -1]);
    expect(seen[1]?.[1]).toBeGreaterThan(0);
  });

  it('keeps the CRC right when a producer stamps the batch', () => {
    const { bytes: batch } = encodeRecordBatch({ ...at, records: [{ value: bytes('v'), timestampMs: toEpochMs(3) }], compression: 'lz4' });
    stampRecordBatch(batch, { producerId: 77n, producerEpoch: 4, baseSequence: 1000, transactional: true });
    expect(readBatchHeader(batch)).toMatchObject({
      producerId: 77n,
      producerEpoch: 4,
      baseSequence: 1000,
      transactional: true,
      compression: 'lz4',
    });
    expect(decodeRecords(batch, at)).toHaveLength(1);
  });

  it('counts offsets before the batch as its beginning', () => {
    const batch = encodeRecordBatch({ ...at, records: [{ timestampMs: toEpochMs(0) }] }).bytes;
    new DataView(batch.buffer).setBigInt64(0, 100n);
    const cursor = new RecordCursor(batch);
    expect([cursor.deltaOf(90n), cursor.deltaOf(100n), cursor.deltaOf(103n)]).toEqual([0, 0, 3]);
  });

  it('gives every record the broker time of a log-append-time batch', () => {
    const batch = encodeRecordBatch({ ...at, records: [{ timestampMs: toEpochMs(5) }, { timestampMs: toEpochMs(6) }] }).bytes;
    const view = new DataView(batch.buffer);
    view.setInt16(21, 0x08);
    view.setBigInt64(35, 99n);
    view.setUint32(17, crc32c(batch, 21));
    expect(decodeRecords(batch, at).map((record) => record.timestampMs)).toEqual([99, 99]);
  });

  it('keeps the offsets of a batch that compaction thinned out', () => {
    const batch = encodeRecordBatch({ ...at, records: [{ timestampMs: toEpochMs(5) }] }).bytes;
    const view = new DataView(batch.buffer);
    view.setInt32(23, 9);
    view.setUint32(17, crc32c(batch, 21));
    expect(readBatchHeader(batch)).toMatchObject({ lastOffset: 9n, recordCount: 1 });
    expect(decodeRecords(batch, at)).toHaveLength(1);
  });

  it('splits a fetch response and leaves out the batch that is cut', () => {
    const one = encodeRecordBatch({ ...at, records: [{ value: bytes('one'), timestampMs: toEpochMs(0) }] }).bytes;
    const both = Buffer.concat([one, one]);
    expect(splitRecordBatches(both).map((batch) => [...batch.bytes])).toEqual([[...one], [...one]]);
    for (let length = one.length; length < both.length; length += 1) expect(splitRecordBatches(both.subarray(0, length))).toHaveLength(1);
  });
});

describe('damaged record batches', () => {
  const batch = encodeRecordBatch({
    ...at,
    records: [{ key: bytes('key'), value: bytes('value'), headers: [['a', bytes('b')]], timestampMs: toEpochMs(1) }],
  }).bytes;

  it('are refused by their checksum', () => {
    for (let index = 21; index < batch.length; index += 1) {
      const damaged = batch.slice();
      damaged[index] = (damaged[index] ?? 0) ^ 0x10;
      expect(() => decodeRecords(damaged, at)).toThrow(
        expect.objectContaining({ kind: expect.stringMatching(/corrupt|unsupported/) as string }),
      );
    }
  });

  it('never yield anything but records or a typed error, checksum or not', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(batch.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }), (changes) => {
        const damaged = batch.slice();
        for (const [index, byte] of changes) damaged[index] = byte;
        try {
          decodeRecords(damaged, at, { verifyCrc: false });
        } catch (error) {
          expect(error).toMatchObject({ name: 'ServiceError', code: expect.stringMatching(/^KAFKA_BATCH_/) as string });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('of the formats before magic 2 are named as unsupported', () => {
    const old = batch.slice();
    old[16] = 1;
    expect(() => splitRecordBatches(old)).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_UNSUPPORTED' }));
  });
});
