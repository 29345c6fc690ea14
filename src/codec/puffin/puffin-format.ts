import type { JsonObject } from '../../base/bigint-json.ts';

/** `PFA1`: begins a file and its footer, and ends both. */
export const puffinMagic: Uint8Array = Uint8Array.of(0x50, 0x46, 0x41, 0x31);
/** Behind the footer's payload: its size, flags, magic. */
export const puffinTailBytes = 12;

/** What a footer says of one blob (https://iceberg.apache.org/puffin-spec/#blobmetadata). */
export interface PuffinBlob {
  readonly type: string;
  /** Ids of the columns it is about. */
  readonly fields: readonly number[];
  /** -1 for blobs that do not know it. */
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  /** In bytes from the beginning of the file. */
  readonly offset: number;
  readonly length: number;
  readonly compressionCodec: 'lz4' | 'zstd' | undefined;
  readonly properties: Readonly<Record<string, string>>;
}

/** A blob as footers and table metadata have it. */
export function puffinBlobToJson(blob: PuffinBlob): JsonObject {
  return {
    type: blob.type,
    fields: blob.fields,
    'snapshot-id': blob.snapshotId,
    'sequence-number': blob.sequenceNumber,
    offset: blob.offset,
    length: blob.length,
    'compression-codec': blob.compressionCodec,
    ...(Object.keys(blob.properties).length === 0 ? {} : { properties: blob.properties }),
  };
}
