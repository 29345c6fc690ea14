import { ServiceError } from '../../base/errors.ts';
import type { DataType } from '../../schema/types.ts';

/** Where a partition value was found, for messages. */
export interface PartitionPlace {
  readonly table: string;
  readonly file: string;
  readonly column: string;
}

/**
 * A partition value of the log as the plain text its column's type is read from (`ScanFile.partitionValues`), whichever of the spellings
 * in use it has: both forms of timestamps, exponents, escaped bytes. Null, and the empty text that stands for it, give `undefined`.
 *
 * @throws ServiceError `DELTA_PARTITION_VALUE_INVALID` (corrupt) when the text is no value of the type.
 */
export function partitionText(value: string | undefined, type: DataType, place: PartitionPlace): string | undefined {
  if (value === undefined || value === '') return undefined;
  const text = plainText(value, type);
  if (text !== undefined) return text;
  throw new ServiceError({
    code: 'DELTA_PARTITION_VALUE_INVALID',
    kind: 'corrupt',
    message: `table "${place.table}": file "${place.file}" has the value "${value.slice(0, 100)}" for partition column "${place.column}", which is no ${type.kind}`,
    hint: 'the log is damaged or was written by a broken writer; restore the commit from a copy',
  });
}

/** `undefined`: not a value of the type. */
function plainText(value: string, type: DataType): string | undefined {
  switch (type.kind) {
    case 'string':
      return value;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return integerText(value.trim());
    case 'decimal':
      return decimalText(value.trim());
    case 'float':
    case 'double':
      return floatingText(value.trim());
    case 'boolean':
      return /^(true|false)$/i.test(value.trim()) ? value.trim().toLowerCase() : undefined;
    case 'date':
      return /^[+-]?\d{4,6}-\d{2}-\d{2}(?=$|[T ])/.exec(value.trim())?.[0];
    case 'timestamp':
      return timestampText(value.trim(), { zoned: true });
    case 'timestamp_ntz':
      return timestampText(value.trim(), { zoned: false });
    case 'binary':
      return binaryText(value);
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
  }
}

function integerText(value: string): string | undefined {
  return /^[+-]?\d{1,20}$/.test(value) ? BigInt(value.replace(/^\+/, '')).toString() : undefined;
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
function timestampText(value: string, options: { readonly zoned: boolean }): string | undefined {
  const match = timestampPattern.exec(value);
  if (match === null) return undefined;
  const [, date = '', hours = '00', minutes = '00', seconds = '00', fraction = '', zone = 'Z'] = match;
  const micros = fraction.padEnd(6, '0').slice(0, 6);
  const offset = options.zoned ? offsetMinutes(zone) : 0;
  if (offset === 0) return `${date} ${hours}:${minutes}:${seconds}.${micros}`;
  const utcMs = Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`) - offset * 60_000;
  if (!Number.isFinite(utcMs)) return undefined;
  return `${new Date(utcMs)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace('T', ' ')}.${micros}`;
}

function offsetMinutes(zone: string): number {
  const match = /^([+-])(\d{2}):?(\d{2})?/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  return match[1] === '-' ? -minutes : minutes;
}

/** Engines write the bytes as text (UTF-8) or each byte as `\u00XX`; gives lower-case hex. */
function binaryText(value: string): string {
  const escaped = /^(?:\\u00[0-9a-f]{2})+$/i.test(value);
  return escaped ? value.toLowerCase().replaceAll('\\u00', '') : Buffer.from(value, 'utf8').toString('hex');
}
