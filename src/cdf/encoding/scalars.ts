import { unscaledAt } from '../../codec/rows.ts';
import { variantAtIndex } from '../../codec/variant/variant-column.ts';
import { variantJson } from '../../codec/variant/variant-forms.ts';
import type { BytesColumn, Column, DecimalColumn, FixedColumn } from '../../schema/columns.ts';
import { dateTimeNanosParts, formatTime } from '../../schema/date-text.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';
import { floorDivide } from '../../table/partitioning/calendar.ts';
import { IsoTimeWriter } from './iso-time.ts';
import type { RecordBuffer } from './record-buffer.ts';
import type { ValueForms } from './value-forms.ts';

/** Appends value `index` of one column. */
export type ValueWriter = (out: RecordBuffer, index: number) => void;

/** The values of a column in the few shapes that an encoding has to know. */
export type Scalar =
  | { readonly kind: 'boolean'; readonly bits: Uint8Array }
  /** Of at most 32 bits. */
  | { readonly kind: 'integer'; readonly at: (index: number) => number }
  | { readonly kind: 'long'; readonly values: BigInt64Array }
  | { readonly kind: 'float' | 'double'; readonly at: (index: number) => number }
  | { readonly kind: 'utf8' | 'bytes'; readonly offsets: Int32Array; readonly data: Uint8Array }
  /** Bytes that are not as the column has them. */
  | { readonly kind: 'blob'; readonly write: ValueWriter }
  /** ASCII that needs no escapes anywhere. */
  | { readonly kind: 'ascii'; readonly write: ValueWriter }
  /** Any text, of types that are rare enough to be told by way of strings. */
  | { readonly kind: 'text' | 'json'; readonly at: (index: number) => string };

const two32 = 4_294_967_296;
const maxExactHighWord = 0x1f_ffff;
const microsPerMilli = 1_000n;
const nanosPerMilli = 1_000_000n;

/** The values of a column that has no parts: decided once a column, so that a row costs no decision. */
export function scalarOf(column: Exclude<Column, { layout: 'list' | 'map' }>, forms: ValueForms): Scalar {
  switch (column.layout) {
    case 'fixed':
      return column.values instanceof BigInt64Array ? wideScalar(column, column.values, forms) : narrowScalar(column, forms);
    case 'boolean':
      return { kind: 'boolean', bits: column.bits };
    case 'decimal':
      return decimalScalar(column, forms);
    case 'bytes':
      return bytesScalar(column, forms);
    default: {
      const at = (index: number): string => variantJson(variantAtIndex(column, index));
      return { kind: forms.variants === 'json' ? 'json' : 'text', at };
    }
  }
}

function narrowScalar({ type, values }: FixedColumn, { times }: ValueForms): Scalar {
  const at = (index: number): number => Number(values[index] ?? 0);
  if (type.kind === 'float' || type.kind === 'double') return { kind: type.kind, at };
  if (type.kind !== 'date' || times === 'adaptive' || times === 'connect') return { kind: 'integer', at };
  const iso = new IsoTimeWriter();
  return {
    kind: 'ascii',
    write: (out, index) => {
      iso.date(out, at(index));
      if (times === 'isostring') out.byte(zulu);
    },
  };
}

const zulu = 0x5a;

function wideScalar({ type }: FixedColumn, values: BigInt64Array, { times }: ValueForms): Scalar {
  const at = (index: number): bigint => values[index] ?? 0n;
  const local = times === 'isostring' ? 'Z' : '';
  switch (type.kind) {
    case 'timestamp':
      return isoInstants(values, true);
    case 'timestamp_ns':
      return { kind: 'text', at: (index) => `${nanosText(at(index))}Z` };
    case 'time':
      if (times === 'adaptive') return { kind: 'long', values };
      if (times === 'connect') return { kind: 'integer', at: (index) => Number(at(index) / microsPerMilli) };
      return { kind: 'text', at: (index) => `${formatTime(at(index))}${local}` };
    case 'timestamp_ntz':
      if (times === 'adaptive') return { kind: 'long', values };
      if (times === 'connect') return { kind: 'long', values: values.map((value) => floorDivide(value, microsPerMilli)) };
      return isoInstants(values, times === 'isostring');
    case 'timestamp_ntz_ns':
      if (times === 'adaptive') return { kind: 'long', values };
      if (times === 'connect') return { kind: 'long', values: values.map((value) => floorDivide(value, nanosPerMilli)) };
      return { kind: 'text', at: (index) => `${nanosText(at(index))}${local}` };
    default:
      return { kind: 'long', values };
  }
}

// Reads 64-bit values as two words: a bigint per value would be an allocation per value.
function isoInstants(values: BigInt64Array, zoned: boolean): Scalar {
  const words = wordsOf(values);
  const iso = new IsoTimeWriter();
  return {
    kind: 'ascii',
    write: (out, index) => {
      iso.timestamp(out, words[2 * index] ?? 0, words[2 * index + 1] ?? 0, zoned);
    },
  };
}

/** The low and the high word of each value. */
export function wordsOf(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

function nanosText(value: bigint): string {
  const { date, time, fraction } = dateTimeNanosParts(value);
  return `${date}T${time}.${fraction}`;
}

function decimalScalar(column: DecimalColumn, { decimals }: ValueForms): Scalar {
  const scale = column.type.kind === 'decimal' ? column.type.scale : 0;
  const { words } = column;
  if (decimals === 'precise') return { kind: 'blob', write: unscaledWriter(words) };
  if (decimals === 'double') return { kind: 'double', at: (index) => Number(formatDecimal(unscaledAt(words, index), scale)) };
  const halves = wordsOf(words);
  const unit = 10 ** Math.min(scale, 15);
  return {
    kind: 'ascii',
    write: (out, index) => {
      const at = 4 * index;
      const high = halves[at + 1] ?? 0;
      const sign = high >> 31;
      const exact = high <= maxExactHighWord && high >= -maxExactHighWord && halves[at + 2] === sign && halves[at + 3] === sign;
      if (exact && scale <= 15) appendScaled(out, high * two32 + ((halves[at] ?? 0) >>> 0), { scale, unit });
      else out.ascii(formatDecimal(unscaledAt(words, index), scale));
    },
  };
}

/** The unscaled value in two's complement, the highest byte first, in as few bytes as hold it. */
function unscaledWriter(words: BigInt64Array): ValueWriter {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  return (out, index) => {
    const lowest = 16 * index;
    let at = lowest + 15;
    const sign = (bytes[at] ?? 0) >> 7 === 1 ? 0xff : 0;
    while (at > lowest && bytes[at] === sign && ((bytes[at - 1] ?? 0) ^ sign) < 0x80) at--;
    for (; at >= lowest; at--) out.byte(bytes[at] ?? 0);
  };
}

function appendScaled(out: RecordBuffer, unscaled: number, form: { readonly scale: number; readonly unit: number }): void {
  if (unscaled < 0) out.byte(0x2d);
  const magnitude = Math.abs(unscaled);
  const whole = Math.floor(magnitude / form.unit);
  out.integer(whole);
  if (form.scale === 0) return;
  out.byte(0x2e);
  out.padded(magnitude - whole * form.unit, form.scale);
}

function bytesScalar({ type, offsets, data }: BytesColumn, { binary }: ValueForms): Scalar {
  if (type.kind !== 'binary') return { kind: 'utf8', offsets, data };
  if (binary === 'bytes') return { kind: 'bytes', offsets, data };
  const form = binary === 'hex' ? 'hex' : 'base64';
  return {
    kind: 'text',
    at: (index) => {
      const from = offsets[index] ?? 0;
      const text = Buffer.from(data.buffer, data.byteOffset + from, (offsets[index + 1] ?? from) - from).toString(form);
      // Padded, as Java has it.
      return binary === 'base64-url-safe' ? text.replaceAll('+', '-').replaceAll('/', '_') : text;
    },
  };
}
