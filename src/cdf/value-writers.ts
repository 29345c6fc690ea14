import { assertNever } from '../base/assert.ts';
import { printJson } from '../base/bigint-json.ts';
import { unscaledAt } from '../codec/rows.ts';
import { variantAtIndex } from '../codec/variant/variant-column.ts';
import { variantJson } from '../codec/variant/variant-forms.ts';
import type { BytesColumn, Column, DecimalColumn, FixedColumn, ListColumn, MapColumn, StructColumn } from '../schema/columns.ts';
import { isValid } from '../schema/columns.ts';
import { dateTimeNanosParts, formatTime } from '../schema/date-text.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import type { DataType } from '../schema/types.ts';
import { IsoTimeWriter } from './iso-time.ts';
import type { JsonBuffer } from './json-buffer.ts';

/** Appends value `index` of one column as JSON (docs/spec/change-event.md, "Values"). */
export type ValueWriter = (out: JsonBuffer, index: number) => void;

const two32 = 4_294_967_296;
const maxExactHighWord = 0x1f_ffff;

/** The writer of a column: decided once a column, so that a row costs no decision. */
export function valueWriterOf(column: Column): ValueWriter {
  const write = presentValueWriter(column);
  if (column.validity === undefined) return write;
  return (out, index) => {
    if (isValid(column, index)) write(out, index);
    else out.ascii('null');
  };
}

/** `{"name":` of a first member, `,"name":` of the others. */
export function memberPrefixes(names: readonly string[]): readonly Uint8Array[] {
  return names.map((name, position) => Buffer.from(`${position === 0 ? '{' : ','}${printJson(name)}:`, 'utf8'));
}

function presentValueWriter(column: Column): ValueWriter {
  switch (column.layout) {
    case 'fixed':
      return fixedWriter(column);
    case 'boolean':
      return (out, index) => {
        out.ascii(((column.bits[index >> 3] ?? 0) & (1 << (index & 7))) === 0 ? 'false' : 'true');
      };
    case 'decimal':
      return decimalWriter(column);
    case 'bytes':
      return bytesWriter(column);
    case 'struct':
      return structWriter(column);
    case 'list':
      return listWriter(column);
    case 'map':
      return mapWriter(column);
    default:
      return assertNever(column);
  }
}

function fixedWriter(column: FixedColumn): ValueWriter {
  const { values } = column;
  if (values instanceof BigInt64Array) return wideWriter(column.type, values);
  const iso = new IsoTimeWriter();
  switch (column.type.kind) {
    case 'date':
      return (out, index) => {
        iso.date(out, values[index] ?? 0);
      };
    case 'float':
      return (out, index) => {
        appendFloating(out, values[index] ?? 0, shortestSingle);
      };
    case 'double':
      return (out, index) => {
        appendFloating(out, values[index] ?? 0, String);
      };
    default:
      return (out, index) => {
        out.integer(values[index] ?? 0);
      };
  }
}

// Reads 64-bit values as two words: a bigint per value would be an allocation per value.
function wideWriter(type: DataType, values: BigInt64Array): ValueWriter {
  const words = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  if (type.kind === 'long') {
    return (out, index) => {
      const high = words[2 * index + 1] ?? 0;
      if (high > maxExactHighWord || high < -maxExactHighWord) out.ascii((values[index] ?? 0n).toString());
      else out.integer(high * two32 + ((words[2 * index] ?? 0) >>> 0));
    };
  }
  const text = textOfWide(type);
  if (text !== undefined) {
    return (out, index) => {
      out.ascii(`"${text(values[index] ?? 0n)}"`);
    };
  }
  const iso = new IsoTimeWriter();
  const zoned = type.kind === 'timestamp';
  return (out, index) => {
    iso.timestamp(out, { low: words[2 * index] ?? 0, high: words[2 * index + 1] ?? 0 }, zoned);
  };
}

/** Of types that are rare enough to be printed by way of text. */
function textOfWide(type: DataType): ((value: bigint) => string) | undefined {
  switch (type.kind) {
    case 'time':
      return formatTime;
    case 'timestamp_ns':
      return (value) => `${nanosText(value)}Z`;
    case 'timestamp_ntz_ns':
      return nanosText;
    default:
      return undefined;
  }
}

function nanosText(value: bigint): string {
  const { date, time, fraction } = dateTimeNanosParts(value);
  return `${date}T${time}.${fraction}`;
}

function decimalWriter(column: DecimalColumn): ValueWriter {
  const scale = column.type.kind === 'decimal' ? column.type.scale : 0;
  const { words } = column;
  const halves = new Int32Array(words.buffer, words.byteOffset, words.length * 2);
  const unit = 10 ** Math.min(scale, 15);
  return (out, index) => {
    const at = 4 * index;
    const high = halves[at + 1] ?? 0;
    const sign = high >> 31;
    const exact = high <= maxExactHighWord && high >= -maxExactHighWord && halves[at + 2] === sign && halves[at + 3] === sign;
    out.byte(0x22);
    if (exact && scale <= 15) appendScaled(out, high * two32 + ((halves[at] ?? 0) >>> 0), { scale, unit });
    else out.ascii(formatDecimal(unscaledAt(words, index), scale));
    out.byte(0x22);
  };
}

function appendScaled(out: JsonBuffer, unscaled: number, form: { readonly scale: number; readonly unit: number }): void {
  if (unscaled < 0) out.byte(0x2d);
  const magnitude = Math.abs(unscaled);
  const whole = Math.floor(magnitude / form.unit);
  out.integer(whole);
  if (form.scale === 0) return;
  out.byte(0x2e);
  out.padded(magnitude - whole * form.unit, form.scale);
}

function bytesWriter(column: BytesColumn): ValueWriter {
  const { offsets, data } = column;
  if (column.type.kind === 'string') {
    return (out, index) => {
      out.quotedUtf8(data, offsets[index] ?? 0, offsets[index + 1] ?? 0);
    };
  }
  return (out, index) => {
    const from = offsets[index] ?? 0;
    out.byte(0x22);
    out.ascii(Buffer.from(data.buffer, data.byteOffset + from, (offsets[index + 1] ?? from) - from).toString('base64'));
    out.byte(0x22);
  };
}

function structWriter(column: StructColumn): ValueWriter {
  if (column.type.kind === 'variant') {
    return (out, index) => {
      out.chunk(Buffer.from(variantJson(variantAtIndex(column, index)), 'utf8'));
    };
  }
  const fields = column.type.kind === 'struct' ? column.type.fields : [];
  const prefixes = memberPrefixes(fields.map((field) => field.name));
  const writers = column.children.map(valueWriterOf);
  return (out, index) => {
    if (writers.length === 0) out.byte(0x7b);
    for (let position = 0; position < writers.length; position++) {
      const prefix = prefixes[position];
      const write = writers[position];
      if (prefix !== undefined) out.chunk(prefix);
      if (write !== undefined) write(out, index);
    }
    out.byte(0x7d);
  };
}

function listWriter(column: ListColumn): ValueWriter {
  const write = valueWriterOf(column.element);
  const { offsets } = column;
  return (out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    out.byte(0x5b);
    for (let at = from; at < until; at++) {
      if (at > from) out.byte(0x2c);
      write(out, at);
    }
    out.byte(0x5d);
  };
}

// Member names of JSON are text: keys that print as a number or a word are put in quotes, nested keys make a list of entries.
function mapWriter(column: MapColumn): ValueWriter {
  const { offsets } = column;
  const writeKey = valueWriterOf(column.keys);
  const writeValue = valueWriterOf(column.values);
  const nested = ['struct', 'list', 'map'].includes(column.keys.type.kind);
  const bare = ['byte', 'short', 'integer', 'long', 'float', 'double', 'boolean'].includes(column.keys.type.kind);
  return (out, index) => {
    const from = offsets[index] ?? 0;
    const until = offsets[index + 1] ?? from;
    out.byte(nested ? 0x5b : 0x7b);
    for (let at = from; at < until; at++) {
      if (at > from) out.byte(0x2c);
      if (nested) out.ascii('{"key":');
      if (bare && !startsQuoted(column.keys, at)) out.byte(0x22);
      writeKey(out, at);
      if (bare && !startsQuoted(column.keys, at)) out.byte(0x22);
      out.ascii(nested ? ',"value":' : ':');
      writeValue(out, at);
      if (nested) out.byte(0x7d);
    }
    out.byte(nested ? 0x5d : 0x7d);
  };
}

// NaN and the infinities are printed with their quotes already.
function startsQuoted(keys: Column, index: number): boolean {
  return keys.layout === 'fixed' && typeof keys.values[index] === 'number' && !Number.isFinite(keys.values[index]);
}

function appendFloating(out: JsonBuffer, value: number, print: (value: number) => string): void {
  if (!Number.isFinite(value)) out.ascii(Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"');
  else if (Number.isSafeInteger(value) && !Object.is(value, -0)) out.integer(value);
  else out.ascii(Object.is(value, -0) ? '-0.0' : print(value));
}

/** The shortest digits that read back as the same single-precision number. */
function shortestSingle(value: number): string {
  for (let precision = 6; precision < 9; precision++) {
    const candidate = Number(value.toPrecision(precision));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  return String(Number(value.toPrecision(9)));
}
