import { formatDate } from '../../schema/date-text.ts';
import type { DataType } from '../../schema/types.ts';
import type { TransformValue } from './apply-transform.ts';
import { partitionText } from './partition-text.ts';
import type { Transform } from './transform.ts';

/** A field of a partitioning with one value of it. */
export interface PartitionPart {
  readonly name: string;
  readonly transform: Transform;
  /** Of the value: the transform's result; `undefined` when it is not known. */
  readonly type: DataType | undefined;
  readonly value: TransformValue;
}

/**
 * A partition as people read it, `name=value/name=value`, names and values encoded as in URLs: where files are put and what summaries call
 * it. Nobody reads values out of it. Empty without fields.
 */
export function partitionPathOf(parts: readonly PartitionPart[]): string {
  return parts
    .map(({ name, transform, type, value }) => `${urlEncoded(name)}=${urlEncoded(partitionValueText(transform, type, value))}`)
    .join('/');
}

/** A partition value as people read it: dates and times of day in ISO 8601, `2020-01` for months, `null`. `type` is the transform's result. */
export function partitionValueText(transform: Transform, type: DataType | undefined, value: TransformValue): string {
  if (value === undefined) return 'null';
  if (typeof value === 'number') {
    switch (transform.kind) {
      case 'year':
        return fourDigits(1970 + value);
      case 'month':
        return `${fourDigits(1970 + Math.floor(value / 12))}-${twoDigits(value - 12 * Math.floor(value / 12) + 1)}`;
      case 'day':
        return formatDate(value);
      case 'hour':
        return `${formatDate(Math.floor(value / 24))}-${twoDigits(value - 24 * Math.floor(value / 24))}`;
      default:
        return partitionText(type, value, 'path');
    }
  }
  return partitionText(type, value, 'path');
}

/** As application/x-www-form-urlencoded. */
function urlEncoded(text: string): string {
  const encoded = encodeURIComponent(Buffer.from(text).toString());
  return encoded.replaceAll('%20', '+').replaceAll(/[!~'()]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}

function fourDigits(year: number): string {
  return `${year < 0 ? '-' : ''}${Math.abs(year).toString().padStart(4, '0')}`;
}

function twoDigits(value: number): string {
  return value.toString().padStart(2, '0');
}
