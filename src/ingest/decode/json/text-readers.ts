import type { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import { byteAt } from '../bytes.ts';
import { decodeBase64 } from './base64.ts';
import { QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';

/** Bytes of a JSON string that stand for themselves: ASCII from space on, without quote and backslash. */
const plain = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x20 && byte < 0x80 && byte !== 0x22 && byte !== 0x5c ? 1 : 0));

/** string: a JSON string, copied as UTF-8. */
export class StringReader implements JsonReader {
  readonly column: BytesBuilder;

  constructor(column: BytesBuilder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    let pos = cursor.pos;
    if (byteAt(bytes, pos, end) !== QUOTE) return cursor.wrongType('a string');
    pos += 1;
    const { column } = this;
    const data = column.reserve(end - pos);
    let at = column.dataLength;
    let byte = 0;
    while (pos < end) {
      byte = bytes[pos] ?? 0;
      if (plain[byte] === 0) break;
      data[at] = byte;
      at += 1;
      pos += 1;
    }
    if (pos < end && byte === QUOTE) cursor.pos = pos + 1;
    else {
      at = cursor.copyString(data, column.dataLength);
      if (at < 0) return false;
    }
    column.commit(at);
    return true;
  }
}

/** binary: a string of base64 (RFC 4648 section 4, padded, nothing else in it). */
export class BinaryReader implements JsonReader {
  readonly column: BytesBuilder;

  constructor(column: BytesBuilder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) return cursor.wrongType('base64 text');
    if (!cursor.scanString()) return false;
    const data = this.column.reserve(cursor.textEnd - cursor.textStart);
    const until = decodeBase64({ bytes: cursor.text, start: cursor.textStart, end: cursor.textEnd }, data, this.column.dataLength);
    if (until < 0) return cursor.fail('wrong-type', 'is not base64 text', from, cursor.pos);
    this.column.commit(until);
    return true;
  }
}
