import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, parseJson } from '../../../../src/base/bigint-json.ts';
import { decodeRoaring64 } from '../../../../src/codec/roaring/decode-roaring.ts';
import { encodeRoaring64 } from '../../../../src/codec/roaring/encode-roaring.ts';
import { objectsOf } from '../../../support/golden-tables.ts';

const vectors = parseJson(readFileSync(new URL('../../../golden/vectors/roaring.json', import.meta.url), 'utf8'), 'vectors');
const group = (name: string): readonly JsonObject[] => objectsOf(isJsonObject(vectors) ? vectors[name] : undefined);
const bytesOf = (vector: JsonObject): Uint8Array => Buffer.from(typeof vector['base64'] === 'string' ? vector['base64'] : '', 'base64');
/** Around the bitmap of a blob: size and magic number in front, checksum behind. */
const bitmapOf = (vector: JsonObject): Uint8Array => bytesOf(vector).subarray(8, -4);

function positionsHash(positions: BigInt64Array): string {
  let sum = 0n;
  for (const position of positions) sum += BigInt(`0x${createHash('sha256').update(String(position)).digest('hex')}`);
  return (sum % (1n << 256n)).toString(16).padStart(64, '0');
}

const range = (from: number, until: number, step = 1): readonly bigint[] =>
  Array.from({ length: Math.ceil((until - from) / step) }, (_, index) => BigInt(from + index * step));

describe('64-bit roaring bitmaps', () => {
  it.each(group('roaring').map((vector) => [vector['name'], vector] as const))('reads %s of other libraries', (_, vector) => {
    const positions = decodeRoaring64(bytesOf(vector));
    expect(positions.length).toBe(vector['cardinality']);
    expect(positionsHash(positions)).toBe(vector['positionsHash']);
  });

  it.each(
    group('dv-blobs')
      .filter((vector) => vector['valid'] === true)
      .map((vector) => [vector['name'], vector] as const),
  )('reads %s, and writes the same bytes', (_, vector) => {
    const positions = decodeRoaring64(bitmapOf(vector));
    expect(positions.length).toBe(vector['cardinality']);
    expect(positionsHash(positions)).toBe(vector['positionsHash']);
    expect(Buffer.from(encodeRoaring64(positions)).equals(bitmapOf(vector))).toBe(true);
  });

  it.each<[string, readonly bigint[]]>([
    ['nothing', []],
    ['the ends', [0n, 0xffffn, 0x1_0000n, 0xffff_ffffn, 0x1_0000_0000n, 0x7fff_ffff_ffff_ffffn]],
    ['one run over containers and bitmaps', range(0xffff_ff00, 0x1_0000_0100)],
    ['an array that is full, and a bitmap that is one more', [...range(0, 8192, 2), ...range(65_536, 65_536 + 8194, 2)]],
    [
      'runs with offsets and without',
      [...range(0, 100), ...range(70_000, 70_003, 2), ...range(200_000, 200_100), ...range(300_000, 300_900)],
    ],
    ['a whole container', range(65_536, 131_072)],
  ])('keeps %s', (_, positions) => {
    expect([...decodeRoaring64(encodeRoaring64(BigInt64Array.from(positions)))]).toEqual(positions);
  });

  it('keeps any positions', () => {
    const position = fc.oneof(fc.bigInt(0n, 300_000n), fc.bigInt(0n, 0x3_ffff_ffffn), fc.bigInt(0n, 0x7fff_ffff_ffff_ffffn));
    const runs = fc.array(fc.tuple(position, fc.integer({ min: 1, max: 5000 })), { maxLength: 12 });
    fc.assert(
      fc.property(runs, (pairs) => {
        const all = new Set(pairs.flatMap(([from, length]) => Array.from({ length }, (_, index) => from + BigInt(index))));
        const sorted = BigInt64Array.from([...all].filter((value) => value <= 0x7fff_ffff_ffff_ffffn)).sort();
        const decoded = decodeRoaring64(encodeRoaring64(sorted));
        expect(Buffer.from(decoded.buffer).equals(Buffer.from(sorted.buffer))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('refuses every cut of a bitmap', () => {
    const bytes = encodeRoaring64(BigInt64Array.from([...range(0, 9000, 2), ...range(70_000, 70_100), 1n << 33n]));
    for (let length = 0; length < bytes.length; length += 7) {
      expect(() => decodeRoaring64(bytes.subarray(0, length))).toThrow(expect.objectContaining({ code: 'ROARING_BITMAP_CORRUPT' }));
    }
  });

  it('answers damaged bytes with an error or with positions that ascend, never with anything else', () => {
    const whole = encodeRoaring64(BigInt64Array.from([...range(0, 9000, 2), ...range(70_000, 70_100), ...range(140_000, 140_010, 3)]));
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Uint8Array.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        let positions: BigInt64Array;
        try {
          positions = decodeRoaring64(bytes);
        } catch (error) {
          expect(error).toMatchObject({ code: 'ROARING_BITMAP_CORRUPT', kind: 'corrupt' });
          return;
        }
        for (let index = 1; index < positions.length; index++) expect((positions[index] ?? 0n) > (positions[index - 1] ?? 0n)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('takes no memory for what small bytes claim', () => {
    const claim = new Uint8Array(8);
    claim.fill(0xff);
    expect(() => decodeRoaring64(claim)).toThrow('impossible');
    const many = new Uint8Array(64);
    new DataView(many.buffer).setUint32(0, 0x7fff_ffff, true);
    expect(() => decodeRoaring64(many)).toThrow(expect.objectContaining({ code: 'ROARING_BITMAP_CORRUPT' }));
  });
});
