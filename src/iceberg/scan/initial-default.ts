import type { Literal } from '../../expr/expression.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import type { DataType, Field } from '../../schema/types.ts';

/**
 * What rows of files that lack the field have in its place (https://iceberg.apache.org/spec/#default-values); `undefined`: null. The default
 * stands in the field's metadata as the specification's JSON.
 */
export function initialDefault(field: Field): Literal | undefined {
  const value = field.metadata?.['initial-default'];
  return value === undefined || value === null ? undefined : literalOf(value, field.type);
}

/** What rows have that are written without a value for the field; `undefined`: null. */
export function writeDefault(field: Field): Literal | undefined {
  const value = field.metadata?.['write-default'];
  return value === undefined || value === null ? undefined : literalOf(value, field.type);
}

function literalOf(value: unknown, type: DataType): Literal | undefined {
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? { type: 'boolean', value } : undefined;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return typeof value === 'number' || typeof value === 'bigint'
        ? { type: 'integer', value: BigInt(value), width: type.kind }
        : undefined;
    case 'float':
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? { type: type.kind, value: Number(value) } : undefined;
    default:
      return typeof value === 'string' ? literalOfText(value, type) : undefined;
  }
}

function literalOfText(text: string, type: DataType): Literal | undefined {
  switch (type.kind) {
    case 'date': {
      const days = parseDateText(text);
      return days === undefined ? undefined : { type: 'date', days };
    }
    case 'timestamp':
    case 'timestamp_ntz': {
      const parsed = parseTimestampText(text);
      return parsed === undefined ? undefined : { type: type.kind, micros: parsed.micros };
    }
    case 'decimal':
      return decimalOf(text, type);
    case 'binary':
      return /^(?:[0-9a-f]{2})*$/i.test(text) ? { type: 'binary', value: Uint8Array.from(Buffer.from(text, 'hex')) } : undefined;
    // Times of the day and nanoseconds have no literals: their text is cast.
    case 'string':
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return { type: 'string', value: text };
    default:
      return undefined;
  }
}

function decimalOf(text: string, type: DataType & { readonly kind: 'decimal' }): Literal | undefined {
  const match = /^(-?)(\d{1,38})(?:\.(\d{1,38}))?$/.exec(text);
  const fraction = match?.[3] ?? '';
  if (match === null || fraction.length > type.scale) return undefined;
  const magnitude = BigInt(`${match[2] ?? '0'}${fraction.padEnd(type.scale, '0')}`);
  return { type: 'decimal', unscaled: match[1] === '-' ? -magnitude : magnitude, precision: type.precision, scale: type.scale };
}
