import { Decompress, decompress as decompressFrame } from 'fzstd';
import { ServiceError } from '../base/errors.ts';

/**
 * Unpacks the Zstandard frames of a block (RFC 8878), looking at every frame's header before the decoder may allocate for it.
 *
 * @throws ServiceError `CODEC_BLOCK_CORRUPT`, what `tooLarge` makes when the result would pass `maxBytes`, or an error of the decoder.
 */
export function unpackZstd(bytes: Uint8Array, maxBytes: number, tooLarge: () => ServiceError): Uint8Array {
  const parts: Uint8Array[] = [];
  let total = 0;
  let at = 0;
  while (at < bytes.length) {
    const frame = frameAt(bytes, at);
    at = frame.end;
    if (frame.skippable) continue;
    const room = maxBytes - total;
    if (frame.contentBytes !== undefined && frame.contentBytes > room) throw tooLarge();
    const part = unpackFrame(bytes.subarray(frame.start, frame.end), frame, room, tooLarge);
    total += part.length;
    parts.push(part);
  }
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, total);
}

interface Frame {
  readonly start: number;
  readonly end: number;
  readonly skippable: boolean;
  readonly contentBytes: number | undefined;
  readonly windowBytes: number;
}

/** What the reference decoder takes by default; more is only written on demand. */
const maxWindowBytes = 2 ** 27;

function unpackFrame(bytes: Uint8Array, frame: Frame, room: number, tooLarge: () => ServiceError): Uint8Array {
  if (frame.contentBytes === 0) return new Uint8Array(0);
  if (frame.contentBytes !== undefined) return decompressFrame(bytes);
  if (frame.windowBytes > maxWindowBytes) throw corrupt(`a zstd frame wants a window of ${frame.windowBytes} bytes`);
  const parts: Uint8Array[] = [];
  let total = 0;
  const stream = new Decompress((part) => {
    total += part.length;
    if (total > room) throw tooLarge();
    parts.push(part);
  });
  stream.push(bytes, true);
  return Buffer.concat(parts, total);
}

const magicBytes = 4;
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const checksumBytes = 4;

function frameAt(bytes: Uint8Array, start: number): Frame {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (start + 8 > bytes.length) throw corrupt('zstd frames end early');
  const magic = view.getUint32(start, true);
  if ((magic & 0xfffffff0) >>> 0 === skippableMagic) {
    const end = start + 8 + view.getUint32(start + 4, true);
    if (end > bytes.length) throw corrupt('zstd frames end early');
    return { start, end, skippable: true, contentBytes: 0, windowBytes: 0 };
  }
  if (magic !== frameMagic) throw corrupt(`no zstd frame at byte ${start}`);
  const descriptor = view.getUint8(start + magicBytes);
  const singleSegment = (descriptor & 0x20) !== 0;
  const sizeCode = descriptor >> 6;
  const sizeBytes = sizeCode === 0 ? (singleSegment ? 1 : 0) : 2 ** sizeCode;
  const windowAt = start + magicBytes + 1;
  const sizeAt = windowAt + (singleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (sizeAt + sizeBytes > bytes.length) throw corrupt('zstd frames end early');
  const contentBytes = contentSize(view, sizeAt, sizeBytes);
  const blocksEnd = endOfBlocks(bytes, sizeAt + sizeBytes);
  const end = blocksEnd + ((descriptor & 4) === 0 ? 0 : checksumBytes);
  if (end > bytes.length) throw corrupt('zstd frames end early');
  return { start, end, skippable: false, contentBytes, windowBytes: singleSegment ? 0 : windowSize(view.getUint8(windowAt)) };
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

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

const repeatedByteBlock = 1;

/** Blocks follow each other, each with three bytes of header: last block, type, size. */
function endOfBlocks(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    if (at + 3 > bytes.length) throw corrupt('zstd frames end early');
    const header = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    at += 3 + (((header >> 1) & 3) === repeatedByteBlock ? 1 : header >> 3);
    if ((header & 1) === 1) return at;
  }
}

function corrupt(message: string): ServiceError {
  return new ServiceError({ code: 'CODEC_BLOCK_CORRUPT', kind: 'corrupt', message });
}
