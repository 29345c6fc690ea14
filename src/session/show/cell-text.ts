import { assertNever } from '../../base/assert.ts';
import { bytesAt, textAt, unscaledAt } from '../../codec/rows.ts';
import { variantAtIndex } from '../../codec/variant/variant-column.ts';
import { variantJson } from '../../codec/variant/variant-forms.ts';
import { printTimestampText } from '../../expr/parse/temporal-text.ts';
import { toLocalMicros, type ZoneRule } from '../../expr/time-zone.ts';
import { type Column, type FixedColumn, isValid } from '../../schema/columns.ts';
import { dateTimeNanosParts, formatDate, formatTime } from '../../schema/date-text.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';

/** Value `index` as Spark's `show` and casts to string spell it: `NULL`, `1.0E10`, `[1, 2]`, `{a, 1}`, `{k -> v}`, binary as `[61 62]`. */
export function cellText(column: Column, index: number, zone?: ZoneRule): string {
  if (!isValid(column, index)) return 'NULL';
  switch (column.layout) {
    case 'fixed':
      return fixedText(column, index, zone);
    case 'boolean':
      return String(((column.bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0);
    case 'decimal':
      return formatDecimal(unscaledAt(column.words, index), column.type.kind === 'decimal' ? column.type.scale : 0);
    case 'bytes':
      return column.type.kind === 'string' ? textAt(column, index) : binaryText(bytesAt(column, index));
    case 'struct':
      if (column.type.kind === 'variant') return variantJson(variantAtIndex(column, index));
      return `{${column.children.map((child) => cellText(child, index, zone)).join(', ')}}`;
    case 'list':
      return `[${range(column.offsets, index)
        .map((at) => cellText(column.element, at, zone))
        .join(', ')}]`;
    case 'map':
      return `{${range(column.offsets, index)
        .map((at) => `${cellText(column.keys, at, zone)} -> ${cellText(column.values, at, zone)}`)
        .join(', ')}}`;
    default:
      return assertNever(column);
  }
}

/** A double (or float, with its own shortest digits) as Java prints it: `1.0`, `1.0E10`, `NaN`, `-Infinity`. */
export function javaDouble(value: number, width: 'float' | 'double' = 'double'): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const shortest = width === 'float' ? shortestFloat(value) : value;
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(shortest);
    return text.includes('.') ? text : `${text}.0`;
  }
  const [digits = '', exponent = '0'] = shortest.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** The double with the fewest digits that is the same float. */
function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits += 1) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === Math.fround(value)) return candidate;
  }
  return Number(value.toPrecision(9));
}

function fixedText(column: FixedColumn, index: number, zone: ZoneRule): string {
  const value = column.values[index] ?? 0;
  switch (column.type.kind) {
    case 'float':
      return javaDouble(Number(value), 'float');
    case 'double':
      return javaDouble(Number(value));
    case 'date':
      return formatDate(Number(value));
    case 'timestamp':
      return printTimestampText(toLocalMicros(BigInt(value), zone));
    case 'timestamp_ntz':
      return printTimestampText(BigInt(value));
    case 'time':
      return withoutTrailingZeros(formatTime(BigInt(value)));
    case 'timestamp_ns':
    case 'timestamp_ntz_ns': {
      const nanos = column.type.kind === 'timestamp_ns' ? toLocalNanos(BigInt(value), zone) : BigInt(value);
      const { date, time, fraction } = dateTimeNanosParts(nanos);
      return withoutTrailingZeros(`${date} ${time}.${fraction}`);
    }
    default:
      return String(value);
  }
}

function toLocalNanos(nanos: bigint, zone: ZoneRule): bigint {
  const micros = nanos / 1000n;
  return nanos + (toLocalMicros(micros, zone) - micros) * 1000n;
}

function withoutTrailingZeros(text: string): string {
  return text.replace(/\.?0+$/, '');
}

function binaryText(bytes: Uint8Array): string {
  return `[${Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ')}]`;
}

function range(offsets: Int32Array, index: number): number[] {
  const from = offsets[index] ?? 0;
  return Array.from({ length: (offsets[index + 1] ?? from) - from }, (_, at) => from + at);
}
