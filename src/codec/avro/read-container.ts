import { crc32 } from 'node:zlib';
import { isServiceError } from '../../base/errors.ts';
import { type BlockCodec, decompress } from '../compression.ts';
import { avroCorrupt, avroUnsupported } from './avro-errors.ts';
import { ByteCursor, FreeItems } from './byte-cursor.ts';

/** How blocks are packed, by the names that Avro has for it. */
export type AvroCodec = 'null' | 'deflate' | 'snappy' | 'zstandard';

/** What one block may unpack to unless the caller says otherwise. */
export const DEFAULT_MAX_BLOCK_BYTES: number = 256 * 1024 * 1024;

export const AVRO_MAGIC: Uint8Array = Uint8Array.of(0x4f, 0x62, 0x6a, 0x01);
/** How Iceberg's encrypted files begin. */
const encryptedMagic: Uint8Array = Buffer.from('AGS1');
export const SYNC_BYTES = 16;

export interface AvroContainer {
  /** The header's entries, `avro.schema` and `avro.codec` among them. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  readonly codec: AvroCodec;
  readonly sync: Uint8Array;
  /** The blocks in order, unpacked one at a time. */
  readonly blocks: () => Generator<AvroBlock, void, undefined>;
}

export interface AvroBlock {
  readonly rowCount: number;
  /** May be a view of the file. */
  readonly bytes: Uint8Array;
  /** Names file and block, for errors. */
  readonly where: string;
  /** Shared by the blocks of a file. */
  readonly freeItems: FreeItems;
}

/**
 * Opens an Avro object container file. A file cut exactly between two blocks looks whole: who knows its number of rows compares.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` naming `name` and the place, also from `blocks`; `AVRO_UNSUPPORTED` for another codec and for
 *   encrypted files.
 */
export function readContainer(bytes: Uint8Array, name: string, maxBlockBytes: number = DEFAULT_MAX_BLOCK_BYTES): AvroContainer {
  if (encryptedMagic.every((byte, index) => bytes[index] === byte))
    throw avroUnsupported(name, 'is encrypted', 'rewrite the table without encryption');
  if (!AVRO_MAGIC.every((byte, index) => bytes[index] === byte)) throw avroCorrupt(name, 'is not an avro object container file');
  const cursor = new ByteCursor(bytes, `${name}: avro header`);
  cursor.skip(AVRO_MAGIC.length);
  const metadata = readMetadata(cursor);
  const sync = cursor.fixed(SYNC_BYTES);
  const codec = codecOf(metadata, name);
  const file: OpenFile = { bytes, name, codec, sync, maxBlockBytes, firstBlock: cursor.at };
  return { metadata, codec, sync, blocks: () => readBlocks(file) };
}

interface OpenFile {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly codec: AvroCodec;
  readonly sync: Uint8Array;
  readonly maxBlockBytes: number;
  readonly firstBlock: number;
}

function readMetadata(cursor: ByteCursor): Map<string, Uint8Array> {
  const metadata = new Map<string, Uint8Array>();
  for (let count = cursor.blockLength(2); count > 0; count = cursor.blockLength(2)) {
    for (let index = 0; index < count; index++) {
      const key = cursor.text();
      metadata.set(key, cursor.bytes());
    }
  }
  return metadata;
}

function codecOf(metadata: ReadonlyMap<string, Uint8Array>, name: string): AvroCodec {
  const written = metadata.get('avro.codec');
  const codec = written === undefined || written.length === 0 ? 'null' : Buffer.from(written).toString('latin1');
  switch (codec) {
    case 'null':
    case 'deflate':
    case 'snappy':
    case 'zstandard':
      return codec;
    default:
      throw avroUnsupported(
        name,
        `blocks are packed with "${codec.slice(0, 40)}"; null, deflate, snappy and zstandard are read`,
        'have its writer use deflate',
      );
  }
}

function* readBlocks(file: OpenFile): Generator<AvroBlock, void, undefined> {
  const freeItems = new FreeItems();
  let at = file.firstBlock;
  while (at < file.bytes.length) {
    const where = `${file.name}: avro block at byte ${at}`;
    const cursor = new ByteCursor(file.bytes.subarray(at), where);
    const rowCount = Number(cursor.long());
    if (rowCount < 0) throw cursor.fail(`a block of ${rowCount} rows`);
    const packed = cursor.bytes();
    const sync = cursor.fixed(SYNC_BYTES);
    if (!file.sync.every((byte, index) => sync[index] === byte)) throw avroCorrupt(where, 'does not end with the sync marker of the file');
    at += cursor.at;
    const bytes = unpackBlock(file, packed, where);
    freeItems.earn(bytes.length);
    yield { rowCount, bytes, where, freeItems };
  }
}

const checksumBytes = 4;

function unpackBlock(file: OpenFile, packed: Uint8Array, where: string): Uint8Array {
  switch (file.codec) {
    case 'null':
      return packed;
    case 'deflate':
      return unpack('deflate', packed, file.maxBlockBytes, where);
    case 'zstandard':
      return unpack('zstd', packed, file.maxBlockBytes, where);
    default: {
      // A checksum of the unpacked bytes follows.
      const end = packed.length - checksumBytes;
      if (end < 0) throw avroCorrupt(where, 'is too short for a checksum');
      const unpacked = unpack('snappy', packed.subarray(0, end), file.maxBlockBytes, where);
      const expected = new DataView(packed.buffer, packed.byteOffset + end, checksumBytes).getUint32(0);
      if (crc32(unpacked) !== expected) throw avroCorrupt(where, 'does not have the checksum it was written with');
      return unpacked;
    }
  }
}

function unpack(codec: BlockCodec, packed: Uint8Array, maxBytes: number, where: string): Uint8Array {
  try {
    return decompress(codec, packed, { maxBytes });
  } catch (cause) {
    if (!isServiceError(cause)) throw cause;
    throw avroCorrupt(where, cause.message, cause);
  }
}
