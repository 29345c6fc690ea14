import { isServiceError } from '../../../base/errors.ts';
import { type BlockCodec, compress, decompress } from '../../compression.ts';
import { corruptOrc } from '../orc-errors.ts';

/** How the parts of a file are packed: in chunks of at most `blockBytes` unpacked bytes. Without a codec they stand as they are. */
export interface Chunking {
  readonly codec: BlockCodec | undefined;
  readonly blockBytes: number;
}

/** The most that one stream or footer may unpack to. */
const maxStreamBytes = 2 ** 30;
/** The most that a chunk may be: its header has so many bits for the length. */
export const maxChunkBytes: number = 2 ** 23 - 1;
const headerBytes = 3;
// Chunks packed at the same time.
const parallelChunks = 8;

/**
 * Unpacks a stream or footer. The result may be a view of `bytes`.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt).
 */
export function unpackChunks(bytes: Uint8Array, chunking: Chunking, place: string): Uint8Array {
  if (chunking.codec === undefined) return bytes;
  const parts: Uint8Array[] = [];
  let total = 0;
  for (let at = 0; at < bytes.length; ) {
    if (at + headerBytes > bytes.length) throw corruptOrc(place, `byte ${at}: the header of a chunk is cut off`);
    const header = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    const from = at + headerBytes;
    const until = from + (header >>> 1);
    if (until > bytes.length) throw corruptOrc(place, `byte ${at}: a chunk of ${header >>> 1} bytes passes the end`);
    const packed = bytes.subarray(from, until);
    const part = (header & 1) === 1 ? packed : unpackChunk(packed, chunking.codec, chunking.blockBytes, `${place}, byte ${at}`);
    parts.push(part);
    total += part.length;
    if (total > maxStreamBytes) throw corruptOrc(place, `it unpacks to more than the ${maxStreamBytes} bytes allowed`);
    at = until;
  }
  return joined(parts, total);
}

/** A packed stream, and where each of its chunks begins. */
export interface PackedStream {
  readonly bytes: Uint8Array;
  /** Chunk `i` holds unpacked bytes from `i * blockBytes`. */
  readonly chunkStarts: readonly number[];
}

/** Packs a stream or footer; a chunk that would not shrink stands as it is. */
export async function packChunks(bytes: Uint8Array, chunking: Chunking): Promise<PackedStream> {
  const { codec, blockBytes } = chunking;
  if (codec === undefined) return { bytes, chunkStarts: [0] };
  const parts: Uint8Array[] = [];
  const chunkStarts: number[] = [];
  let total = 0;
  const step = blockBytes * parallelChunks;
  for (let from = 0; from < bytes.length; from += step) {
    const group = bytes.subarray(from, from + step);
    const chunks = Array.from({ length: Math.ceil(group.length / blockBytes) }, (_, index) =>
      packChunk(group.subarray(index * blockBytes, (index + 1) * blockBytes), codec),
    );
    for (const chunk of await Promise.all(chunks)) {
      chunkStarts.push(total);
      parts.push(chunk);
      total += chunk.length;
    }
  }
  return { bytes: joined(parts, total), chunkStarts };
}

async function packChunk(bytes: Uint8Array, codec: BlockCodec): Promise<Uint8Array> {
  const packed = await compress(codec, bytes);
  const shrinks = packed.length < bytes.length;
  const body = shrinks ? packed : bytes;
  const header = (body.length << 1) | (shrinks ? 0 : 1);
  const chunk = new Uint8Array(headerBytes + body.length);
  chunk.set([header & 0xff, (header >>> 8) & 0xff, header >>> 16]);
  chunk.set(body, headerBytes);
  return chunk;
}

function unpackChunk(packed: Uint8Array, codec: BlockCodec, blockBytes: number, place: string): Uint8Array {
  try {
    return plainBytes(decompress(codec, packed, { maxBytes: blockBytes }));
  } catch (cause) {
    if (isServiceError(cause, 'corrupt')) throw corruptOrc(place, cause.message, cause);
    throw cause;
  }
}

/** A view without Node's `Buffer`, whose `slice` shares memory. */
export function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
}

function joined(parts: readonly Uint8Array[], total: number): Uint8Array {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
