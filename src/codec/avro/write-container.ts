import { crc32 } from 'node:zlib';
import { assert, assertNever } from '../../base/assert.ts';
import { compress } from '../compression.ts';
import { ByteSink } from './byte-sink.ts';
import { AVRO_MAGIC, type AvroCodec, SYNC_BYTES } from './read-container.ts';

export interface AvroContainerOptions {
  /** The text of the schema as it stands in the file. */
  readonly schema: string;
  readonly codec: AvroCodec;
  /** Effort of deflate (0 to 9) and zstandard (1 to 22); default the codec's own. */
  readonly level?: number | undefined;
  /** Entries for the header beside the schema and the codec. */
  readonly metadata?: ReadonlyMap<string, Uint8Array | string> | undefined;
  /** Sixteen bytes, random for each file, that separate blocks. */
  readonly sync: Uint8Array;
  /** Unpacked bytes after which a block ends; default `DEFAULT_BLOCK_BYTES`. */
  readonly blockBytes?: number | undefined;
}

/** Readers unpack one block at a time; larger ones pack a little better. */
export const DEFAULT_BLOCK_BYTES = 64_000;

/** Blocks that may be on their way to the file at a time: what a writer holds unpacked. */
const maxPendingBlocks = 8;

/**
 * Builds an Avro object container file: rows go to `sink`, each followed by `endRow`. Blocks are packed while rows go on; `drain` bounds
 * how many wait. After an error the writer is of no use.
 */
export class AvroContainerWriter {
  readonly sink: ByteSink = new ByteSink();
  readonly #codec: AvroCodec;
  readonly #level: number | undefined;
  readonly #sync: Uint8Array;
  readonly #blockBytes: number;
  readonly #parts: Uint8Array[] = [];
  readonly #pending: Promise<PackedBlock>[] = [];
  #partBytes = 0;
  #pendingBytes = 0;
  #rowsInBlock = 0;
  #rowCount = 0;

  constructor(options: AvroContainerOptions) {
    assert(options.sync.length === SYNC_BYTES, `a sync marker has ${SYNC_BYTES} bytes`);
    this.#codec = options.codec;
    this.#level = options.level;
    this.#sync = options.sync;
    this.#blockBytes = options.blockBytes ?? DEFAULT_BLOCK_BYTES;
    this.#push(header(options));
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** What the file has so far; blocks that are not packed yet count unpacked. */
  get sizeBytes(): number {
    return this.#partBytes + this.#pendingBytes + this.sink.length;
  }

  endRow(): void {
    this.#rowCount++;
    this.#rowsInBlock++;
    if (this.sink.length >= this.#blockBytes) this.#endBlock();
  }

  /** Waits until few enough blocks are on their way. */
  async drain(): Promise<void> {
    await this.#settle(maxPendingBlocks);
  }

  /** The whole file. */
  async finish(): Promise<Uint8Array> {
    if (this.#rowsInBlock > 0) this.#endBlock();
    await this.#settle(0);
    return Buffer.concat(this.#parts, this.#partBytes);
  }

  #endBlock(): void {
    const bytes = this.sink.take();
    this.#pendingBytes += bytes.length;
    const packed = packBlock(this.#codec, bytes, this.#level, this.#rowsInBlock);
    // Whoever waits for the block sees the failure; until then nobody does.
    packed.catch(() => undefined);
    this.#pending.push(packed);
    this.#rowsInBlock = 0;
  }

  async #settle(pending: number): Promise<void> {
    while (this.#pending.length > pending) {
      const block = await this.#pending.shift();
      if (block === undefined) return;
      this.#pendingBytes -= block.unpackedBytes;
      this.#push(block.head);
      this.#push(block.bytes);
      this.#push(this.#sync);
    }
  }

  #push(part: Uint8Array): void {
    this.#parts.push(part);
    this.#partBytes += part.length;
  }
}

interface PackedBlock {
  readonly head: Uint8Array;
  readonly bytes: Uint8Array;
  readonly unpackedBytes: number;
}

async function packBlock(codec: AvroCodec, unpacked: Uint8Array, level: number | undefined, rowCount: number): Promise<PackedBlock> {
  const bytes = await pack(codec, unpacked, level);
  const head = new ByteSink(headBytes);
  head.int(rowCount);
  head.int(bytes.length);
  return { head: head.take(), bytes, unpackedBytes: unpacked.length };
}

const headBytes = 20;

async function pack(codec: AvroCodec, bytes: Uint8Array, level: number | undefined): Promise<Uint8Array> {
  switch (codec) {
    case 'null':
      return bytes;
    case 'deflate':
      return await compress('deflate', bytes, { level });
    case 'zstandard':
      return await compress('zstd', bytes, { level });
    case 'snappy': {
      const checksum = Buffer.alloc(4);
      checksum.writeUInt32BE(crc32(bytes));
      return Buffer.concat([await compress('snappy', bytes), checksum]);
    }
    default:
      return assertNever(codec);
  }
}

function header(options: AvroContainerOptions): Uint8Array {
  const entries = new Map<string, Uint8Array | string>([...(options.metadata ?? [])]);
  entries.set('avro.schema', options.schema);
  entries.set('avro.codec', options.codec);
  const sink = new ByteSink();
  sink.fixed(AVRO_MAGIC);
  sink.int(entries.size);
  for (const [key, value] of entries) {
    sink.text(key);
    if (typeof value === 'string') sink.text(value);
    else sink.bytes(value);
  }
  sink.int(0);
  sink.fixed(options.sync);
  return sink.take();
}
