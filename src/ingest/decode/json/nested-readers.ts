import type { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import { KeySet } from '../../../codec/columns/key-set.ts';
import type { ListBuilder, MapBuilder, StructBuilder } from '../../../codec/columns/nested-builders.ts';
import { byteAt } from '../bytes.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, COMMA, LETTER_N, OPEN_BRACE, OPEN_BRACKET } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';
import type { ObjectReader } from './object-reader.ts';

/** struct: a JSON object. */
export class StructReader implements JsonReader {
  readonly column: StructBuilder;
  readonly #members: ObjectReader;

  constructor(column: StructBuilder, members: ObjectReader) {
    this.column = column;
    this.#members = members;
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== OPEN_BRACE) return cursor.wrongType('an object');
    if (!this.#members.read(cursor)) return false;
    this.column.end();
    return true;
  }
}

/** list: a JSON array. */
export class ListReader implements JsonReader {
  readonly column: ListBuilder;
  readonly #element: JsonReader;

  constructor(column: ListBuilder, element: JsonReader) {
    this.column = column;
    this.#element = element;
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== OPEN_BRACKET) return cursor.wrongType('an array');
    if (!cursor.enter()) return false;
    const { element, type } = this.column;
    const first = element.length;
    if (cursor.peek() !== CLOSE_BRACKET) {
      for (;;) {
        if (!readOrNull(cursor, this.#element, type.elementNullable)) {
          cursor.path.push(`[${element.length - first}]`);
          return false;
        }
        const byte = cursor.peek();
        if (byte === CLOSE_BRACKET) break;
        if (byte !== COMMA) return cursor.invalid("',' or ']'");
        cursor.pos += 1;
      }
    }
    cursor.leave();
    this.column.end();
    return true;
  }
}

/** map with string keys: a JSON object whose members are the entries. */
export class MapReader implements JsonReader {
  readonly column: MapBuilder;
  readonly #keys: BytesBuilder;
  readonly #values: JsonReader;
  readonly #keySet = new KeySet();

  /** `keys`: those of `column`. */
  constructor(column: MapBuilder, keys: BytesBuilder, values: JsonReader) {
    this.column = column;
    this.#keys = keys;
    this.#values = values;
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== OPEN_BRACE) return cursor.wrongType('an object');
    if (!cursor.enter()) return false;
    this.#keySet.clear();
    if (cursor.peek() !== CLOSE_BRACE) {
      for (;;) {
        if (!this.#readEntry(cursor)) return false;
        const byte = cursor.peek();
        if (byte === CLOSE_BRACE) break;
        if (byte !== COMMA) return cursor.invalid("',' or '}'");
        cursor.pos += 1;
        cursor.peek();
      }
    }
    cursor.leave();
    this.column.end();
    return true;
  }

  #readEntry(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (!cursor.scanMemberName()) return false;
    const { text, textStart, textEnd } = cursor;
    if (!this.#keySet.add(text, textStart, textEnd))
      return cursor.fail('duplicate-member', 'is there more than once', from, cursor.pos - 1);
    this.#keys.append(text, textStart, textEnd);
    cursor.peek();
    if (readOrNull(cursor, this.#values, this.column.type.valueNullable)) return true;
    cursor.path.push('{}');
    return false;
  }
}

function readOrNull(cursor: JsonCursor, reader: JsonReader, nullable: boolean): boolean {
  if (cursor.peek() !== LETTER_N) return reader.read(cursor);
  const from = cursor.pos;
  if (!cursor.readNull()) return false;
  if (!nullable) return cursor.fail('missing-required', 'is not allowed here', from, cursor.pos);
  reader.column.appendNull();
  return true;
}
