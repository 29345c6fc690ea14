import { describe, expect, it } from 'vitest';
import { InThreadBatchStager } from '../../../../src/app/workers/batch-stager.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { inertFailpoint } from '../../../../src/base/failpoint.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import type { SealedBatch } from '../../../../src/protocol/sealed-batch.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { decode, decoderOf, field, recordOf, rowsOf, struct } from './decoding.ts';

const string = { kind: 'string' } as const;
const schema = struct({ p: string, q: string }, { required: ['p'] });

describe('the empty string', () => {
  it('is no value of a required partition column, however it is spelled', () => {
    for (const payload of ['{"p":"","q":"x"}', '{"q":"x", "p" :  ""  }']) {
      expect(decode(schema, payload, { partitionColumns: ['p'] })).toEqual({
        rows: [],
        rejection: {
          reason: 'missing-required',
          message: 'column "p": "" is not allowed in a required partition column: a table cannot tell the empty string from no value there',
        },
      });
    }
  });

  it('is a value of every other column, and a blank is a value of that one', () => {
    const row = (p: string, q: string): string => `{"p":"${p}","q":"${q}"}`;
    expect(decode(schema, row('', ''), { partitionColumns: [] }).rows).toEqual([{ p: '', q: '' }]);
    expect(decode(schema, row('a', ''), { partitionColumns: ['p', 'q'] }).rows).toEqual([{ p: 'a', q: '' }]);
    expect(decode(schema, row(' ', 'x'), { partitionColumns: ['p'] }).rows).toEqual([{ p: ' ', q: 'x' }]);
    expect(decode(schema, row('\\u0041', 'x'), { partitionColumns: ['p'] }).rows).toEqual([{ p: 'A', q: 'x' }]);
  });

  it('is refused as a key that fills such a column', () => {
    const fields = { kind: 'struct', fields: [field('k', string, false)] } as const;
    const decoder = decoderOf(fields, { sources: [{ kind: 'key' }], partitionColumns: ['k'] });
    const key = (text: string): object => ({ data: Buffer.from(text), keyStart: 0, keyEnd: text.length });
    expect(decoder.decode(recordOf('{}', key('')))).toMatchObject({ reason: 'missing-required' });
    expect(decoder.decode(recordOf('{}', key('a')))).toBeUndefined();
    expect(rowsOf(decoder.finish())).toEqual([{ k: 'a' }]);
  });

  // Such a record made the writer of data files refuse its whole batch, at every try.
  it('costs its own record only, not the batch', async () => {
    const clock = new SystemClock();
    const store = new MemoryObjectStore({ name: 't', clock });
    const records = ['a', '', 'b'].map((p) => ({ value: Buffer.from(`{"p":"${p}","q":"x"}`), timestampMs: toEpochMs(0) }));
    const { bytes } = encodeRecordBatch({ topic: 'orders', partition: 0, records });
    const batch: SealedBatch = {
      table: 'orders',
      sequence: 0,
      bytes: new Uint8Array(bytes).buffer,
      recordBatches: [{ topic: 'orders', partition: 0, start: 0, end: bytes.length, fromOffset: 0n }],
      ranges: [{ topic: 'orders', partition: 0, from: 0n, until: 3n, writerId: 'p:orders:0:c:t', expectedMark: undefined }],
      recordCount: 3,
      maxTimestampMs: 0,
      sealedBy: 'rows',
      openedAtMs: 0,
    };
    const stager = new InThreadBatchStager({ openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 8 });
    const result = await stager.stage({
      batch,
      write: {
        location: 'memory://t',
        schema,
        partitionColumns: ['p'],
        partitionColumnsInFile: false,
        compression: 'zstd',
        partitionPathStyle: 'hive-delta',
        statisticsColumns: 32,
      },
      decode: {
        sources: [
          { kind: 'value', name: 'p' },
          { kind: 'value', name: 'q' },
        ],
        unknownMembers: 'ignore',
      },
      fileNameStem: 'stem',
    });
    expect(result.files.map((file) => file.partitionValues)).toEqual([{ p: 'a' }, { p: 'b' }]);
    expect(result.rejects.map(({ offset, reason }) => [offset, reason])).toEqual([[1n, 'missing-required']]);
  });
});
