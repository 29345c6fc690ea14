import { describe, expect, it } from 'vitest';
import type { RecordDecoder } from '../../../../src/ingest/decode/record-decoder.ts';
import type { ColumnSource } from '../../../../src/protocol/sealed-batch.ts';
import type { DataType } from '../../../../src/schema/types.ts';
import { decoderOf, field, recordOf, rowsOf } from './decoding.ts';

const string = { kind: 'string' } as const;
const binary = { kind: 'binary' } as const;
const mapOf = (value: DataType): DataType => ({ kind: 'map', key: string, value, valueNullable: true });

function single(kind: Exclude<ColumnSource['kind'], 'value' | 'absent'>, type: DataType, nullable = true): RecordDecoder {
  return decoderOf({ kind: 'struct', fields: [field('v', type, nullable)] }, { sources: [{ kind }] });
}

const key = (bytes: Uint8Array): object => ({ data: bytes, keyStart: 0, keyEnd: bytes.length });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('metadata columns', () => {
  it('tell where each record comes from, beside its value', () => {
    const schema = {
      kind: 'struct',
      fields: [
        field('topic', string),
        field('id', { kind: 'long' }),
        field('partition', { kind: 'integer' }),
        field('offset', { kind: 'long' }),
        field('at', { kind: 'timestamp' }),
      ],
    } as const;
    const sources = [
      { kind: 'topic' },
      { kind: 'value', name: 'identity' },
      { kind: 'partition' },
      { kind: 'offset' },
      { kind: 'timestamp' },
    ] as const;
    const decoder = decoderOf(schema, { sources });
    decoder.startPartition('orders', 3);
    decoder.decode(recordOf('{"identity":1}', { offset: () => 2n ** 62n + 1n, timestampMs: 1_767_225_600_123 }));
    decoder.decode(recordOf('{"identity":"x"}', { offset: () => 6n, timestampMs: 1 }));
    decoder.startPartition('orders.eu', 4);
    decoder.decode(recordOf('{"identity":2}', { offset: () => 7n, timestampMs: -1 }));
    expect(rowsOf(decoder.finish())).toEqual([
      { topic: 'orders', id: 1n, partition: 3, offset: 4611686018427387905n, at: 1767225600123000n },
      { topic: 'orders.eu', id: 2n, partition: 4, offset: 7n, at: null },
    ]);
  });

  it('take the key as bytes, or as text that is UTF-8', () => {
    const asBytes = single('key', binary);
    asBytes.decode(recordOf(undefined, key(Uint8Array.of(0xff, 0))));
    asBytes.decode(recordOf(undefined));
    expect(rowsOf(asBytes.finish())).toEqual([{ v: 'hex:ff00' }, { v: null }]);
    const asText = single('key', string);
    expect(asText.decode(recordOf(undefined, key(bytes('clé'))))).toBeUndefined();
    expect(asText.decode(recordOf(undefined, key(Uint8Array.of(0xff))))).toMatchObject({ reason: 'invalid-utf8' });
    expect(rowsOf(asText.finish())).toEqual([{ v: 'clé' }]);
  });

  it('refuse a record without the key or timestamp a column requires', () => {
    expect(single('key', string, false).decode(recordOf('{}'))).toEqual({
      reason: 'missing-required',
      part: 'key',
      message: 'column "v": the record has no key and the column is required',
      missing: 'v',
    });
    expect(single('timestamp', { kind: 'timestamp' }, false).decode(recordOf('{}'))).toMatchObject({ reason: 'missing-required' });
  });

  it('take headers as a map and refuse repeated names, leaving nothing behind', () => {
    const decoder = single('headers', mapOf(string));
    expect(
      decoder.decode(
        recordOf(undefined, {
          headers: () => [
            ['a', bytes('1')],
            ['é', bytes('')],
          ],
        }),
      ),
    ).toBeUndefined();
    const twice = recordOf(undefined, {
      headers: () => [
        ['a', bytes('1')],
        ['b', bytes('1')],
        ['a', bytes('2')],
      ],
    });
    expect(decoder.decode(twice)).toMatchObject({ reason: 'duplicate-member' });
    expect(decoder.decode(recordOf(undefined, { headers: () => [['a', Uint8Array.of(0xc3)]] }))).toMatchObject({ reason: 'invalid-utf8' });
    expect(decoder.decode(recordOf(undefined))).toBeUndefined();
    expect(rowsOf(decoder.finish())).toEqual([
      {
        v: [
          ['a', '1'],
          ['é', ''],
        ],
      },
      { v: [] },
    ]);
    const raw = single('headers', mapOf(binary));
    raw.decode(recordOf(undefined, { headers: () => [['a', Uint8Array.of(0xc3)]] }));
    expect(rowsOf(raw.finish())).toEqual([{ v: [['a', 'hex:c3']] }]);
  });

  it('refuse timestamps past the year 9999', () => {
    const decoder = single('timestamp', { kind: 'timestamp' });
    expect(decoder.decode(recordOf(undefined, { timestampMs: 253_402_300_800_000 }))).toMatchObject({ reason: 'out-of-range' });
    expect(decoder.decode(recordOf(undefined, { timestampMs: 253_402_300_799_999 }))).toBeUndefined();
    expect(rowsOf(decoder.finish())).toEqual([{ v: 253402300799999000n }]);
  });
});

describe('a decode spec', () => {
  const invalid = expect.objectContaining({ code: 'DECODE_SPEC_INVALID' }) as Error;
  it('is refused when a metadata source feeds a column of another type', () => {
    expect(() => single('key', { kind: 'long' })).toThrow(invalid);
    expect(() => single('offset', { kind: 'integer' })).toThrow(invalid);
    expect(() => single('headers', mapOf({ kind: 'long' }))).toThrow(invalid);
    expect(() => single('timestamp', { kind: 'timestamp_ntz' })).toThrow(invalid);
  });

  it('is refused when columns and sources differ in number or share a member', () => {
    const fields = [field('a', string), field('b', string)];
    expect(() => decoderOf({ kind: 'struct', fields }, { sources: [{ kind: 'topic' }] })).toThrow(invalid);
    const same = { kind: 'value', name: 'x' } as const;
    expect(() => decoderOf({ kind: 'struct', fields }, { sources: [same, same] })).toThrow(invalid);
  });
});
