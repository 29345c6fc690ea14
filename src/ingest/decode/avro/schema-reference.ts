import type { SchemaKey } from '../../../protocol/payload-encoding.ts';
import type { SourceRecord } from '../source-record.ts';

/** Which part of the record is read: names of headers begin with it. */
export type RecordPart = 'value' | 'key';

/** Where a payload begins, and which schema it was written with; a text says why neither can be told. */
export type Reference = SchemaReference | string;

export interface SchemaReference {
  readonly key: SchemaKey;
  readonly from: number;
  /** What a header has besides the id: which message of the schema the payload is. Of a payload that begins with its id `undefined`. */
  readonly message?: MessageInHeader | undefined;
}

/** Numbers as they stand before payloads otherwise, or the message's name; both empty: the header does not tell. */
export interface MessageInHeader {
  readonly indexes: Uint8Array;
  readonly name: string;
}

const magic = 0;
const prefixBytes = 5;
const guidMagic = 1;
const guidBytes = 17;
const contentIdBytes = 8;
const nothing = new Uint8Array(0);

/** Where a part of a record says which schema wrote it, as the route has it. */
export function referenceOf(
  record: SourceRecord,
  { idIn, part }: { readonly idIn: 'prefix' | 'header'; readonly part: RecordPart },
  start: number,
  end: number,
): Reference {
  if (idIn === 'prefix') return referenceInPrefix(record, start, end);
  const found = referenceInHeader(record, part, start);
  if (found !== undefined) return found;
  // Records of before the producers moved the id into a header.
  const older = referenceInPrefix(record, start, end);
  return typeof older === 'string' ? absentHeader(part) : older;
}

/** Confluent's wire format: the byte 0 and the id in four bytes, big-endian. */
export function referenceInPrefix({ data }: SourceRecord, start: number, end: number): Reference {
  if (end - start < prefixBytes || data[start] !== magic) return 'does not begin with the byte 0 and the 4-byte id of a schema';
  const id = ((data[start + 1] ?? 0) << 24) | ((data[start + 2] ?? 0) << 16) | ((data[start + 3] ?? 0) << 8) | (data[start + 4] ?? 0);
  return { key: `ids/${id >>> 0}`, from: start + prefixBytes };
}

/**
 * An id in a header: of Confluent's newer serializers (`__value_schema_id`: a byte 1 and a GUID, or the prefix of the wire format, then the numbers of a
 * Protobuf message), or of Apicurio's (`apicurio.value.contentId`, `apicurio.value.globalId`: 8 bytes, big-endian; `apicurio.protobuf.type`).
 * `undefined`: there is none.
 */
function referenceInHeader(record: SourceRecord, part: RecordPart, start: number): Reference | undefined {
  const headers = new Map(record.headers());
  const confluent = headers.get(`__${part}_schema_id`);
  if (confluent !== undefined) {
    const bytes = bufferOf(confluent);
    const referenceTo = (key: SchemaKey, idBytes: number): Reference => ({
      key,
      from: start,
      message: { indexes: bytes.subarray(idBytes), name: '' },
    });
    if (bytes.length >= guidBytes && bytes[0] === guidMagic)
      return referenceTo(`guids/${guidText(bytes.subarray(1, guidBytes))}`, guidBytes);
    if (bytes.length >= prefixBytes && bytes[0] === magic) return referenceTo(`ids/${bytes.readUInt32BE(1)}`, prefixBytes);
    return `has a header __${part}_schema_id that is no id of a schema`;
  }
  for (const name of ['contentId', 'globalId']) {
    const id = headers.get(`apicurio.${part}.${name}`);
    if (id === undefined) continue;
    if (id.length !== contentIdBytes) return `has a header apicurio.${part}.${name} that is no id of a schema`;
    const message = headers.get(part === 'key' ? 'apicurio.protobuf.type.key' : 'apicurio.protobuf.type') ?? nothing;
    return {
      key: `ids/${bufferOf(id).readBigUInt64BE(0)}`,
      from: start,
      message: { indexes: nothing, name: bufferOf(message).toString('utf8') },
    };
  }
  return undefined;
}

function absentHeader(part: RecordPart): string {
  return `has no header with the id of its schema (__${part}_schema_id, apicurio.${part}.contentId or apicurio.${part}.globalId)`;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function guidText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
