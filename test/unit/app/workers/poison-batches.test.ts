import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type BatchStagerOptions, InThreadBatchStager } from '../../../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { inertFailpoint } from '../../../../src/base/failpoint.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { batchField } from '../../../../src/kafka/records/batch-header.ts';
import type { Compression } from '../../../../src/kafka/records/compression.ts';
import { crc32c } from '../../../../src/kafka/records/crc32c.ts';
import { encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import type { PackedRecordBatch, StageResult } from '../../../../src/protocol/sealed-batch.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';

const MiB = 1024 * 1024;
const schema = { kind: 'struct', fields: [{ name: 'p', type: { kind: 'string' }, nullable: true }] } as const;

function batchOf(baseOffset: bigint, values: readonly Uint8Array[], compression: Compression = 'none'): Uint8Array {
  const records = values.map((value) => ({ value, timestampMs: toEpochMs(1_000) }));
  const { bytes } = encodeRecordBatch({ topic: 'orders', partition: 3, records, compression });
  new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(batchField.baseOffset, baseOffset);
  return bytes;
}

const row = (p: string): Uint8Array => Buffer.from(JSON.stringify({ p }));

/** The batch with other bytes for its records, as a producer could have sent it: the checksum fits. */
function withRecords(batch: Uint8Array, records: Uint8Array): Uint8Array {
  const bytes = Buffer.concat([batch.subarray(0, 61), records]);
  bytes.writeInt32BE(bytes.length - batchField.leaderEpoch, batchField.length);
  bytes.writeUInt32BE(crc32c(bytes, batchField.attributes), batchField.crc);
  return bytes;
}

function stage(batches: readonly Uint8Array[], fromOffset = 0n, limits: Partial<BatchStagerOptions> = {}): Promise<StageResult> {
  const clock = new SystemClock();
  const store = new MemoryObjectStore({ name: 't', clock });
  const recordBatches: PackedRecordBatch[] = [];
  let end = 0;
  for (const bytes of batches) {
    recordBatches.push({ topic: 'orders', partition: 3, start: end, end: end + bytes.length, fromOffset });
    end += bytes.length;
  }
  const stager = new InThreadBatchStager({ openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 8, ...limits });
  return stager.stage({
    batch: {
      table: 'orders',
      sequence: 0,
      bytes: new Uint8Array(Buffer.concat(batches)).buffer,
      recordBatches,
      ranges: [{ topic: 'orders', partition: 3, from: 0n, until: 100n, writerId: 'p:orders:3:c:t', expectedMark: undefined }],
      recordCount: 3,
      maxTimestampMs: 0,
      sealedBy: 'rows',
      openedAtMs: 0,
    },
    write: {
      location: 'memory://t',
      schema,
      partitionColumns: [],
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
    },
    decode: { sources: [{ kind: 'value', name: 'p' }], unknownMembers: 'ignore' },
    fileNameStem: 'stem',
  });
}

describe('a record batch that cannot be opened', () => {
  const good = batchOf(0n, [row('a'), row('b')]);
  const after = batchOf(20n, [row('c')]);
  const three = batchOf(10n, [row('x'), row('y'), row('z')], 'gzip');
  const bomb = gzipSync(Buffer.alloc(300 * MiB), { level: 1 });

  it.each([
    {
      what: 'unpacks to more than is allowed',
      batch: withRecords(three, bomb),
      message: 'unpack to more than the limit',
      reason: 'batch-too-large',
    },
    {
      what: 'has records that are not what its codec writes',
      batch: withRecords(three, Buffer.from('no gzip')),
      message: 'cannot be unpacked',
    },
    {
      what: 'ends in the middle of a record, after some that are whole',
      batch: withRecords(batchOf(10n, [row('x'), row('y'), row('z')]), batchOf(10n, [row('x'), row('y'), row('z')]).subarray(61, -4)),
      message: 'has a record that passes its end',
    },
    { what: 'has another checksum', batch: Buffer.concat([three.subarray(0, -1), Buffer.of(1)]), message: 'has checksum' },
  ])(
    'and $what is one reject for its offsets, and the rows around it are written',
    async ({ batch, message, reason = 'corrupt-batch' }) => {
      const { rowCount, rejects, recordsByTopic } = await stage([good, batch, after]);
      expect([rowCount, recordsByTopic]).toEqual([3, { orders: 6 }]);
      expect(rejects).toMatchObject([
        {
          topic: 'orders',
          partition: 3,
          offset: 10n,
          timestampMs: 1_000,
          reason,
          unopened: { until: 13n, records: 3 },
        },
      ]);
      expect(rejects[0]?.message).toContain('offsets 10 to 12');
      expect(rejects[0]?.message).toContain(message);
      expect(Buffer.compare(rejects[0]?.value ?? new Uint8Array(), batch)).toBe(0);
    },
  );

  it('is rejected from the offset on that the table needs', async () => {
    const { rejects } = await stage([withRecords(three, Buffer.from('no gzip'))], 12n);
    expect(rejects).toMatchObject([{ offset: 12n, unopened: { until: 13n, records: 1 } }]);
  });
});

describe('a record that does not fit and is huge', () => {
  it('leaves its thread cut, with the size and the hash of the whole', async () => {
    const value = Buffer.alloc(40 * MiB, 'x');
    const { rejects } = await stage([batchOf(0n, [value], 'gzip')]);
    const sha256 = createHash('sha256').update(value).digest('hex');
    expect(rejects).toMatchObject([{ reason: 'invalid-json', cut: [{ part: 'value', bytes: 40 * MiB, sha256 }] }]);
    expect(rejects[0]?.value?.length).toBeLessThanOrEqual(MiB);
  });
});

describe('batches that are small as fetched and large unpacked', () => {
  it('are written in parts, so that a thread holds no more than one of them', async () => {
    const wide = row('x'.repeat(MiB));
    const batches = [0n, 10n, 20n, 30n, 40n].map((offset) => batchOf(offset, [wide, wide], 'gzip'));
    const { files, rowCount } = await stage(batches, 0n, { maxDecodedBytes: 4 * MiB });
    expect([rowCount, files.map((file) => file.rowCount), new Set(files.map(({ path }) => path)).size]).toEqual([10, [4, 4, 2], 3]);
  });

  it.each(['gzip', 'snappy', 'lz4', 'none'] as const)('are refused above the limit of the configuration, of %s', async (compression) => {
    const { rowCount, rejects } = await stage([batchOf(0n, [row('x'.repeat(3 * MiB))], compression)], 0n, { maxUnpackedBytes: 2 * MiB });
    expect([rowCount, rejects.map(({ reason, offset }) => [reason, offset])]).toEqual([0, [['batch-too-large', 0n]]]);
  });
});
