import { BooleanBuilder } from '../../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../../codec/columns/decimal-builder.ts';
import { FloatingBuilder } from '../../../codec/columns/floating-builder.ts';
import { Int32Builder } from '../../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../../codec/columns/int64-builder.ts';
import { shown } from '../rejection.ts';
import { appendScaled } from '../stored-decimals.ts';
import { TextInColumn } from '../text-in-column.ts';
import { isUtf8 } from '../utf8.ts';
import { ValueRefused, valueOutOfRange } from '../value-refused.ts';
import type { ProtoEnum, ProtoScalar } from './proto-schema.ts';
import type { ValueReader } from './value-reader.ts';
import { type WireCursor, wire } from './wire-cursor.ts';

/** How an integer type is on the wire, and what its 64 bits mean. */
interface IntegerForm {
  readonly wireType: number;
  /** Leaves the value in the cursor's words, as 64 bits of two's complement or, unsigned, as they are. */
  readonly load: (cursor: WireCursor) => void;
  readonly unsigned: boolean;
}

const form = (wireType: number, load: (cursor: WireCursor) => void, unsigned = false): IntegerForm => ({ wireType, load, unsigned });

function signExtended(cursor: WireCursor): void {
  cursor.high = cursor.low >> 31;
}

function unzigzagged(cursor: WireCursor): void {
  const { low, high } = cursor;
  const sign = -(low & 1);
  cursor.low = ((low >>> 1) | (high << 31)) ^ sign;
  cursor.high = (high >>> 1) ^ sign;
}

const varint32 = (cursor: WireCursor): void => {
  cursor.varint();
  // Ten bytes of a negative number, five of some writers: the lower half counts.
  signExtended(cursor);
};

const integers: Readonly<Record<Exclude<ProtoScalar, 'double' | 'float' | 'bool' | 'string' | 'bytes'>, IntegerForm>> = {
  int32: form(wire.varint, varint32),
  int64: form(wire.varint, (cursor) => {
    cursor.varint();
  }),
  uint32: form(
    wire.varint,
    (cursor) => {
      cursor.varint();
      cursor.high = 0;
    },
    true,
  ),
  uint64: form(
    wire.varint,
    (cursor) => {
      cursor.varint();
    },
    true,
  ),
  sint32: form(wire.varint, (cursor) => {
    cursor.varint();
    cursor.high = 0;
    unzigzagged(cursor);
    signExtended(cursor);
  }),
  sint64: form(wire.varint, (cursor) => {
    cursor.varint();
    unzigzagged(cursor);
  }),
  fixed32: form(
    wire.fixed32,
    (cursor) => {
      cursor.fixed32();
    },
    true,
  ),
  fixed64: form(
    wire.fixed64,
    (cursor) => {
      cursor.fixed64();
    },
    true,
  ),
  sfixed32: form(wire.fixed32, (cursor) => {
    cursor.fixed32();
    signExtended(cursor);
  }),
  sfixed64: form(wire.fixed64, (cursor) => {
    cursor.fixed64();
  }),
};

/** The reader of a scalar into a column; `undefined` when the column does not take such values. */
export function scalarReader(scalar: ProtoScalar, column: ColumnBuilder, where: string): ValueReader | undefined {
  switch (scalar) {
    case 'bool':
      return column instanceof BooleanBuilder ? new BoolReader(column) : undefined;
    case 'float':
      return column instanceof FloatingBuilder ? floating(column, wire.fixed32, (cursor) => cursor.float()) : undefined;
    case 'double':
      return column instanceof FloatingBuilder && column.type.kind === 'double'
        ? floating(column, wire.fixed64, (cursor) => cursor.double())
        : undefined;
    case 'string':
      if (!(column instanceof BytesBuilder)) return textReader(column, where);
      return column.type.kind === 'string' ? new TextReader(column, where) : undefined;
    case 'bytes':
      return column instanceof BytesBuilder && column.type.kind === 'binary' ? new BytesReader(column) : undefined;
    default:
      return integerReader(integers[scalar], column, where);
  }
}

/** The names of an enum in a column of text, its numbers in one of integers. A number without a name is written as the number. */
export function enumReader({ names }: ProtoEnum, column: ColumnBuilder, where: string): ValueReader | undefined {
  if (!(column instanceof BytesBuilder)) return integerReader(integers.int32, column, where);
  if (column.type.kind !== 'string') return undefined;
  const encoder = new TextEncoder();
  const texts = new Map([...names].map(([number, name]) => [number, encoder.encode(name)]));
  return {
    column,
    wireType: wire.varint,
    read(cursor): void {
      cursor.varint();
      const text = texts.get(cursor.low) ?? encoder.encode(String(cursor.low));
      column.append(text, 0, text.length);
    },
  };
}

class BoolReader implements ValueReader {
  readonly column: BooleanBuilder;
  readonly wireType = wire.varint;

  constructor(column: BooleanBuilder) {
    this.column = column;
  }

  read(cursor: WireCursor): void {
    cursor.varint();
    this.column.append((cursor.low | cursor.high) !== 0);
  }
}

function floating(column: FloatingBuilder, wireType: number, value: (cursor: WireCursor) => number): ValueReader {
  return {
    column,
    wireType,
    read(cursor): void {
      column.append(value(cursor));
    },
  };
}

class TextReader implements ValueReader {
  readonly column: BytesBuilder;
  readonly wireType = wire.bytes;
  readonly #where: string;

  constructor(column: BytesBuilder, where: string) {
    this.column = column;
    this.#where = where;
  }

  read({ bytes, at, end }: WireCursor): void {
    if (!isUtf8(bytes, at, end)) throw new ValueRefused(this.#where, 'invalid-utf8', `${shown(bytes, at, end)} is not valid UTF-8`);
    this.column.append(bytes, at, end);
  }
}

/** Text in a column of another type. */
function textReader(column: ColumnBuilder, where: string): ValueReader | undefined {
  const text = TextInColumn.of(column, where);
  if (text === undefined) return undefined;
  return {
    column,
    wireType: wire.bytes,
    read({ bytes, at, end }): void {
      if (!isUtf8(bytes, at, end)) throw new ValueRefused(where, 'invalid-utf8', `${shown(bytes, at, end)} is not valid UTF-8`);
      text.append(Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString());
    },
  };
}

class BytesReader implements ValueReader {
  readonly column: BytesBuilder;
  readonly wireType = wire.bytes;

  constructor(column: BytesBuilder) {
    this.column = column;
  }

  read({ bytes, at, end }: WireCursor): void {
    this.column.append(bytes, at, end);
  }
}

const bitsOf = { byte: 8, short: 16, integer: 32 } as const;

function integerReader({ wireType, load, unsigned }: IntegerForm, column: ColumnBuilder, where: string): ValueReader | undefined {
  if (column instanceof Int32Builder) {
    const { kind } = column.type;
    if (kind === 'date') return undefined;
    const max = 2 ** (bitsOf[kind] - 1) - 1;
    return {
      column,
      wireType,
      read(cursor): void {
        load(cursor);
        const { low, high } = cursor;
        const fits = unsigned ? high === 0 && low >= 0 : high === low >> 31;
        if (!fits || low > max || low < -max - 1)
          throw valueOutOfRange(where, valueOf(cursor, unsigned), kind === 'integer' ? 'an integer' : `a ${kind}`);
        column.append(low);
      },
    };
  }
  if (column instanceof Int64Builder && column.type.kind === 'long') {
    return {
      column,
      wireType,
      read(cursor): void {
        load(cursor);
        if (unsigned && cursor.high < 0) throw valueOutOfRange(where, valueOf(cursor, true), 'a long');
        column.appendWords(cursor.low, cursor.high);
      },
    };
  }
  if (column instanceof DecimalBuilder) {
    return {
      column,
      wireType,
      read(cursor): void {
        load(cursor);
        appendScaled(column, valueOf(cursor, unsigned), 0, where);
      },
    };
  }
  return column instanceof FloatingBuilder
    ? floating(column, wireType, (cursor) => {
        load(cursor);
        return Number(valueOf(cursor, unsigned));
      })
    : undefined;
}

function valueOf({ low, high }: WireCursor, unsigned: boolean): bigint {
  return (BigInt(unsigned ? high >>> 0 : high) << 32n) + BigInt(low >>> 0);
}
