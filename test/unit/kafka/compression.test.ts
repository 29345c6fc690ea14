import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { type Compression, compress, decompress } from '../../../src/kafka/records/compression.ts';
import { lz4FrameSize } from '../../../src/kafka/records/lz4-frame-size.ts';

const text = new TextEncoder().encode('the quick brown fox jumps over the lazy dog, '.repeat(400));
const writable: readonly Compression[] = ['none', 'gzip', 'snappy', 'lz4'];

// `printf 'tidewater %.0s' $(seq 50) | zstd -3 -c`, zstd 1.5.4.
const zstdFrame = Buffer.from('KLUv/QRYjQAAUHRpZGV3YXRlciABAOdVCxLRY3rZ', 'base64');

describe('compression', () => {
  it.each(writable)('returns what was packed with %s', (codec) => {
    expect(Buffer.compare(decompress(codec, compress(codec, text)), text)).toBe(0);
  });

  it('reads zstd', () => {
    expect(Buffer.from(decompress('zstd', zstdFrame)).toString()).toBe('tidewater '.repeat(50));
  });

  it('refuses to write zstd', () => {
    expect(() => compress('zstd', text)).toThrow(expect.objectContaining({ code: 'KAFKA_COMPRESSION_UNSUPPORTED' }));
  });

  it('reads the snappy framing of Java producers', () => {
    const half = text.length / 2;
    const header = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    const blocks = [text.subarray(0, half), text.subarray(half)].flatMap((block) => {
      const packed = compress('snappy', block);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(packed.length);
      return [length, packed];
    });
    expect(Buffer.compare(decompress('snappy', Buffer.concat([header, ...blocks])), text)).toBe(0);
  });

  it.each(['gzip', 'snappy', 'lz4'] as const)('stops at the limit when %s would unpack to more', (codec) => {
    const bomb = compress(codec, new Uint8Array(4 * 1024 * 1024));
    expect(() => decompress(codec, bomb, 1024 * 1024)).toThrow(
      expect.objectContaining({ code: 'KAFKA_BATCH_TOO_LARGE', kind: 'unsupported' }),
    );
    expect(decompress(codec, bomb, 4 * 1024 * 1024)).toHaveLength(4 * 1024 * 1024);
  });

  it('stops at the limit when zstd would unpack to more', () => {
    expect(() => decompress('zstd', zstdFrame, 499)).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_TOO_LARGE' }));
  });

  // The header asks for a window of 128 MiB; each block of four bytes repeats a byte once.
  const wide = Buffer.concat([Buffer.from('28b52ffd0088', 'hex'), ...Array.from({ length: 50_000 }, () => Buffer.from('0a000041', 'hex'))]);

  it('pays for what a zstd frame unpacks to, not for the window that it asks for at every block', () => {
    const frame = Buffer.concat([wide, Buffer.from('0b000041', 'hex')]);
    const beganMs = performance.now();
    expect(Buffer.from(decompress('zstd', frame)).equals(Buffer.alloc(50_001, 'A'))).toBe(true);
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });

  it('stops at the limit before a zstd frame without a size is unpacked', () => {
    const full = Buffer.from('02001041', 'hex');
    const bomb = Buffer.concat([wide, ...Array.from({ length: 20_000 }, () => full), Buffer.from('0b000041', 'hex')]);
    const beganMs = performance.now();
    expect(() => decompress('zstd', bomb)).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_TOO_LARGE' }));
    expect(performance.now() - beganMs).toBeLessThan(500);
  });

  it.each(['gzip', 'snappy', 'lz4', 'zstd'] as const)('calls bytes that %s did not write corrupt', (codec) => {
    const random = new SeededRandom(7);
    expect(() => decompress(codec, random.bytes(300))).toThrow(
      expect.objectContaining({ kind: expect.stringMatching(/corrupt|unsupported/) as string }),
    );
    expect(() => decompress('gzip', deflateRawSync(text))).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_CORRUPT' }));
  });

  it.each(['gzip', 'snappy', 'lz4'] as const)('calls %s bytes that are cut corrupt', (codec) => {
    const whole = compress(codec, text);
    expect(() => decompress(codec, whole.subarray(0, whole.length - 5))).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_CORRUPT' }));
  });

  it('calls zstd bytes that are cut corrupt', () => {
    expect(() => decompress('zstd', zstdFrame.subarray(0, zstdFrame.length - 8))).toThrow(
      expect.objectContaining({ code: 'KAFKA_BATCH_CORRUPT' }),
    );
  });

  it('calls an lz4 frame of the old form corrupt, whose size is not known before', () => {
    const block = Buffer.from(compress('lz4', new Uint8Array(4 * 1024 * 1024)).slice(7, -4));
    const old = Buffer.concat([Buffer.from('02214c18', 'hex'), block]);
    expect(() => decompress('lz4', old, 1024 * 1024)).toThrow(expect.objectContaining({ code: 'KAFKA_BATCH_CORRUPT' }));
  });

  it('measures an lz4 frame without unpacking it', () => {
    for (const plain of [text, new Uint8Array(300_000), new SeededRandom(3).bytes(100_000), new Uint8Array(0)]) {
      expect(lz4FrameSize(compress('lz4', plain), Number.MAX_SAFE_INTEGER)).toBe(plain.length);
    }
  });
});
