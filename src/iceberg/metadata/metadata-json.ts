import { type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { decompress } from '../../codec/compression.ts';

/** What a packed metadata file may unpack to. */
const maxMetadataBytes = 1024 * 1024 * 1024;

/** The JSON of a metadata file, packed with gzip or plain, whatever its name says. @throws ServiceError `JSON_INVALID` (kind corrupt). */
export function metadataJson(bytes: Uint8Array, location: string, maxBytes: number = maxMetadataBytes): JsonValue {
  const packed = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const plain = packed ? decompress('gzip', bytes, { maxBytes }) : bytes;
  return parseJson(Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString('utf8'), location);
}
