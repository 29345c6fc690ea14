import { assert } from '../../base/assert.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import { typeSql } from '../../expr/sql/engine-text.ts';
import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../../schema/date-text.ts';
import { formatDecimal, parseDecimal } from '../../schema/decimal-text.ts';
import type { DataType } from '../../schema/types.ts';
import type { TransformValue } from './apply-transform.ts';

/**
 * How partition values are spelled: `plain` is what a scan reads (`ScanFile.partitionValues`), `log` what Delta's log holds, `path` what
 * people read in Iceberg's paths and summaries.
 */
export type PartitionSpelling = 'plain' | 'log' | 'path';

interface DateTimeParts {
  readonly date: string;
  readonly time: string;
  readonly fraction: string;
}

interface Encoding {
  readonly dateTime: (parts: DateTimeParts, zoned: boolean) => string;
  readonly timeOfDay: (micros: bigint) => string;
  readonly number: (value: number, floating: boolean) => string;
  readonly bytes: 'hex' | 'base64';
}

const encodings: Readonly<Record<PartitionSpelling, Encoding>> = {
  plain: {
    dateTime: ({ date, time, fraction }) => `${date} ${time}.${fraction}`,
    timeOfDay: formatTime,
    number: String,
    bytes: 'hex',
  },
  log: {
    // Local times have no fraction when it is zero, as other engines write them.
    dateTime: ({ date, time, fraction }, zoned) =>
      zoned ? `${date}T${time}.${fraction}Z` : `${date} ${time}${fraction === '000000' ? '' : `.${fraction}`}`,
    timeOfDay: formatTime,
    number: (value) => (Object.is(value, -0) ? '-0.0' : String(value)),
    bytes: 'hex',
  },
  path: {
    dateTime: ({ date, time, fraction }, zoned) => `${date}T${`${time}.${fraction}`.replace(/\.?0*$/, '')}${zoned ? 'Z' : ''}`,
    timeOfDay: (micros) => formatTime(micros).replace(/\.?0{1,6}$/, ''),
    number: (value, floating) =>
      floating && Number.isInteger(value) && Math.abs(value) < 1e7 ? `${Object.is(value, -0) ? '-0' : value}.0` : String(value),
    bytes: 'base64',
  },
};

/** A value that is not null as text. `type`: of the value; `undefined` when it is not known. */
export function partitionText(type: DataType | undefined, value: NonNullable<TransformValue>, spelling: PartitionSpelling): string {
  const encoding = encodings[spelling];
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString(encoding.bytes);
  if (typeof value !== 'number' && typeof value !== 'bigint') return String(value);
  switch (type?.kind) {
    case 'date':
      return formatDate(Number(value));
    case 'timestamp':
    case 'timestamp_ntz':
      return encoding.dateTime(dateTimeParts(BigInt(value)), type.kind === 'timestamp');
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return encoding.dateTime(dateTimeNanosParts(BigInt(value)), type.kind === 'timestamp_ns');
    case 'time':
      return encoding.timeOfDay(BigInt(value));
    case 'decimal':
      return formatDecimal(BigInt(value), type.scale);
    default:
      return typeof value === 'number' ? encoding.number(value, type?.kind === 'float' || type?.kind === 'double') : value.toString();
  }
}

/** Types of which Delta's log has no text for every value. */
const withoutText: ReadonlySet<DataType['kind']> = new Set(['binary', 'struct', 'list', 'map', 'time', 'timestamp_ns', 'timestamp_ntz_ns']);

/** Whether columns of the type can partition a table whose log holds the values as text. */
export function hasPartitionText(type: DataType): boolean {
  return !withoutText.has(type.kind);
}

/**
 * Engine SQL for the same: `column`, engine SQL of the type, as text, `NULL` for null. Where the log is to hold it, for the empty string
 * too, which the format cannot tell from null.
 */
export function partitionTextSql(column: string, type: DataType, spelling: 'plain' | 'log'): string {
  const inLog = spelling === 'log';
  const instant = `(${column} AT TIME ZONE 'UTC')`;
  switch (type.kind) {
    case 'string':
      return inLog ? `nullif(${column}, '')` : column;
    case 'binary':
      assert(!inLog, 'binary columns do not partition the table');
      return `lower(hex(${column}))`;
    case 'date':
      return inLog ? `(${yearSql(column)} || strftime(${column}, '-%m-%d'))` : asText(column);
    case 'timestamp':
      return inLog ? `(${yearSql(instant)} || strftime(${instant}, '-%m-%dT%H:%M:%S.%fZ'))` : asText(instant);
    case 'timestamp_ntz':
      return inLog ? localSql(column) : asText(column);
    case 'float':
    case 'double':
      return (
        `CASE WHEN isnan(${column}) THEN 'NaN' WHEN isinf(${column}) THEN CASE WHEN ${column} > 0 THEN 'Infinity' ELSE '-Infinity' END ` +
        `ELSE ${asText(column)} END`
      );
    default:
      return asText(column);
  }
}

/** Engine SQL for a value of the type from engine SQL of its plain text. */
export function partitionValueSql(text: string, type: DataType): string {
  return type.kind === 'binary' ? `unhex(${asText(text)})` : `CAST(${text} AS ${typeSql(type)})`;
}

function asText(sql: string): string {
  return `CAST(${sql} AS VARCHAR)`;
}

function localSql(column: string): string {
  const whole = `epoch_us(${column}) % 1000000 = 0`;
  const time = `CASE WHEN ${whole} THEN strftime(${column}, '-%m-%d %H:%M:%S') ELSE strftime(${column}, '-%m-%d %H:%M:%S.%f') END`;
  return `(${yearSql(column)} || ${time})`;
}

/** At least four digits; a sign for years that need it. */
function yearSql(date: string): string {
  const digits = `CAST(abs(year(${date})) AS VARCHAR)`;
  const sign = `CASE WHEN year(${date}) > 9999 THEN '+' WHEN year(${date}) < 0 THEN '-' ELSE '' END`;
  return `${sign} || lpad(${digits}, CAST(greatest(4, length(${digits})) AS INTEGER), '0')`;
}

/**
 * A text of Delta's log as the plain one, whichever of the spellings in use it has: both forms of timestamps, exponents, escaped bytes.
 * `undefined`: not a value of the type.
 */
export function plainPartitionText(value: string, type: DataType): string | undefined {
  const trimmed = value.trim();
  switch (type.kind) {
    case 'string':
      return value;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return /^[+-]?\d{1,20}$/.test(trimmed) ? BigInt(trimmed.replace(/^\+/, '')).toString() : undefined;
    case 'decimal':
      return decimalText(trimmed);
    case 'float':
    case 'double':
      return floatingText(trimmed);
    case 'boolean':
      return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : undefined;
    case 'date':
      return /^[+-]?\d{4,6}-\d{2}-\d{2}(?=$|[T ])/.exec(trimmed)?.[0];
    case 'timestamp':
    case 'timestamp_ntz':
      return timestampText(trimmed, type.kind === 'timestamp');
    case 'binary': {
      // Engines write the bytes as text (UTF-8) or each byte as `\u00XX`.
      const escaped = /^(?:\\u00[0-9a-f]{2})+$/i.test(value);
      return escaped ? value.toLowerCase().replaceAll('\\u00', '') : Buffer.from(value, 'utf8').toString('hex');
    }
    default:
      return undefined;
  }
}

/** The value of a text of Delta's log; `undefined`: not a value of the type. */
export function partitionValue(text: string, type: DataType): TransformValue {
  const plain = plainPartitionText(text, type);
  return plain === undefined ? undefined : valueOfPlainText(plain, type);
}

/** The value of a plain text of the type. */
export function valueOfPlainText(plain: string, type: DataType): TransformValue {
  switch (type.kind) {
    case 'string':
      return plain;
    case 'boolean':
      return plain === 'true';
    case 'long':
      return BigInt(plain);
    case 'decimal':
      return parseDecimal(plain, type.precision, type.scale);
    case 'date':
      return parseDateText(plain);
    case 'timestamp':
    case 'timestamp_ntz':
      return parseTimestampText(plain)?.micros;
    case 'binary':
      return Buffer.from(plain, 'hex');
    default:
      return Number(plain);
  }
}

/** Exponents, which some engines write for very small and very large values, become zeros. */
function decimalText(value: string): string | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(value);
  const whole = match?.[2] ?? '';
  const fraction = match?.[3] ?? '';
  if (match === null || (whole === '' && fraction === '')) return undefined;
  const point = whole.length + Number(match[4] ?? 0);
  const digits = `${'0'.repeat(Math.max(0, -point))}${whole}${fraction}`.padEnd(point, '0');
  const at = Math.max(0, point);
  const text = `${digits.slice(0, at) || '0'}.${digits.slice(at)}`.replace(/^0+(?=\d)/, '').replace(/\.$/, '');
  return match[1] === '-' ? `-${text}` : text;
}

function floatingText(value: string): string | undefined {
  if (/^nan$/i.test(value)) return 'NaN';
  const infinite = /^([+-]?)inf(inity)?$/i.exec(value);
  if (infinite !== null) return infinite[1] === '-' ? '-Infinity' : 'Infinity';
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? value.replace(/^\+/, '') : undefined;
}

const timestampPattern =
  /^([+-]?\d{4,6}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?(?::\d{2})?)?$/i;

/** `2024-02-29 10:00:00.000001`; an instant given with an offset is moved to UTC, one without is taken to be in UTC. */
function timestampText(value: string, zoned: boolean): string | undefined {
  const match = timestampPattern.exec(value);
  if (match === null) return undefined;
  const [, date = '', hours = '00', minutes = '00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const text = `${date} ${hours}:${minutes}:${seconds}.${fraction.padEnd(6, '0').slice(0, 6)}`;
  const offset = zoned ? /^[+-]\d{2}(?::?\d{2})?/.exec(zone)?.[0] : undefined;
  if (offset === undefined) return text;
  const instant = parseTimestampText(`${text}${offset}`);
  return instant === undefined ? undefined : encodings.plain.dateTime(dateTimeParts(instant.micros), true);
}
