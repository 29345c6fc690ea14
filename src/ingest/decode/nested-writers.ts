import type { Column } from '../../schema/columns.ts';
import type { ListType, MapType, StructType } from '../../schema/types.ts';
import { StringWriter } from './bytes-writers.ts';
import type { ColumnWriter } from './column-writer.ts';
import { grownInt32 } from './growable.ts';
import { byteAt, CLOSE_BRACE, CLOSE_BRACKET, COMMA, LETTER_N, OPEN_BRACE, OPEN_BRACKET } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import { KeySet } from './key-set.ts';
import type { ObjectReader } from './object-reader.ts';
import { Validity } from './validity.ts';

/** struct: a JSON object. */
export class StructWriter implements ColumnWriter {
  readonly #type: StructType;
  readonly #children: readonly ColumnWriter[];
  readonly #reader: ObjectReader;
  readonly #validity = new Validity();

  constructor(type: StructType, children: readonly ColumnWriter[], reader: ObjectReader) {
    this.#type = type;
    this.#children = children;
    this.#reader = reader;
  }

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== OPEN_BRACE) return cursor.wrongType('an object');
    if (!this.#reader.read(cursor)) return false;
    this.#validity.appendValid();
    return true;
  }

  appendNull(): void {
    this.#reader.appendNull();
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    this.#reader.truncate(length);
    this.#validity.truncate(length);
  }

  finish(): Column {
    return { layout: 'struct', type: this.#type, ...this.#validity.finish(), children: this.#children.map((child) => child.finish()) };
  }
}

/** Where each list or map of a column ends among its elements. */
class Offsets {
  readonly validity: Validity = new Validity();
  #offsets: Int32Array = new Int32Array(1);

  append(end: number, valid: boolean): void {
    const next = this.validity.length + 1;
    if (next >= this.#offsets.length) this.#offsets = grownInt32(this.#offsets, next + 1);
    this.#offsets[next] = end;
    if (valid) this.validity.appendValid();
    else this.validity.appendNull();
  }

  /** Returns how many elements are left. */
  truncate(length: number): number {
    this.validity.truncate(length);
    return this.#offsets[length] ?? 0;
  }

  finish(length: number): Int32Array {
    const offsets = this.#offsets.subarray(0, length + 1);
    this.#offsets = new Int32Array(1);
    return offsets;
  }
}

/** list: a JSON array. */
export class ListWriter implements ColumnWriter {
  readonly #type: ListType;
  readonly #element: ColumnWriter;
  readonly #offsets = new Offsets();

  constructor(type: ListType, element: ColumnWriter) {
    this.#type = type;
    this.#element = element;
  }

  get length(): number {
    return this.#offsets.validity.length;
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== OPEN_BRACKET) return cursor.wrongType('an array');
    if (!cursor.enter()) return false;
    const first = this.#element.length;
    if (cursor.peek() !== CLOSE_BRACKET) {
      for (;;) {
        if (!readOrNull(cursor, this.#element, this.#type.elementNullable)) {
          cursor.path.push(`[${this.#element.length - first}]`);
          return false;
        }
        const byte = cursor.peek();
        if (byte === CLOSE_BRACKET) break;
        if (byte !== COMMA) return cursor.invalid("',' or ']'");
        cursor.pos += 1;
      }
    }
    cursor.leave();
    this.#offsets.append(this.#element.length, true);
    return true;
  }

  appendNull(): void {
    this.#offsets.append(this.#element.length, false);
  }

  truncate(length: number): void {
    this.#element.truncate(this.#offsets.truncate(length));
  }

  finish(): Column {
    const counted = this.#offsets.validity.finish();
    return { layout: 'list', type: this.#type, ...counted, offsets: this.#offsets.finish(counted.length), element: this.#element.finish() };
  }
}

/** map with string keys: a JSON object whose members are the entries. */
export class MapWriter implements ColumnWriter {
  readonly #type: MapType;
  readonly #keys = new StringWriter();
  readonly #values: ColumnWriter;
  readonly #offsets = new Offsets();
  readonly #keySet = new KeySet();

  constructor(type: MapType, values: ColumnWriter) {
    this.#type = type;
    this.#values = values;
  }

  get length(): number {
    return this.#offsets.validity.length;
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
    this.#offsets.append(this.#keys.length, true);
    return true;
  }

  /** Begins a map whose entries are no JSON: `appendKey` and one value in the values writer for each, then `endMap`. */
  beginMap(): void {
    this.#keySet.clear();
  }

  /** False: the map has the key already. */
  appendKey(bytes: Uint8Array): boolean {
    if (!this.#keySet.add(bytes, 0, bytes.length)) return false;
    this.#keys.values.append(bytes, 0, bytes.length);
    return true;
  }

  endMap(): void {
    this.#offsets.append(this.#keys.length, true);
  }

  appendNull(): void {
    this.#offsets.append(this.#keys.length, false);
  }

  truncate(length: number): void {
    const entries = this.#offsets.truncate(length);
    this.#keys.truncate(entries);
    this.#values.truncate(entries);
  }

  finish(): Column {
    const counted = this.#offsets.validity.finish();
    const offsets = this.#offsets.finish(counted.length);
    return { layout: 'map', type: this.#type, ...counted, offsets, keys: this.#keys.finish(), values: this.#values.finish() };
  }

  #readEntry(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (!cursor.scanMemberName()) return false;
    const { text, textStart, textEnd } = cursor;
    if (!this.#keySet.add(text, textStart, textEnd))
      return cursor.fail('duplicate-member', 'is there more than once', from, cursor.pos - 1);
    this.#keys.values.append(text, textStart, textEnd);
    cursor.peek();
    if (readOrNull(cursor, this.#values, this.#type.valueNullable)) return true;
    cursor.path.push('{}');
    return false;
  }
}

function readOrNull(cursor: JsonCursor, writer: ColumnWriter, nullable: boolean): boolean {
  if (cursor.peek() !== LETTER_N) return writer.read(cursor);
  const from = cursor.pos;
  if (!cursor.readNull()) return false;
  if (!nullable) return cursor.fail('missing-required', 'is not allowed here', from, cursor.pos);
  writer.appendNull();
  return true;
}
