import type { SchemaKey } from '../../../protocol/payload-encoding.ts';
import type { SourceRecord } from '../source-record.ts';

/** Which part of the record is read: names of headers begin with it. */
export type RecordPart = 'value' | 'key';

/** Where a payload begins, and which schema it was written with; a text says why neither can be told. */
export type Reference = { readonly key: SchemaKey; readonly from: number } | string;

const magic = 0;
const prefixBytes = 5;
const guidMagic = 1;
const guidBytes = 17;
const contentIdBytes = 8;

/** Confluent's wire format: the byte 0 and the id in four bytes, big-endian. */
export function referenceInPrefix({ data }: SourceRecord, start: number, end: number): Reference {
  if (end - start < prefixBytes || data[start] !== magic) return 'does not begin with the byte 0 and the 4-byte id of a schema';
  const id = ((data[start + 1] ?? 0) << 24) | ((data[start + 2] ?? 0) << 16) | ((data[start + 3] ?? 0) << 8) | (data[start + 4] ?? 0);
  return { key: `ids/${id >>> 0}`, from: start + prefixBytes };
}

/**
 * An id in a header: of Confluent's newer serializers (`__value_schema_id`: a byte 1 and a GUID, or the prefix of the wire format), or of Apicurio's
 * (`apicurio.value.contentId`, `apicurio.value.globalId`: 8 bytes, big-endian).
 */
export function referenceInHeader(record: SourceRecord, part: RecordPart, start: number): Reference {
  const headers = new Map(record.headers());
  const confluent = headers.get(`__${part}_schema_id`);
  if (confluent !== undefined) {
    const bytes = Buffer.from(confluent.buffer, confluent.byteOffset, confluent.byteLength);
    if (bytes.length === guidBytes && bytes[0] === guidMagic) return { key: `guids/${guidText(bytes.subarray(1))}`, from: start };
    if (bytes.length === prefixBytes && bytes[0] === magic) return { key: `ids/${bytes.readUInt32BE(1)}`, from: start };
    return `has a header __${part}_schema_id that is no id of a schema`;
  }
  for (const name of ['contentId', 'globalId']) {
    const id = headers.get(`apicurio.${part}.${name}`);
    if (id === undefined) continue;
    if (id.length !== contentIdBytes) return `has a header apicurio.${part}.${name} that is no id of a schema`;
    const bytes = Buffer.from(id.buffer, id.byteOffset, id.byteLength);
    return { key: `ids/${bytes.readBigUInt64BE(0)}`, from: start };
  }
  return `has no header with the id of its schema (__${part}_schema_id, apicurio.${part}.contentId or apicurio.${part}.globalId)`;
}

function guidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
