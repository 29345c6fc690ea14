import { gunzipSync, gzipSync } from 'node:zlib';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import { compressSync as snappyCompress, uncompressSync as snappyUncompress } from 'snappy';
import { assertNever } from '../../base/assert.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { unpackZstd, ZstdError } from '../../base/zstd.ts';
import { lz4FrameSize } from './lz4-frame-size.ts';

/** What the records of a batch are compressed with. `zstd` is read, not written. */
export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';

/** Default limit of what one record batch may unpack to: far above what brokers take, far below what kills a process. */
export const DEFAULT_MAX_UNPACKED_BYTES: number = 256 * 1024 * 1024;

/**
 * Unpacks the records of a batch; never allocates much more than `maxBytes`.
 *
 * @throws ServiceError `KAFKA_BATCH_TOO_LARGE` (kind unsupported) when the result would pass `maxBytes`; `KAFKA_BATCH_CORRUPT` when
 *   the bytes are not what the codec wrote.
 */
export function decompress(compression: Compression, bytes: Uint8Array, maxBytes: number = DEFAULT_MAX_UNPACKED_BYTES): Uint8Array {
  try {
    return unpack(compression, bytes, maxBytes);
  } catch (cause) {
    if (isServiceError(cause)) throw cause;
    if (cause instanceof ZstdError && cause.tooLarge) throw tooLarge(compression, bytes.length, maxBytes);
    if (cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLarge(compression, bytes.length, maxBytes);
    }
    throw serviceError.corrupt(
      'KAFKA_BATCH_CORRUPT',
      `${bytes.length} bytes of ${compression} records cannot be unpacked: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/**
 * Packs the records of a batch.
 *
 * @throws ServiceError `KAFKA_COMPRESSION_UNSUPPORTED` for `zstd`, which is only read.
 */
export function compress(compression: Compression, bytes: Uint8Array): Uint8Array {
  switch (compression) {
    case 'none':
      return bytes;
    case 'gzip':
      return gzipSync(bytes, { level: 1 });
    case 'snappy':
      return snappyCompress(bytes);
    case 'lz4':
      return compressFrameSync(asBuffer(bytes));
    case 'zstd':
      throw serviceError.unsupported('KAFKA_COMPRESSION_UNSUPPORTED', 'record batches cannot be written with zstd', {
        hint: 'produce with lz4, snappy, gzip or none',
      });
    default:
      return assertNever(compression);
  }
}

function unpack(compression: Compression, bytes: Uint8Array, maxBytes: number): Uint8Array {
  switch (compression) {
    case 'none':
      if (bytes.length > maxBytes) throw tooLarge(compression, bytes.length, maxBytes);
      return bytes;
    case 'gzip':
      return gunzipSync(bytes, { maxOutputLength: maxBytes });
    case 'snappy':
      return isXerial(bytes) ? unpackXerial(bytes, maxBytes) : unpackSnappy(bytes, maxBytes);
    case 'lz4':
      return unpackLz4(bytes, maxBytes);
    case 'zstd':
      return unpackZstd(bytes, maxBytes);
    default:
      return assertNever(compression);
  }
}

// LZ4 cannot expand a byte to more than 255, so most frames need no walk to know that they fit.
const lz4MaxRatio = 255;

const lz4FrameMagic = 0x184d2204;

function unpackLz4(bytes: Uint8Array, maxBytes: number): Uint8Array {
  // The library also takes the frames of before 2013, whose size nobody looks at; no producer writes them.
  const magic = bytes.length < 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (magic !== lz4FrameMagic) {
    throw serviceError.corrupt('KAFKA_BATCH_CORRUPT', `${bytes.length} bytes of lz4 records are no LZ4 frame`);
  }
  if (bytes.length * lz4MaxRatio > maxBytes && lz4FrameSize(bytes, maxBytes) > maxBytes) throw tooLarge('lz4', bytes.length, maxBytes);
  return decompressFrameSync(asBuffer(bytes));
}

/** Java producers frame snappy: magic, two versions, then blocks of a length and raw snappy. */
const xerialMagic = Uint8Array.of(0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00);
const xerialHeaderBytes = 16;

function isXerial(bytes: Uint8Array): boolean {
  return bytes.length >= xerialHeaderBytes && xerialMagic.every((byte, index) => bytes[index] === byte);
}

function unpackXerial(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocks: Uint8Array[] = [];
  let total = 0;
  let at = xerialHeaderBytes;
  while (at < bytes.length) {
    const start = at + 4;
    const end = start > bytes.length ? bytes.length + 1 : start + view.getUint32(at);
    if (end > bytes.length) throw serviceError.corrupt('KAFKA_BATCH_CORRUPT', 'snappy records end early');
    const block = unpackSnappy(bytes.subarray(start, end), maxBytes - total);
    total += block.length;
    blocks.push(block);
    at = end;
  }
  return Buffer.concat(blocks, total);
}

function unpackSnappy(bytes: Uint8Array, maxBytes: number): Uint8Array {
  // Raw snappy starts with its unpacked length as a varint; the decoder trusts it, so it is looked at first.
  let size = 0;
  for (let index = 0, scale = 1; index < 5; index += 1, scale *= 128) {
    const byte = bytes[index] ?? 0;
    size += (byte & 0x7f) * scale;
    if (byte < 0x80) break;
  }
  if (size > maxBytes) throw tooLarge('snappy', bytes.length, maxBytes);
  const unpacked = snappyUncompress(bytes, { asBuffer: true });
  return typeof unpacked === 'string' ? Buffer.from(unpacked) : unpacked;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function tooLarge(compression: Compression, packedBytes: number, maxBytes: number): ServiceError {
  return serviceError.unsupported(
    'KAFKA_BATCH_TOO_LARGE',
    compression === 'none'
      ? `${packedBytes} bytes of records are more than the limit of ${maxBytes} bytes`
      : `${packedBytes} bytes of ${compression} records unpack to more than the limit of ${maxBytes} bytes`,
    { hint: 'find the producer of the batch: such a ratio is a fault or an attack; where it is neither, raise ingest.maxUnpackedBytes' },
  );
}
