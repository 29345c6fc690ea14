import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packZstd } from '../../../../src/base/zstd.ts';
import { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ValueEncoding } from '../../../../src/protocol/payload-encoding.ts';
import { recordOf, rowsOf } from './decoding.ts';

const schema = { kind: 'struct', fields: [{ name: 'v', type: { kind: 'long' }, nullable: true }] } as const;
const sources = [{ kind: 'value', name: 'v' }] as const;
const row = Buffer.from('{"v":1}');

function decoderOf(compression: ValueEncoding['compression'], maxUnpackedBytes?: number): RecordDecoder {
  const value = { kind: 'json', framed: false, compression } as const;
  return new RecordDecoder(schema, { sources, unknownMembers: 'ignore', value }, { maxUnpackedBytes });
}

const encodedAs = (name: string) => ({ headers: () => [['Content-Encoding', Buffer.from(name)] as const] });

describe('a compressed value', () => {
  it.each([
    ['gzip', gzipSync(row)],
    ['gzip', Buffer.concat([gzipSync('{"v"'), gzipSync(':1}')])],
    ['zstd', packZstd(row)],
  ] as const)('by %s is unpacked', (codec, bytes) => {
    for (const decoder of [decoderOf(codec), decoderOf('header')]) {
      expect(decoder.decode(recordOf(bytes, encodedAs(codec)))).toBeUndefined();
      expect(rowsOf(decoder.finish())).toEqual([{ v: 1n }]);
    }
  });

  it('is taken as it is where no header says otherwise', () => {
    const decoder = decoderOf('header');
    expect(decoder.decode(recordOf(row))).toBeUndefined();
    expect(decoder.decode(recordOf(row, encodedAs('identity')))).toBeUndefined();
    expect(decoder.finish().rowCount).toBe(2);
  });

  it('that cannot be unpacked is rejected', () => {
    expect(decoderOf('gzip').decode(recordOf(row))).toEqual({
      reason: 'corrupt-payload',
      message: 'the value cannot be unpacked: 7 bytes of gzip cannot be unpacked: incorrect header check',
    });
    expect(decoderOf('gzip').decode(recordOf(gzipSync(row).subarray(0, 15)))?.reason).toBe('corrupt-payload');
    expect(decoderOf('zstd').decode(recordOf(row))?.reason).toBe('corrupt-payload');
    expect(decoderOf('gzip').decode(recordOf(gzipSync('no JSON')))?.reason).toBe('invalid-json');
    expect(decoderOf('header').decode(recordOf(row, encodedAs('br')))).toEqual({
      reason: 'corrupt-payload',
      message: 'the header content-encoding names br, not gzip or zstd',
    });
  });

  it('unpacks to no more than a batch may, together with those before it', () => {
    const decoder = decoderOf('gzip', 1_000);
    const padded = gzipSync(`{"v":1,"pad":"${' '.repeat(580)}"}`);
    expect(decoder.decode(recordOf(padded))).toBeUndefined();
    expect(decoder.decode(recordOf(padded))).toEqual({
      reason: 'too-large',
      message: 'the value unpacks, with those before it in its batch, to more than 1000 bytes (ingest.maxUnpackedBytes)',
    });
    decoder.startPartition('orders', 0);
    expect(decoder.decode(recordOf(padded))).toBeUndefined();
    expect(decoder.decode(recordOf(gzipSync(Buffer.alloc(10_000_000))))?.reason).toBe('too-large');
    expect(decoder.finish().rowCount).toBe(2);
  });
});
