import { compress, decompress, init } from '@bokuweb/zstd-wasm';

// Unpacking cannot wait, so the module is there before anybody can ask.
await init();

/** What is wrong with frames: more than the limit, or not what a compressor writes. */
export class ZstdError extends Error {
  readonly tooLarge: boolean;

  constructor(message: string, tooLarge = false) {
    super(message);
    this.tooLarge = tooLarge;
  }
}

const defaultLevel = 3;

/** One frame. `level` is 1 to 22. */
export function packZstd(bytes: Uint8Array, level: number = defaultLevel): Uint8Array {
  return compress(bytes, level);
}

/**
 * Unpacks Zstandard frames (RFC 8878) with the reference decoder. Every frame and its blocks are looked at before: nothing larger than `maxBytes`
 * is set aside, and a frame costs by what it unpacks to, whatever window it asks for.
 *
 * @throws ZstdError.
 */
export function unpackZstd(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let total = 0;
  let at = 0;
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    at = frame.end;
    if (frame.skippable) continue;
    const room = maxBytes - total;
    if ((frame.contentBytes ?? frame.leastBytes) > room) throw tooLarge(maxBytes);
    const part = unpackFrame(bytes.subarray(frame.start, frame.end), frame, room);
    total += part.length;
    if (total > maxBytes) throw tooLarge(maxBytes);
    parts.push(part);
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, total);
}

interface Frame {
  readonly start: number;
  readonly end: number;
  readonly skippable: boolean;
  /** What the header says; the decoder refuses a frame that is different. */
  readonly contentBytes: number | undefined;
  /** What the blocks unpack to: those that are not compressed say so, the others have a limit. */
  readonly leastBytes: number;
  readonly mostBytes: number;
}

/** The decoder's name for more than there is room for (ZSTD_error_dstSize_tooSmall). */
const noRoom = /code -70$/;

function unpackFrame(bytes: Uint8Array, { contentBytes, mostBytes }: Frame, room: number): Uint8Array {
  if (contentBytes === 0 || mostBytes === 0) return new Uint8Array(0);
  // A header that promises more than the blocks can hold would have that much set aside for nothing.
  if (contentBytes !== undefined && contentBytes > mostBytes) throw new ZstdError('a zstd frame ends before its content');
  const set = Math.min(room, mostBytes);
  try {
    return decompress(bytes, { defaultHeapSize: Math.max(1, set) });
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw noRoom.test(detail) && contentBytes === undefined && set === room
      ? tooLarge(room)
      : new ZstdError(`a zstd frame cannot be unpacked: ${detail}`);
  }
}

function tooLarge(maxBytes: number): ZstdError {
  return new ZstdError(`zstd frames unpack to more than ${maxBytes} bytes`, true);
}

const magicBytes = 4;
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const checksumBytes = 4;
/** No block unpacks to more, and none to more than the window. */
const maxBlockBytes = 128 * 1024;

function frameAt(bytes: Uint8Array, start: number): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (start + 8 > bytes.length) throw endsEarly();
  const magic = view.getUint32(start, true);
  if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
    const end = start + 8 + view.getUint32(start + 4, true);
    if (end > bytes.length) throw endsEarly();
    return { start, end, skippable: true, contentBytes: 0, leastBytes: 0, mostBytes: 0 };
  }
  if (magic !== frameMagic) throw new ZstdError(`no zstd frame at byte ${start}`);
  const descriptor = view.getUint8(start + magicBytes);
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeCode = descriptor >> 6;
  const sizeBytes = sizeCode === 0 ? (singleSegment ? 1 : 0) : 2 ** sizeCode;
  const windowAt = start + magicBytes + 1;
  const sizeAt = windowAt + (singleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (sizeAt + sizeBytes > bytes.length) throw endsEarly();
  const blocks = blocksAt(bytes, sizeAt + sizeBytes);
  const end = blocks.end + ((descriptor & 4) === 0 ? 0 : checksumBytes);
  if (end > bytes.length) throw endsEarly();
  return { ...blocks, start, end, skippable: false, contentBytes: contentSize(view, sizeAt, sizeBytes) };
}

function contentSize(view: DataView, at: number, sizeBytes: number): number | undefined {
  switch (sizeBytes) {
    case 0:
      return undefined;
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    default:
      return Number(view.getBigUint64(at, true));
  }
}

const blockType = { raw: 0, repeated: 1 } as const;

/** Blocks follow each other, each with three bytes of header: last block, type, size. */
function blocksAt(bytes: Uint8Array, from: number): Pick<Frame, 'end' | 'leastBytes' | 'mostBytes'> {
  let [at, leastBytes, mostBytes] = [from, 0, 0];
  for (;;) {
    if (at + 3 > bytes.length) throw endsEarly();
    const header = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    const [type, size] = [(header >> 1) & 3, header >> 3];
    const known = type === blockType.raw || type === blockType.repeated;
    leastBytes += known ? size : 0;
    mostBytes += known ? size : maxBlockBytes;
    at += 3 + (type === blockType.repeated ? 1 : size);
    if ((header & 1) === 1) return { end: at, leastBytes, mostBytes };
  }
}

function endsEarly(): ZstdError {
  return new ZstdError('zstd frames end early');
}
