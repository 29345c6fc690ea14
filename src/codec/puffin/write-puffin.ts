import { puffinFooter } from './puffin-footer.ts';
import { type PuffinBlob, puffinBlobToJson, puffinMagic } from './puffin-format.ts';

/** A blob to be written, as it is. */
export interface PuffinContent {
  readonly type: string;
  readonly fields: readonly number[];
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  readonly properties?: Readonly<Record<string, string>> | undefined;
  readonly content: Uint8Array;
}

export interface WrittenPuffin {
  readonly bytes: Uint8Array;
  /** One for each content, in their order, with their places. */
  readonly blobs: readonly PuffinBlob[];
  /** From the magic of the footer to the end of the file. */
  readonly footerSizeBytes: number;
}

/** A Puffin file of the blobs in their order, nothing of it packed. */
export function writePuffin(contents: readonly PuffinContent[], properties: Readonly<Record<string, string>>): WrittenPuffin {
  let offset = puffinMagic.byteLength;
  const blobs = contents.map((blob): PuffinBlob => {
    const { type, fields, snapshotId, sequenceNumber, content } = blob;
    const length = content.byteLength;
    const place = { offset, length };
    offset += length;
    return { type, fields, snapshotId, sequenceNumber, ...place, compressionCodec: undefined, properties: blob.properties ?? {} };
  });
  const footer = { blobs: blobs.map(puffinBlobToJson), ...(Object.keys(properties).length === 0 ? {} : { properties }) };
  const end = puffinFooter(footer);
  const bytes = Buffer.concat([puffinMagic, ...contents.map(({ content }) => content), end]);
  return { bytes, blobs, footerSizeBytes: end.byteLength };
}
