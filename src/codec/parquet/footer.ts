import { ServiceError } from '../../base/errors.ts';
import { thriftType } from './thrift-compact.ts';

/**
 * The few parts of a Parquet footer that the library does not show: physical types of leaf columns, and the key-value metadata, which
 * can be replaced. The footer is a Thrift struct in compact protocol (parquet-format: FileMetaData).
 */
export interface FooterParts {
  /** Physical type of each leaf column in schema order; 3 is INT96. */
  readonly leafTypes: readonly number[];
  /** Start of the footer in the file. */
  readonly start: number;
  /** Where the fields before `key_value_metadata` end. */
  readonly beforeMetadata: number;
  /** The encoded key-value pairs that are there. */
  readonly pairs: readonly Uint8Array[];
  readonly pairKeys: readonly string[];
  /** Where the fields after it start, and the id of the first one; 0 when there is none. */
  readonly afterMetadata: number;
  readonly nextFieldId: number;
}

export const int96Type = 3;

const tailBytes = 8;
const schemaField = 2;
const metadataField = 5;

/** @throws ServiceError `PARQUET_CORRUPT` (kind corrupt) when the footer cannot be followed. */
export function readFooter(file: Uint8Array): FooterParts {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const length = file.length >= tailBytes ? view.getUint32(file.length - tailBytes, true) : Number.POSITIVE_INFINITY;
  const start = file.length - tailBytes - length;
  if (start < 0) throw corruptFooter('its length exceeds the file');
  const cursor = new CompactCursor(file, start, file.length - tailBytes);
  let leafTypes: number[] = [];
  let [beforeMetadata, afterMetadata, nextFieldId] = [start, -1, 0];
  const pairs: Uint8Array[] = [];
  const pairKeys: string[] = [];
  for (;;) {
    const headerAt = cursor.position;
    const field = cursor.fieldHeader();
    if (field.type === 0 || field.id > metadataField) {
      afterMetadata = headerAt;
      nextFieldId = field.type === 0 ? 0 : field.id;
      break;
    }
    if (field.id === schemaField) leafTypes = readLeafTypes(cursor);
    else if (field.id === metadataField) {
      for (let left = cursor.listHeader().size; left > 0; left--) {
        const from = cursor.position;
        pairKeys.push(readKey(cursor));
        pairs.push(file.subarray(from, cursor.position));
      }
    } else cursor.skip(field.type);
    cursor.lastId = field.id;
    if (field.id < metadataField) beforeMetadata = cursor.position;
  }
  return { leafTypes, start, beforeMetadata, pairs, pairKeys, afterMetadata, nextFieldId };
}

/** The file with one key-value pair set in its footer; the data pages are copied as they are. */
export function withKeyValue(file: Uint8Array, footer: FooterParts, key: string, value: string): Uint8Array {
  const kept = footer.pairs.filter((_, index) => footer.pairKeys[index] !== key);
  const pair = encodePair(key, value);
  const parts: Uint8Array[] = [file.subarray(footer.start, footer.beforeMetadata)];
  // Fields 1 to 4 are required, so that the metadata's id is always one more than the id before it.
  parts.push(Uint8Array.of((1 << 4) | thriftType.list), listHeader(kept.length + 1), ...kept, pair);
  if (footer.nextFieldId === 0) parts.push(file.subarray(footer.afterMetadata, file.length - tailBytes));
  else {
    const type = (file[footer.afterMetadata] ?? 0) & 0x0f;
    parts.push(Uint8Array.of(((footer.nextFieldId - metadataField) << 4) | type));
    parts.push(file.subarray(footer.afterMetadata + 1, file.length - tailBytes));
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const tail = new Uint8Array(tailBytes);
  new DataView(tail.buffer).setUint32(0, length, true);
  tail.set(file.subarray(file.length - 4), 4);
  return Buffer.concat([file.subarray(0, footer.start), ...parts, tail]);
}

function readLeafTypes(cursor: CompactCursor): number[] {
  const types: number[] = [];
  for (let left = cursor.listHeader().size; left > 0; left--) {
    let type: number | undefined;
    let childCount = 0;
    cursor.structFields((id, wireType) => {
      if (id === 1) type = cursor.zigzag();
      else if (id === 5) childCount = cursor.zigzag();
      else cursor.skip(wireType);
    });
    if (type !== undefined && childCount === 0) types.push(type);
  }
  return types;
}

function readKey(cursor: CompactCursor): string {
  let key = '';
  cursor.structFields((id, wireType) => {
    if (id === 1) key = new TextDecoder().decode(cursor.binary());
    else cursor.skip(wireType);
  });
  return key;
}

function encodePair(key: string, value: string): Uint8Array {
  const [keyBytes, valueBytes] = [Buffer.from(key), Buffer.from(value)];
  const header = (1 << 4) | thriftType.binary;
  return Buffer.concat([
    Uint8Array.of(header),
    varint(keyBytes.length),
    keyBytes,
    Uint8Array.of(header),
    varint(valueBytes.length),
    valueBytes,
    Uint8Array.of(0),
  ]);
}

function listHeader(size: number): Uint8Array {
  if (size < 15) return Uint8Array.of((size << 4) | thriftType.struct);
  return Buffer.concat([Uint8Array.of(0xf0 | thriftType.struct), varint(size)]);
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Uint8Array.from([...bytes, rest]);
}

const maxDepth = 32;

class CompactCursor {
  position: number;
  lastId = 0;
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, from: number, end: number) {
    this.#bytes = bytes;
    this.position = from;
    this.#end = end;
  }

  fieldHeader(): { readonly id: number; readonly type: number } {
    const byte = this.#byte();
    const type = byte & 0x0f;
    if (type === 0) return { id: 0, type };
    return { id: byte >> 4 === 0 ? this.zigzag() : this.lastId + (byte >> 4), type };
  }

  /** Calls `read` for every field of a struct; it must consume the value. */
  structFields(read: (id: number, type: number) => void): void {
    const outer = this.lastId;
    this.lastId = 0;
    for (;;) {
      const { id, type } = this.fieldHeader();
      if (type === 0) break;
      read(id, type);
      this.lastId = id;
    }
    this.lastId = outer;
  }

  listHeader(): { readonly size: number; readonly type: number } {
    const byte = this.#byte();
    const size = byte >> 4 === 15 ? this.#varint() : byte >> 4;
    if (size > this.#end - this.position) throw corruptFooter(`a list of ${size} elements`);
    return { size, type: byte & 0x0f };
  }

  zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  binary(): Uint8Array {
    const length = this.#varint();
    this.#advance(length);
    return this.#bytes.subarray(this.position - length, this.position);
  }

  skip(type: number, depth = 0): void {
    if (depth > maxDepth) throw corruptFooter(`nesting deeper than ${maxDepth}`);
    switch (type) {
      case thriftType.true:
      case thriftType.false:
        return;
      case thriftType.byte:
        this.#advance(1);
        return;
      case thriftType.i16:
      case thriftType.i32:
      case thriftType.i64:
        this.#varint();
        return;
      case thriftType.double:
        this.#advance(8);
        return;
      case thriftType.binary:
        this.binary();
        return;
      case thriftType.list:
      case thriftType.set: {
        const list = this.listHeader();
        // Booleans in a list take a byte each, unlike boolean fields.
        const isFlag = list.type === thriftType.true || list.type === thriftType.false;
        for (let left = list.size; left > 0; left--) this.skip(isFlag ? thriftType.byte : list.type, depth + 1);
        return;
      }
      case thriftType.struct:
        this.structFields((_, fieldType) => {
          this.skip(fieldType, depth + 1);
        });
        return;
      default:
        throw corruptFooter(`thrift type ${type}`);
    }
  }

  #byte(): number {
    this.#advance(1);
    return this.#bytes[this.position - 1] ?? 0;
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      if (factor > 2 ** 63) throw corruptFooter('an integer longer than 64 bits');
    }
  }

  #advance(count: number): void {
    if (count > this.#end - this.position) throw corruptFooter('it ends too early');
    this.position += count;
  }
}

function corruptFooter(detail: string): ServiceError {
  return new ServiceError({ code: 'PARQUET_CORRUPT', kind: 'corrupt', message: `the parquet footer cannot be read: ${detail}` });
}
