import { promisify } from 'node:util';
import { deflateRaw, gunzipSync, gzip, inflateRawSync } from 'node:zlib';
import { compress as lz4Compress, uncompressSync as lz4Uncompress } from 'lz4-napi';
import { compress as snappyCompress, uncompressSync as snappyUncompress } from 'snappy';
import { assertNever } from '../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../base/errors.ts';
import { packZstd, unpackZstd, ZstdError } from '../base/zstd.ts';

/**
 * What a block of a file is compressed with. `deflate` is the bare stream without a header (RFC 1951): Avro calls it deflate, ORC zlib.
 * `snappy` and `lz4` are raw blocks without framing, `gzip` and `zstd` one or more members or frames.
 */
export type BlockCodec = 'deflate' | 'gzip' | 'snappy' | 'zstd' | 'lz4';

export interface DecompressLimits {
  /** The most a block may unpack to; nothing much larger is ever allocated. */
  readonly maxBytes: number;
  /** What the block must unpack to, where the format tells. */
  readonly exactBytes?: number | undefined;
}

/**
 * Unpacks one block. The result may be the whole or a part of a larger buffer and belongs to the caller.
 *
 * @throws ServiceError `CODEC_BLOCK_TOO_LARGE` (kind corrupt) when the result would pass `maxBytes`; `CODEC_BLOCK_CORRUPT` (kind corrupt)
 *   when the bytes are not what the codec writes, end early, or do not unpack to `exactBytes`.
 */
export function decompress(codec: BlockCodec, bytes: Uint8Array, limits: DecompressLimits): Uint8Array {
  const unpacked = unpackBlock(codec, bytes, limits.maxBytes);
  if (unpacked.length > limits.maxBytes) throw blockTooLarge(codec, bytes.length, limits.maxBytes);
  if (limits.exactBytes !== undefined && unpacked.length !== limits.exactBytes) {
    throw corrupt(`${bytes.length} bytes of ${codec} unpack to ${unpacked.length} bytes instead of ${limits.exactBytes}`);
  }
  return unpacked;
}

export interface CompressOptions {
  /** Effort of deflate and gzip (0 to 9) and zstd (1 to 22), default the codec's own; the others have none. */
  readonly level?: number | undefined;
}

/** Packs one block, outside of the event loop where the codec can. The input must not change before the promise settles. */
export async function compress(codec: BlockCodec, bytes: Uint8Array, options: CompressOptions = {}): Promise<Uint8Array> {
  switch (codec) {
    case 'deflate':
      return deflateRawAsync(bytes, options.level === undefined ? {} : { level: options.level });
    case 'gzip':
      return gzipAsync(bytes, options.level === undefined ? {} : { level: options.level });
    case 'snappy':
      return snappyCompress(bytes);
    case 'zstd':
      return packZstd(bytes, options.level);
    case 'lz4':
      return (await lz4Compress(bytes)).subarray(lz4SizeBytes);
    default:
      return assertNever(codec);
  }
}

const deflateRawAsync: (bytes: Uint8Array, options: { level?: number }) => Promise<Uint8Array> = promisify(deflateRaw);
const gzipAsync: (bytes: Uint8Array, options: { level?: number }) => Promise<Uint8Array> = promisify(gzip);

const leastChunkBytes = 128;
const mostChunkBytes = 1024 * 1024;

/**
 * What is set aside for a block's output at a time. The library's own 16 KiB would stay in memory for each of a hundred thousand blocks of a
 * few hundred bytes, which is how some writers pack manifests, and be too little for large ones.
 */
function chunkBytesFor(bytes: Uint8Array): number {
  return Math.min(mostChunkBytes, Math.max(leastChunkBytes, 2 * bytes.length));
}

function unpackBlock(codec: BlockCodec, bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    switch (codec) {
      case 'deflate':
        return inflateRawSync(bytes, { maxOutputLength: Math.max(1, maxBytes), chunkSize: chunkBytesFor(bytes) });
      case 'gzip':
        return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes), chunkSize: chunkBytesFor(bytes) });
      case 'snappy':
        return unpackSnappy(bytes, maxBytes);
      case 'zstd':
        return unpackZstd(bytes, maxBytes);
      case 'lz4':
        return unpackLz4(bytes, maxBytes);
      default:
        return assertNever(codec);
    }
  } catch (cause) {
    if (isServiceError(cause)) throw cause;
    if (cause instanceof ZstdError && cause.tooLarge) throw blockTooLarge(codec, bytes.length, maxBytes);
    if (cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw blockTooLarge(codec, bytes.length, maxBytes);
    }
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw corrupt(`${bytes.length} bytes of ${codec} cannot be unpacked: ${detail}`, cause);
  }
}

/** A raw snappy block says first how long it is unpacked, as a varint of at most five bytes. */
function unpackSnappy(bytes: Uint8Array, maxBytes: number): Uint8Array {
  let size = 0;
  for (let index = 0; ; index++) {
    const byte = bytes[index];
    if (byte === undefined || index > 4) throw corrupt(`${bytes.length} bytes of snappy do not begin with a length`);
    size += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) break;
  }
  if (size > maxBytes) throw blockTooLarge('snappy', bytes.length, maxBytes);
  return asBytes(snappyUncompress(bytes, { asBuffer: true }));
}

// The library wants the unpacked size before the block, as a 32-bit number; it takes one that is too large.
const lz4SizeBytes = 4;
// A byte of LZ4 never stands for more than so many.
const lz4MaxRatio = 255;

function unpackLz4(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const room = Math.min(maxBytes, bytes.length * lz4MaxRatio);
  const sized = new Uint8Array(lz4SizeBytes + bytes.length);
  new DataView(sized.buffer).setUint32(0, room, true);
  sized.set(bytes, lz4SizeBytes);
  try {
    return asBytes(lz4Uncompress(sized));
  } catch (cause) {
    if (cause instanceof Error && cause.message.includes('too small')) throw blockTooLarge('lz4', bytes.length, maxBytes);
    throw cause;
  }
}

function asBytes(value: string | Uint8Array): Uint8Array {
  if (typeof value === 'string') throw corrupt('unpacked to text');
  return value;
}

function blockTooLarge(codec: BlockCodec, packedBytes: number, maxBytes: number): ServiceError {
  return serviceError.corrupt(
    'CODEC_BLOCK_TOO_LARGE',
    `${packedBytes} bytes of ${codec} unpack to more than the ${maxBytes} bytes allowed`,
  );
}

function corrupt(message: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('CODEC_BLOCK_CORRUPT', message, { cause });
}
