import { assertNever } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { EventPart, EventShape } from './event-shape.ts';
import { EventSteps } from './event-steps.ts';
import { type Item, isNull, type Member, type Notation, type Written } from './notation.ts';
import { RecordBuffer } from './record-buffer.ts';
import { type Scalar, type ValueWriter, wordsOf } from './scalars.ts';

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const end = Uint8Array.of(0x7d);
const two32 = 4_294_967_296;
const maxExactHighWord = 0x1f_ffff;

/** JSON as docs/spec/change-event.md has it, "Values". */
export const jsonNotation: Notation = {
  scalar: (scalar) => written(scalarWriter(scalar)),
  struct: (members) => {
    const write = membersWriter(members);
    return written((out, index) => {
      write(out, index);
      out.byte(0x7d);
    });
  },
  members: membersWriter,
  end,
  list: listOf,
  map: mapOf,
  image: (write) => (out, index) => {
    if (index < 0) out.ascii('null');
    else {
      write(out, index);
      out.byte(0x7d);
    }
  },
  steps: (shape) => {
    const steps = new EventSteps();
    appendStruct(steps, shape);
    return steps.finish();
  },
  numberSize: () => 0,
  number: (out, number) => {
    out.integer(number);
  },
};

function written(write: ValueWriter): Written {
  return { write, wire: 2 };
}

function scalarWriter(scalar: Scalar): ValueWriter {
  switch (scalar.kind) {
    case 'boolean': {
      const { bits } = scalar;
      return (out, index) => {
        out.ascii(((bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0 ? 'false' : 'true');
      };
    }
    case 'integer':
      return (out, index) => {
        out.integer(scalar.at(index));
      };
    case 'long':
      return longWriter(scalar.values);
    case 'float':
    case 'double': {
      const print = scalar.kind === 'float' ? shortestSingle : String;
      return (out, index) => {
        appendFloating(out, scalar.at(index), print);
      };
    }
    case 'utf8': {
      const { offsets, data } = scalar;
      return (out, index) => {
        out.quotedUtf8(data, offsets[index] ?? 0, offsets[index + 1] ?? 0);
      };
    }
    case 'bytes': {
      const { offsets, data } = scalar;
      return (out, index) => {
        const from = offsets[index] ?? 0;
        appendBase64(out, data.subarray(from, offsets[index + 1] ?? from));
      };
    }
    case 'blob': {
      const bytes = new RecordBuffer();
      return (out, index) => {
        bytes.clear();
        scalar.write(bytes, index);
        appendBase64(out, bytes.copy());
      };
    }
    case 'ascii':
      return (out, index) => {
        out.byte(quote);
        scalar.write(out, index);
        out.byte(quote);
      };
    case 'text':
      return (out, index) => {
        out.quotedText(scalar.at(index));
      };
    case 'json':
      return (out, index) => {
        out.chunk(Buffer.from(scalar.at(index), 'utf8'));
      };
    default:
      return assertNever(scalar);
  }
}

// Reads 64-bit values as two words: a bigint per value would be an allocation per value.
function longWriter(values: BigInt64Array): ValueWriter {
  const words = wordsOf(values);
  return (out, index) => {
    const high = words[2 * index + 1] ?? 0;
    if (high > maxExactHighWord || high < -maxExactHighWord) out.ascii((values[index] ?? 0n).toString());
    else out.integer(high * two32 + ((words[2 * index] ?? 0) >>> 0));
  };
}

function appendBase64(out: RecordBuffer, bytes: Uint8Array): void {
  out.byte(quote);
  out.ascii(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'));
  out.byte(quote);
}

function appendFloating(out: RecordBuffer, value: number, print: (value: number) => string): void {
  if (!Number.isFinite(value)) out.ascii(Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"');
  else if (Number.isSafeInteger(value) && !Object.is(value, -0)) out.integer(value);
  else if (print !== String || !appendShortDecimal(out, value)) out.ascii(Object.is(value, -0) ? '-0.0' : print(value));
}

const shortDecimals = 6;
const shortUnit = 10 ** shortDecimals;
/** Of no two decimals with so few digits are the doubles the same: one that reads back is the shortest. */
const maxShortDigits = 1e15;

/** Numbers with few decimals, which most are, without a string; false for the others. */
function appendShortDecimal(out: RecordBuffer, value: number): boolean {
  const magnitude = Math.abs(value);
  const scaled = Math.round(magnitude * shortUnit);
  if (scaled === 0 || scaled >= maxShortDigits || scaled / shortUnit !== magnitude) return false;
  if (value < 0) out.byte(minus);
  const whole = Math.floor(scaled / shortUnit);
  out.integer(whole);
  out.byte(point);
  let rest = scaled - whole * shortUnit;
  let digits = shortDecimals;
  for (; rest % 10 === 0; rest /= 10) digits--;
  out.padded(rest, digits);
  return true;
}

/** The shortest digits that read back as the same single-precision number. */
function shortestSingle(value: number): string {
  for (let precision = 6; precision < 9; precision++) {
    const candidate = Number(value.toPrecision(precision));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  return String(Number(value.toPrecision(9)));
}

function itemWriter(item: Item): ValueWriter {
  const { write, validity } = item;
  if (validity === undefined) return write;
  return (out, index) => {
    if (isNull(item, index)) out.ascii('null');
    else write(out, index);
  };
}

function membersWriter(members: readonly Member[]): ValueWriter {
  if (members.length === 0) {
    return (out) => {
      out.byte(0x7b);
    };
  }
  const prefixes = members.map(({ name }, position) => memberPrefix(name, position));
  const writers = members.map(itemWriter);
  return (out, index) => {
    for (let position = 0; position < writers.length; position++) {
      const prefix = prefixes[position];
      const write = writers[position];
      if (prefix !== undefined) out.chunk(prefix);
      if (write !== undefined) write(out, index);
    }
  };
}

/** `{"name":` of a first member, `,"name":` of the others. */
function memberPrefix(name: string, position: number): Uint8Array {
  return Buffer.from(`${position === 0 ? '{' : ','}${printJson(name)}:`, 'utf8');
}

function listOf(items: Item, offsets: Int32Array): Written {
  const write = itemWriter(items);
  return written((out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    out.byte(0x5b);
    for (let at = from; at < until; at++) {
      if (at > from) out.byte(comma);
      write(out, at);
    }
    out.byte(0x5d);
  });
}

function mapOf(keys: Scalar, values: Item, offsets: Int32Array): Written {
  const writeKey = keyWriter(keys);
  const writeValue = itemWriter(values);
  return written((out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    out.byte(0x7b);
    for (let at = from; at < until; at++) {
      if (at > from) out.byte(comma);
      writeKey(out, at);
      out.byte(0x3a);
      writeValue(out, at);
    }
    out.byte(0x7d);
  });
}

// Member names of JSON are text: keys that print as a number or a word are put in quotes. NaN and the infinities have theirs already.
function keyWriter(keys: Scalar): ValueWriter {
  const write = scalarWriter(keys);
  if (!['boolean', 'integer', 'long', 'float', 'double'].includes(keys.kind)) return write;
  const isQuoted = (index: number): boolean => (keys.kind === 'float' || keys.kind === 'double') && !Number.isFinite(keys.at(index));
  return (out, index) => {
    if (isQuoted(index)) write(out, index);
    else {
      out.byte(quote);
      write(out, index);
      out.byte(quote);
    }
  };
}

function appendStruct(steps: EventSteps, { hasRow, members }: EventShape): void {
  if (hasRow) steps.add({ kind: 'row' });
  members.forEach(({ name, part }, position) => {
    steps.bytes.chunk(memberPrefix(name, hasRow ? position + 1 : position));
    appendPart(steps, part);
  });
  steps.bytes.chunk(end);
}

function appendPart(steps: EventSteps, part: EventPart): void {
  switch (part.kind) {
    case 'text':
    case 'named-text':
    case 'long':
    case 'boolean':
      steps.bytes.chunk(Buffer.from(printJson(part.value), 'utf8'));
      return;
    case 'text-and-ordinal':
      steps.bytes.chunk(Buffer.from(printJson(part.value).slice(0, -1), 'utf8'));
      steps.add({ kind: 'ordinal' });
      steps.bytes.byte(quote);
      return;
    case 'ordinal':
    case 'event-number':
      steps.add({ kind: part.kind });
      return;
    case 'none':
      steps.bytes.ascii('null');
      return;
    case 'image':
      steps.add({ kind: 'image', image: part.image, tag: noTag });
      return;
    case 'struct':
      appendStruct(steps, part);
      return;
    default:
      assertNever(part);
  }
}

const noTag = new Uint8Array(0);
