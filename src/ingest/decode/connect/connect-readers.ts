import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { ListBuilder, MapBuilder, StructBuilder } from '../../../codec/columns/nested-builders.ts';
import type { DecodeSpec } from '../../../protocol/sealed-batch.ts';
import { byteAt } from '../bytes.ts';
import { decodeBase64 } from '../json/base64.ts';
import { createJsonReader } from '../json/create-reader.ts';
import { readExact } from '../json/exact-number.ts';
import { OPEN_BRACE, QUOTE } from '../json/json-bytes.ts';
import type { JsonCursor } from '../json/json-cursor.ts';
import type { JsonReader } from '../json/json-reader.ts';
import { ListReader, MapReader, StructReader } from '../json/nested-readers.ts';
import { ObjectReader } from '../json/object-reader.ts';
import type { UnreadMembers } from '../payload-decoder.ts';
import { appendScaled, connectDecimal, storedInteger, variableScaleDecimal } from '../stored-decimals.ts';
import { inDates, isDateNamed, TimesOfColumn, timeNamed } from '../stored-times.ts';
import { ValueRefused } from '../value-refused.ts';
import type { ConnectSchema } from './connect-schema.ts';

type Unknown = DecodeSpec['unknownMembers'];

/** The reader of JSON values that were written with `schema`; without one, of JSON as it stands, which tells `nested` of members of structs that have no place. */
export function connectReader(
  schema: ConnectSchema | undefined,
  column: ColumnBuilder,
  unknownMembers: Unknown,
  nested?: UnreadMembers,
): JsonReader {
  return (
    (schema === undefined ? undefined : readerBy(schema, column, unknownMembers, nested)) ??
    createJsonReader(column, unknownMembers, nested)
  );
}

function readerBy(
  schema: ConnectSchema,
  column: ColumnBuilder,
  unknownMembers: Unknown,
  nested: UnreadMembers | undefined,
): JsonReader | undefined {
  const { type, name, scale = 0 } = schema;
  if (column instanceof DecimalBuilder) {
    if (name === connectDecimal) return new DecimalOfBytes(column, scale);
    return name === variableScaleDecimal ? new DecimalOfAnyScale(column) : undefined;
  }
  if (column instanceof Int32Builder && column.type.kind === 'date' && isDateNamed(name)) return new DayReader(column);
  if (column instanceof Int64Builder && column.type.kind !== 'long') {
    const times = TimesOfColumn.of(timeNamed(name), column, '');
    return times === undefined ? undefined : new NumberedTimeReader(times);
  }
  // Its text is base64, which no column of text asked for.
  if (type === 'bytes' && column instanceof BytesBuilder && column.type.kind === 'string')
    return new RefusingReader(column, 'a string: it is bytes');
  if (column instanceof StructBuilder) {
    const members = column.type.fields.flatMap((field, index) => {
      const child = column.children[index];
      if (child === undefined) return [];
      return [{ ...field, label: field.name, reader: connectReader(schema.fields.get(field.name), child, unknownMembers, nested) }];
    });
    return new StructReader(column, new ObjectReader(members, unknownMembers, nested));
  }
  if (column instanceof ListBuilder) return new ListReader(column, connectReader(schema.items, column.element, unknownMembers, nested));
  if (column instanceof MapBuilder && column.keys instanceof BytesBuilder && column.keys.type.kind === 'string')
    return new MapReader(column, column.keys, connectReader(schema.values, column.values, unknownMembers, nested));
  return undefined;
}

const longForm = { expected: 'a whole number', scale: 0, acceptsStrings: false, min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** Runs `append`; a value that it refuses is the cursor's failure. */
function taken(cursor: JsonCursor, append: () => void): boolean {
  try {
    append();
    return true;
  } catch (error) {
    if (!(error instanceof ValueRefused)) throw error;
    return cursor.fail(error.reason, error.message, cursor.pos, cursor.pos);
  }
}

/** Days since 1970. */
class DayReader implements JsonReader {
  readonly column: Int32Builder;

  constructor(column: Int32Builder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const days = readExact(cursor, longForm);
    if (days === undefined) return false;
    return taken(cursor, () => {
      this.column.append(inDates(Number(days), ''));
    });
  }
}

/** Times as a number of units. */
class NumberedTimeReader implements JsonReader {
  readonly column: Int64Builder;
  readonly #times: TimesOfColumn;

  constructor(times: TimesOfColumn) {
    this.column = times.column;
    this.#times = times;
  }

  read(cursor: JsonCursor): boolean {
    const stored = readExact(cursor, longForm);
    if (stored === undefined) return false;
    return taken(cursor, () => {
      this.#times.append(stored);
    });
  }
}

/** The bytes of a number in base64; a number where the converter writes decimals as such (`decimal.format=NUMERIC`). */
class DecimalOfBytes implements JsonReader {
  readonly column: DecimalBuilder;
  readonly #scale: number;
  readonly #numeric: JsonReader;

  constructor(column: DecimalBuilder, scale: number) {
    this.column = column;
    this.#scale = scale;
    this.#numeric = createJsonReader(column, 'ignore');
  }

  read(cursor: JsonCursor): boolean {
    if (byteAt(cursor.bytes, cursor.pos, cursor.end) !== QUOTE) return this.#numeric.read(cursor);
    const bytes = base64At(cursor);
    return (
      bytes !== undefined &&
      taken(cursor, () => {
        appendScaled(this.column, BigInt(storedInteger(bytes, '')), this.#scale, '');
      })
    );
  }
}

/** Debezium's object of `scale` and `value`. */
class DecimalOfAnyScale implements JsonReader {
  readonly column: DecimalBuilder;

  constructor(column: DecimalBuilder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (byteAt(cursor.bytes, from, cursor.end) !== OPEN_BRACE) return cursor.wrongType('a decimal with its scale');
    if (!cursor.enter()) return false;
    let scale: bigint | undefined;
    let bytes: Uint8Array | undefined;
    for (let isFirst = true; ; isFirst = false) {
      const step = cursor.toMember(isFirst);
      if (step === 0) break;
      if (step < 0 || !cursor.scanMemberName()) return false;
      const name = Buffer.from(cursor.text.subarray(cursor.textStart, cursor.textEnd)).toString('latin1');
      cursor.peek();
      if (name === 'scale') scale = readExact(cursor, scaleForm);
      else if (name === 'value') bytes = base64At(cursor);
      else if (!cursor.skipValue()) return false;
      if (cursor.failure !== undefined) return false;
    }
    cursor.leave();
    if (scale === undefined || bytes === undefined) return cursor.fail('wrong-type', 'is no decimal with its scale', from, cursor.pos);
    const [digitsBehind, unscaled] = [Number(scale), bytes];
    return taken(cursor, () => {
      appendScaled(this.column, BigInt(storedInteger(unscaled, '')), digitsBehind, '');
    });
  }
}

const scaleForm = { ...longForm, expected: 'a scale', min: -(2n ** 31n), max: 2n ** 31n - 1n };

class RefusingReader implements JsonReader {
  readonly column: ColumnBuilder;
  readonly #expected: string;

  constructor(column: ColumnBuilder, expected: string) {
    this.column = column;
    this.#expected = expected;
  }

  read(cursor: JsonCursor): boolean {
    return cursor.wrongType(this.#expected);
  }
}

/** The bytes of the base64 text at the cursor. */
function base64At(cursor: JsonCursor): Uint8Array | undefined {
  const from = cursor.pos;
  if (byteAt(cursor.bytes, from, cursor.end) !== QUOTE) cursor.wrongType('base64 text');
  else if (cursor.scanString()) {
    const out = new Uint8Array(cursor.textEnd - cursor.textStart);
    const until = decodeBase64({ bytes: cursor.text, start: cursor.textStart, end: cursor.textEnd }, out, 0);
    if (until >= 0) return out.subarray(0, until);
    cursor.fail('wrong-type', 'is not base64 text', from, cursor.pos);
  }
  return undefined;
}
