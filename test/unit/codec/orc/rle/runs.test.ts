import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BitDecoder, encodeBits } from '../../../../../src/codec/orc/rle/bits.ts';
import { ByteDecoder, encodeBytes } from '../../../../../src/codec/orc/rle/byte-rle.ts';
import { encodeLongs } from '../../../../../src/codec/orc/rle/encode-longs.ts';
import { LongDecoder, type LongDecoderOptions } from '../../../../../src/codec/orc/rle/long-decoder.ts';
import { wordsOf } from '../../../../../src/codec/orc/rle/long-words.ts';
import { ByteSink } from '../../../../../src/codec/orc/streams/byte-sink.ts';
import { ByteSource } from '../../../../../src/codec/orc/streams/byte-source.ts';

function decode(bytes: readonly number[] | Uint8Array, count: number, options: LongDecoderOptions): bigint[] {
  const longs = new BigInt64Array(count);
  new LongDecoder(new ByteSource(Uint8Array.from(bytes), 'test'), options).read(wordsOf(longs), 0, count);
  return [...longs];
}

function encode(values: readonly bigint[], signed: boolean): Uint8Array {
  const sink = new ByteSink();
  encodeLongs(sink, wordsOf(BigInt64Array.from(values)), { from: 0, until: values.length }, signed);
  return sink.written();
}

const v1 = { version: 1, signed: false } as const;
const v2 = { version: 2, signed: false } as const;
const big = (values: readonly number[]): bigint[] => values.map(BigInt);

// The byte sequences are the examples of the ORC specification.
describe('run-length encoded integers of version 1', () => {
  it('repeat a value, step down, or stand as they are', () => {
    expect(decode([0x61, 0x00, 0x07], 100, v1)).toEqual(Array.from({ length: 100 }, () => 7n));
    expect(decode([0x61, 0xff, 0x64], 100, v1)).toEqual(Array.from({ length: 100 }, (_, index) => BigInt(100 - index)));
    expect(decode([0xfb, 0x02, 0x03, 0x06, 0x07, 0x0b], 5, v1)).toEqual(big([2, 3, 6, 7, 11]));
  });

  it('have ten bytes at most a number', () => {
    const longest = [0xff, ...Array.from({ length: 9 }, () => 0xff), 0x01];
    expect(decode(longest, 1, { version: 1, signed: true })).toEqual([-(2n ** 63n)]);
    expect(() => decode([0xff, ...Array.from({ length: 11 }, () => 0xff)], 1, v1)).toThrow('more than ten bytes');
  });
});

describe('run-length encoded integers of version 2', () => {
  it('repeat a value', () => {
    expect(decode([0x0a, 0x27, 0x10], 5, v2)).toEqual(big([10000, 10000, 10000, 10000, 10000]));
  });

  it('stand in as many bits as the largest needs', () => {
    const bytes = [0x5e, 0x03, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef];
    expect(decode(bytes, 4, v2)).toEqual(big([23713, 43806, 57005, 48879]));
  });

  it('have their outliers patched', () => {
    const bytes = [
      0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a, 0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96,
      0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
    ];
    const values = [2030, 2000, 2020, 1000000, ...Array.from({ length: 16 }, (_, index) => 2040 + 10 * index)];
    expect(decode(bytes, 20, v2)).toEqual(big(values));
  });

  it('step from value to value', () => {
    expect(decode([0xc6, 0x09, 0x02, 0x02, 0x22, 0x42, 0x42, 0x46], 10, v2)).toEqual(big([2, 3, 5, 7, 11, 13, 17, 19, 23, 29]));
  });

  it('refuse a patch outside of their run', () => {
    // The gap of the only patch is 7 in a run of one value.
    expect(() => decode([0x80, 0x00, 0x00, 0xc1, 0x00, 0x00, 0x0f], 1, v2)).toThrow('a patch is for value');
  });

  it('are told as cut off, not as zeros', () => {
    expect(() => decode([0x5e, 0x03, 0x5c], 4, v2)).toThrow('byte 2: 8 bytes must follow, 1 do');
    expect(() => decode([0x0a, 0x27, 0x10], 6, v2)).toThrow('it ends where a byte must follow');
  });

  it('are written short when they repeat or step evenly', () => {
    expect([...encode(big([10000, 10000, 10000, 10000, 10000]), false)]).toEqual([0x0a, 0x27, 0x10]);
    expect(
      encode(
        Array.from({ length: 512 }, (_, index) => BigInt(index)),
        true,
      ).length,
    ).toBe(4);
    expect(
      encode(
        Array.from({ length: 512 }, () => -(2n ** 62n)),
        true,
      ).length,
    ).toBe(12);
    expect([...encode(big([2, 3, 5, 7, 11, 13, 17, 19, 23, 29]), false)]).toEqual([0xc4, 0x09, 0x02, 0x02, 0x4a, 0x28, 0xa6]);
  });

  it('come back as they were written', () => {
    const long = fc.oneof(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }),
      fc.bigInt({ min: -100n, max: 100n }),
      fc.nat(62).map((bits) => 2n ** BigInt(bits)),
    );
    const stretch = fc.oneof(
      fc.tuple(long, fc.integer({ min: 1, max: 30 })).map(([value, count]) => Array.from({ length: count }, () => value)),
      fc.array(long, { maxLength: 40 }),
      fc
        .tuple(
          fc.bigInt({ min: -(2n ** 50n), max: 2n ** 50n }),
          fc.array(fc.bigInt({ min: 0n, max: 2n ** 40n }), { maxLength: 20 }),
          fc.boolean(),
        )
        .map(([start, steps, down]) => {
          let value = start;
          return steps.map((step) => (value += down ? -step : step));
        }),
      fc
        .tuple(fc.integer(), fc.integer({ min: 500, max: 1100 }))
        .map(([start, count]) => Array.from({ length: count }, (_, at) => BigInt(start + (at % 61)))),
    );
    fc.assert(
      fc.property(fc.array(stretch, { maxLength: 8 }), fc.boolean(), (stretches, signed) => {
        const values = stretches.flat().map((value) => (signed ? value : BigInt.asIntN(64, value < 0n ? -value : value)));
        expect(decode(encode(values, signed), values.length, { version: 2, signed })).toEqual(values);
      }),
    );
  });
});

describe('run-length encoded bytes', () => {
  it('repeat a byte or stand as they are', () => {
    const read = (bytes: readonly number[], count: number): number[] => {
      const target = new Uint8Array(count);
      new ByteDecoder(new ByteSource(Uint8Array.from(bytes), 'test')).read(target, 0, count);
      return [...target];
    };
    expect(read([0x61, 0x00], 100)).toEqual(Array.from({ length: 100 }, () => 0));
    expect(read([0xfe, 0x44, 0x45], 2)).toEqual([0x44, 0x45]);
    expect(() => read([0xfe, 0x44], 2)).toThrow('must follow');
  });

  it('come back as they were written, also in pieces', () => {
    const pieces = fc.array(fc.tuple(fc.nat(255), fc.integer({ min: 1, max: 300 })), { maxLength: 10 });
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(255), { maxLength: 300 }), fc.integer({ min: 1, max: 50 }), (repeats, others, step) => {
        const bytes = Uint8Array.from([...repeats.flatMap(([byte, count]) => Array.from({ length: count }, () => byte)), ...others]);
        const sink = new ByteSink();
        encodeBytes(sink, bytes, 0, bytes.length);
        const decoder = new ByteDecoder(new ByteSource(sink.written(), 'test'));
        const target = new Uint8Array(bytes.length);
        for (let at = 0; at < bytes.length; at += step) decoder.read(target, at, Math.min(bytes.length, at + step));
        expect(target).toEqual(bytes);
      }),
    );
  });
});

describe('booleans', () => {
  it('begin with the highest bit of a byte', () => {
    expect([...new BitDecoder(new ByteSource(Uint8Array.of(0xff, 0x80), 'test')).read(8)]).toEqual([1]);
  });

  it('come back as they were written, whatever is read at a time, and can be entered at each stop', () => {
    const stops = fc.array(fc.nat(400), { maxLength: 5 });
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 400 }), stops, fc.integer({ min: 1, max: 70 }), (values, places, step) => {
        const bits = new Uint8Array((values.length + 7) >> 3);
        for (const [index, value] of values.entries()) if (value) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
        const ordered = places.filter((place) => place <= values.length).sort((a, b) => a - b);
        const sink = new ByteSink();
        const entries: { byte: number; bit: number }[] = [];
        encodeBits(sink, bits, values.length, ordered, (bit) => entries.push({ byte: sink.length, bit }));
        const decoder = new BitDecoder(new ByteSource(sink.written(), 'test'));
        const read: boolean[] = [];
        for (let at = 0; at < values.length; at += step) {
          const count = Math.min(step, values.length - at);
          const part = decoder.read(count);
          for (let index = 0; index < count; index++) read.push(((part[index >> 3] ?? 0) & (1 << (index & 7))) !== 0);
        }
        expect(read).toEqual(values);
        for (const [index, { byte, bit }] of entries.entries()) {
          const from = ordered[index] ?? 0;
          if (from === values.length) continue;
          const rest = new BitDecoder(new ByteSource(sink.written().subarray(byte), 'test'));
          rest.read(bit);
          expect((rest.read(1)[0] ?? 0) === 1).toBe(values[from]);
        }
      }),
    );
  });
});
