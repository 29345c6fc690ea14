import { assert } from '../base/assert.ts';
import { ServiceError } from '../base/errors.ts';
import { type PlainValue, valueAt } from '../codec/rows.ts';
import type { Column } from '../schema/columns.ts';
import { dateTimeParts, formatDate } from '../schema/date-text.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType } from '../schema/types.ts';

/**
 * A value as Delta spells it in `partitionValues`: `undefined` for null, and for the empty string, which Delta cannot tell from it.
 *
 * @throws ServiceError `PARTITION_TYPE_UNSUPPORTED` for a type that is no partition column's.
 */
export function partitionText(column: Column, index: number, name: string): string | undefined {
  refusePartitionType(column.type, name);
  const value = valueAt(column, index);
  if (value === null || value === '') return undefined;
  switch (column.type.kind) {
    case 'date':
      return formatDate(Number(value));
    case 'timestamp': {
      const { date, time, fraction } = dateTimeParts(value as bigint);
      return `${date}T${time}.${fraction}Z`;
    }
    case 'timestamp_ntz': {
      const { date, time, fraction } = dateTimeParts(value as bigint);
      return `${date} ${time}${fraction === '000000' ? '' : `.${fraction}`}`;
    }
    default:
      return Object.is(value, -0) ? '-0.0' : plainText(value);
  }
}

/** @throws ServiceError `PARTITION_TYPE_UNSUPPORTED` (kind unsupported) for binary, struct, list and map. */
export function refusePartitionType(type: DataType, name: string): void {
  if (!['binary', 'struct', 'list', 'map', 'time', 'timestamp_ns', 'timestamp_ntz_ns'].includes(type.kind)) return;
  throw new ServiceError({
    code: 'PARTITION_TYPE_UNSUPPORTED',
    kind: 'unsupported',
    message: `partition column "${name}" has type ${describeType(type)}`,
    hint: 'partition by a column of text, number, boolean, date or timestamp type',
  });
}

function plainText(value: PlainValue): string {
  assert(typeof value !== 'object', 'a partition value of a scalar type');
  return value.toString();
}
