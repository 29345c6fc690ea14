import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../../src/base/bigint-json.ts';
import { isServiceError, ServiceError } from '../../../src/base/errors.ts';
import { decompress } from '../../../src/codec/compression.ts';
import { type PuffinBlob, puffinMagic, puffinTailBytes } from '../../../src/codec/puffin/puffin-format.ts';
import { unpackLz4Frame } from './lz4-frame.ts';

interface PuffinFooter {
  readonly blobs: readonly PuffinBlob[];
  readonly properties: Readonly<Record<string, string>>;
}

/** What one blob, or a footer, may unpack to. */
const maxUnpackedBytes = 1024 * 1024 * 1024;

/**
 * The footer of a Puffin file (https://iceberg.apache.org/puffin-spec/). `bytes` is the whole file.
 *
 * @throws ServiceError `PUFFIN_FILE_CORRUPT` (kind corrupt) naming the file.
 */
export function readPuffinFooter(bytes: Uint8Array, name: string): PuffinFooter {
  const end = bytes.byteLength;
  if (!hasMagic(bytes, 0) || !hasMagic(bytes, end - puffinMagic.byteLength)) throw puffinCorrupt(name, 'does not begin and end as one');
  if (end < 2 * puffinMagic.byteLength + puffinTailBytes) throw puffinCorrupt(name, 'is too short for a footer');
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  const size = view.getInt32(end - puffinTailBytes, true);
  const from = end - puffinTailBytes - size;
  if (size < 0 || from < 2 * puffinMagic.byteLength) throw puffinCorrupt(name, `a footer of ${size} bytes does not fit into ${end}`);
  if (!hasMagic(bytes, from - puffinMagic.byteLength)) throw puffinCorrupt(name, 'the footer does not begin with the magic');
  const flags = view.getUint32(end - puffinTailBytes + 4, true);
  if (flags > 1) throw puffinCorrupt(name, `unknown flags ${flags}`);
  const payload = bytes.subarray(from, from + size);
  const footer = parseFooter(flags === 1 ? unpacked('lz4', payload, name) : payload, name);
  for (const { offset, length } of footer.blobs) {
    if (offset < puffinMagic.byteLength || offset + length > from - puffinMagic.byteLength) {
      throw puffinCorrupt(name, `a blob of ${length} bytes at ${offset} lies outside of the file's blobs`);
    }
  }
  return footer;
}

/** The content of a blob, unpacked. @throws ServiceError `PUFFIN_FILE_CORRUPT` (kind corrupt) naming the file. */
export function readPuffinBlob(bytes: Uint8Array, blob: PuffinBlob, name: string): Uint8Array {
  const packed = bytes.subarray(blob.offset, blob.offset + blob.length);
  if (packed.byteLength !== blob.length) throw puffinCorrupt(name, `ends before the blob at ${blob.offset} does`);
  return blob.compressionCodec === undefined ? packed : unpacked(blob.compressionCodec, packed, name);
}

function hasMagic(bytes: Uint8Array, at: number): boolean {
  return at >= 0 && puffinMagic.every((byte, index) => bytes[at + index] === byte);
}

function unpacked(codec: 'lz4' | 'zstd', packed: Uint8Array, name: string): Uint8Array {
  try {
    if (codec === 'zstd') return decompress('zstd', packed, { maxBytes: maxUnpackedBytes });
    const content = unpackLz4Frame(packed, maxUnpackedBytes);
    if (content !== undefined) return content;
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt')) throw cause;
    throw puffinCorrupt(name, cause.message, cause);
  }
  throw puffinCorrupt(name, 'holds no LZ4 frame of blocks of their own where it should');
}

function parseFooter(payload: Uint8Array, name: string): PuffinFooter {
  const json = parsed(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).toString('utf8'), name);
  const { blobs, properties } = json;
  if (!Array.isArray(blobs)) throw puffinCorrupt(name, 'the footer has no list of blobs');
  return { blobs: (blobs as readonly JsonValue[]).map((blob) => blobOf(blob, name)), properties: textsOf(properties, name) };
}

function parsed(text: string, name: string): JsonObject {
  try {
    const json = parseJson(text, 'footer');
    if (isJsonObject(json)) return json;
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt')) throw cause;
    throw puffinCorrupt(name, cause.message, cause);
  }
  throw puffinCorrupt(name, 'the footer is no object');
}

function blobOf(json: JsonValue, name: string): PuffinBlob {
  if (!isJsonObject(json)) throw puffinCorrupt(name, 'a blob of the footer is no object');
  const { type, fields, 'compression-codec': codec } = json;
  if (typeof type !== 'string') throw puffinCorrupt(name, 'a blob has no type');
  if (codec !== undefined && codec !== null && codec !== 'lz4' && codec !== 'zstd') {
    throw puffinCorrupt(name, 'a blob is packed with an unknown codec');
  }
  return {
    type,
    fields: Array.isArray(fields) ? (fields as readonly JsonValue[]).map((id) => size(id, 'field', name)) : [],
    snapshotId: long(json['snapshot-id'], 'snapshot-id', name),
    sequenceNumber: long(json['sequence-number'], 'sequence-number', name),
    offset: size(json['offset'], 'offset', name),
    length: size(json['length'], 'length', name),
    compressionCodec: codec ?? undefined,
    properties: textsOf(json['properties'], name),
  };
}

function textsOf(json: JsonValue | undefined, name: string): Readonly<Record<string, string>> {
  if (json === undefined || json === null) return {};
  if (!isJsonObject(json)) throw puffinCorrupt(name, 'properties are no object');
  return Object.fromEntries(
    Object.entries(json).map(([key, text]) => {
      if (typeof text !== 'string') throw puffinCorrupt(name, `the property ${key} is no text`);
      return [key, text];
    }),
  );
}

function size(value: JsonValue | undefined, member: string, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw puffinCorrupt(name, `the ${member} of a blob is no size`);
}

function long(value: JsonValue | undefined, member: string, name: string): bigint {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  throw puffinCorrupt(name, `the ${member} of a blob is no integer`);
}

/** `PUFFIN_FILE_CORRUPT` (kind corrupt) naming the file. */
function puffinCorrupt(name: string, detail: string, cause?: unknown): ServiceError {
  return new ServiceError({ code: 'PUFFIN_FILE_CORRUPT', kind: 'corrupt', message: `puffin file ${name}: ${detail}`, cause });
}
