import { decompress } from '../../../src/codec/compression.ts';

const frameMagic = 0x184d2204;
const independentBlocks = 0x20;
const blockChecksums = 0x10;
const contentSize = 0x08;
const dictionary = 0x01;

/**
 * Unpacks an LZ4 frame (https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md) of blocks that stand for themselves. `undefined` for
 * bytes that are no such frame. Checksums are not looked at.
 *
 * @throws ServiceError `CODEC_BLOCK_CORRUPT`, `CODEC_BLOCK_TOO_LARGE` (kind corrupt).
 */
export function unpackLz4Frame(bytes: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const flags = bytes[4] ?? 0;
  if (view.byteLength < 11 || view.getUint32(0, true) !== frameMagic || (flags & dictionary) !== 0) return undefined;
  const blocks: Uint8Array[] = [];
  let room = maxBytes;
  // Behind flags, block size, the content's size and a checksum of the header.
  for (let at = 7 + ((flags & contentSize) === 0 ? 0 : 8); ; ) {
    if (at + 4 > view.byteLength) return undefined;
    const head = view.getUint32(at, true);
    if (head === 0) return Buffer.concat(blocks);
    if (blocks.length > 0 && (flags & independentBlocks) === 0) return undefined;
    const size = head & 0x7fff_ffff;
    const block = bytes.subarray(at + 4, at + 4 + size);
    if (block.byteLength !== size) return undefined;
    const unpacked = head >>> 31 === 1 ? block : decompress('lz4', block, { maxBytes: room });
    room -= unpacked.byteLength;
    blocks.push(unpacked);
    at += 4 + size + ((flags & blockChecksums) === 0 ? 0 : 4);
  }
}
