import { assert } from '../base/assert.ts';
import { ServiceError } from '../base/errors.ts';
import { type PlainValue, valueAt } from '../codec/rows.ts';
import type { Column } from '../schema/columns.ts';
import { dateTimeParts, formatDate } from '../schema/date-text.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType } from '../schema/types.ts';
import type { PartitionValues } from '../table/staged-file.ts';

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
  if (!['binary', 'struct', 'list', 'map'].includes(type.kind)) return;
  throw new ServiceError({
    code: 'PARTITION_TYPE_UNSUPPORTED',
    kind: 'unsupported',
    message: `partition column "${name}" has type ${describeType(type)}`,
    hint: 'partition by a column of text, number, boolean, date or timestamp type',
  });
}

/** Directory names may be this long; most file systems allow 255 bytes. */
const maxSegmentBytes = 200;
const nullSegment = '__HIVE_DEFAULT_PARTITION__';

/**
 * The directory of a partition, `a=1/b=x/`, escaped as Hive does, or the empty string without partition columns. No reader takes values
 * from it, so that values too long for a directory name are cut.
 */
export function partitionDirectory(partitionColumns: readonly string[], values: PartitionValues): string {
  return partitionColumns.map((name) => `${cut(`${hiveEscape(name)}=${hiveEscape(values[name] ?? nullSegment)}`)}/`).join('');
}

const hiveEscaped = /[\u0000-\u001f"#%'*/:=?\\{[\]^\u007f]/g;

function hiveEscape(text: string): string {
  return text.replace(hiveEscaped, (character) => `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}`);
}

function cut(segment: string): string {
  if (Buffer.byteLength(segment) <= maxSegmentBytes) return segment;
  let kept = '';
  let byteCount = 0;
  for (const character of segment) {
    byteCount += Buffer.byteLength(character);
    if (byteCount > maxSegmentBytes) break;
    kept += character;
  }
  return kept;
}

function plainText(value: PlainValue): string {
  assert(typeof value !== 'object', 'a partition value of a scalar type');
  return value.toString();
}
