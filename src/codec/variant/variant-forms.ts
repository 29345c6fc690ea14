import { type JsonValue, printJson } from '../../base/bigint-json.ts';
import { setMember } from '../../base/set-member.ts';
import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../../schema/date-text.ts';
import { foldVariant, type InstantKind, type VariantBytes, type VariantFold } from './fold-variant.ts';

/**
 * A variant as JSON text, as Spark's `to_json` prints it: members by name, numbers with all their digits, dates and times as text, bytes in
 * base64.
 */
export function variantJson(bytes: VariantBytes): string {
  return foldVariant(bytes, jsonText);
}

/** What casting a variant to a string gives: a text as it is, nothing for the variant `null`, and the JSON of all others. */
export function variantText(bytes: VariantBytes): string | undefined {
  const { nothing, text, date, instant, binary } = plainScalars;
  return foldVariant<string | undefined>(bytes, {
    ...jsonText,
    nothing,
    text,
    date,
    instant,
    binary,
    // What is inside of lists and objects is JSON again.
    list: () => variantJson(bytes),
    object: () => variantJson(bytes),
  });
}

/**
 * A variant as a value of the language that JSON can print: objects, arrays, text, booleans, `null` and numbers. An integer beyond 2^53 is a
 * bigint, a decimal that a number cannot hold is text, as are dates, times and bytes (base64).
 */
export function variantValue(bytes: VariantBytes): JsonValue {
  return foldVariant(bytes, jsonValue);
}

const jsonText: VariantFold<string> = {
  nothing: () => 'null',
  boolean: String,
  integer: String,
  floating: (value, width) => (Number.isFinite(value) ? javaNumber(value, width) : `"${String(value)}"`),
  decimal: plainDecimal,
  text: (value) => printJson(value),
  binary: (value) => `"${base64(value)}"`,
  date: (days) => `"${formatDate(days)}"`,
  instant: (kind, units) => `"${instantText(kind, units)}"`,
  list: (elements) => `[${elements.join(',')}]`,
  object: (members) => `{${members.map(([name, value]) => `${printJson(name)}:${value}`).join(',')}}`,
};

const plainScalars = {
  nothing: () => undefined,
  text: (value: string) => value,
  date: formatDate,
  instant: instantText,
  binary: (value: Uint8Array) => Buffer.from(value).toString('utf8'),
};

const jsonValue: VariantFold<JsonValue> = {
  nothing: () => null,
  boolean: (value) => value,
  integer: (value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value),
  floating: (value) => (Number.isFinite(value) ? value : String(value)),
  decimal: (digits) => {
    if (!digits.includes('.')) return jsonValue.integer(BigInt(digits));
    const text = plainDecimal(digits);
    return String(Number(text)) === text ? Number(text) : text;
  },
  text: (value) => value,
  binary: base64,
  date: formatDate,
  instant: instantText,
  list: (elements) => elements,
  object: (members) => {
    const object: Record<string, JsonValue> = {};
    for (const [name, value] of members) setMember(object, name, value);
    return object;
  },
};

/** Without the zeros at its end. */
function plainDecimal(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function instantText(kind: InstantKind, units: bigint): string {
  if (kind === 'time') return withoutZeros(formatTime(units));
  const nanos = kind === 'timestamp_ns' || kind === 'timestamp_ntz_ns';
  const { date, time, fraction } = nanos ? dateTimeNanosParts(units) : dateTimeParts(units);
  return `${withoutZeros(`${date} ${time}.${fraction}`)}${kind === 'timestamp' || kind === 'timestamp_ns' ? '+00:00' : ''}`;
}

function withoutZeros(text: string): string {
  return text.replace(/\.?0+$/, '');
}

/** A floating number as Java prints it: `1.0`, `1.0E10`. */
function javaNumber(value: number, width: 'float' | 'double'): string {
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '0', exponent = '0'] = shortest(value, width).split('e');
  const power = Number(exponent);
  const [whole = '0', fraction = ''] = mantissa.split('.');
  if (power < -3 || power >= 7) return `${whole}.${fraction === '' ? '0' : fraction}E${power}`;
  const sign = whole.startsWith('-') ? '-' : '';
  const digits = `${whole.replace('-', '')}${fraction}`;
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  const padded = digits.padEnd(power + 2, '0');
  return `${sign}${padded.slice(0, power + 1)}.${padded.slice(power + 1)}`;
}

/** The fewest digits that tell the number from its neighbours, with an exponent. */
function shortest(value: number, width: 'float' | 'double'): string {
  if (width === 'float') {
    for (let digits = 0; digits < 9; digits++) {
      const text = value.toExponential(digits);
      if (Math.fround(Number(text)) === value) return text;
    }
  }
  return value.toExponential();
}
