import { dateTimeNanosParts, dateTimeParts, formatDate, formatTime } from '../../schema/date-text.ts';
import { formatDecimal } from '../../schema/decimal-text.ts';
import type { DataType } from '../../schema/types.ts';
import type { PartitionValue } from '../spec/content-file.ts';

/** A value of an identity partition field as the plain text of `ScanFile.partitionValues`; `undefined` is null. */
export function identityText(type: DataType, value: PartitionValue): string | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  switch (type.kind) {
    case 'date':
      return formatDate(Number(value));
    case 'timestamp':
    case 'timestamp_ntz': {
      const { date, time, fraction } = dateTimeParts(BigInt(value));
      return `${date} ${time}.${fraction}`;
    }
    case 'timestamp_ns':
    case 'timestamp_ntz_ns': {
      const { date, time, fraction } = dateTimeNanosParts(BigInt(value));
      return `${date} ${time}.${fraction}`;
    }
    case 'time':
      return formatTime(BigInt(value));
    case 'decimal':
      return formatDecimal(BigInt(value), type.scale);
    default:
      return String(value);
  }
}
