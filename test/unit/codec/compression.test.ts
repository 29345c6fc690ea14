import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { describeError, isServiceError } from '../../../src/base/errors.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type BlockCodec, compress, decompress } from '../../../src/codec/compression.ts';

const codecs: readonly BlockCodec[] = ['deflate', 'gzip', 'snappy', 'zstd', 'lz4'];
const text = Buffer.from('a block of a file, a block of a file, and some more of it. '.repeat(400));
const noise = new SeededRandom(7).bytes(70_000);
const longRun = Buffer.alloc(3_000_000, 'x');

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return isServiceError(error, 'corrupt') ? error.code : `not typed: ${describeError(error)}`;
  }
  return 'none';
}

describe.each(codecs)('%s', (codec) => {
  it.each([
    ['text', text],
    ['noise', noise],
    ['a long run', longRun],
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.of(7)],
  ])('gives back %s', async (_, bytes) => {
    const packed = await compress(codec, bytes);
    expect(Buffer.from(decompress(codec, packed, { maxBytes: bytes.length, exactBytes: bytes.length })).equals(bytes)).toBe(true);
  });

  it('refuses a block that unpacks to more than allowed', async () => {
    const packed = await compress(codec, longRun);
    expect(codeOf(() => decompress(codec, packed, { maxBytes: longRun.length - 1 }))).toBe('CODEC_BLOCK_TOO_LARGE');
  });

  it('refuses a block of another length than promised', async () => {
    const packed = await compress(codec, text);
    expect(codeOf(() => decompress(codec, packed, { maxBytes: 1e6, exactBytes: text.length + 1 }))).toBe('CODEC_BLOCK_CORRUPT');
  });

  it('answers every truncation with a typed error', async () => {
    const packed = await compress(codec, text);
    for (let length = 1; length < packed.length; length++) {
      const code = codeOf(() => decompress(codec, packed.subarray(0, length), { maxBytes: 1e6, exactBytes: text.length }));
      expect(code, `cut at ${length}`).toMatch(/^CODEC_BLOCK_/);
    }
  });

  it('answers flipped bits with a typed error or with bytes within the limit', async () => {
    const seed = 20_250_101;
    const random = new SeededRandom(seed);
    const packed = await compress(codec, Buffer.concat([text, noise.subarray(0, 500)]));
    for (let round = 0; round < 300; round++) {
      const broken = Uint8Array.from(packed);
      const at = Math.floor(random.next() * (round % 2 === 0 ? Math.min(40, broken.length) : broken.length));
      broken[at] = (broken[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      const code = codeOf(() => {
        expect(decompress(codec, broken, { maxBytes: 100_000 }).length).toBeLessThanOrEqual(100_000);
      });
      expect(code, `seed ${seed} round ${round}`).toMatch(/^(none|CODEC_BLOCK_TOO_LARGE|CODEC_BLOCK_CORRUPT)$/);
    }
  });
});

describe('zstd frames', () => {
  it('follow each other, with frames to be skipped between them', async () => {
    const first = await compress('zstd', Buffer.from('first '));
    const second = await compress('zstd', Buffer.from('second'));
    const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9]);
    const unpacked = decompress('zstd', Buffer.concat([first, skipped, second]), { maxBytes: 12 });
    expect(Buffer.from(unpacked).toString()).toBe('first second');
  });

  // One block of five raw bytes, then one that repeats a byte ten times; the header has a window and no size.
  const unsized = Buffer.from('28b52ffd0008280000 68656c6c6f 530000 21'.replaceAll(' ', ''), 'hex');

  it('without a size in their header are read within the limit', () => {
    expect(Buffer.from(decompress('zstd', unsized, { maxBytes: 15 })).toString()).toBe(`hello${'!'.repeat(10)}`);
    expect(codeOf(() => decompress('zstd', unsized, { maxBytes: 14 }))).toBe('CODEC_BLOCK_TOO_LARGE');
  });

  it('that ask for a window of gigabytes are refused before it is allocated', () => {
    const greedy = Buffer.from(unsized);
    greedy[5] = 0xa8;
    expect(codeOf(() => decompress('zstd', greedy, { maxBytes: 100 }))).toBe('CODEC_BLOCK_CORRUPT');
  });
});

it('gzip of several members is one block', () => {
  const packed = Buffer.concat([gzipSync('one '), gzipSync('two')]);
  expect(Buffer.from(decompress('gzip', packed, { maxBytes: 7 })).toString()).toBe('one two');
});
