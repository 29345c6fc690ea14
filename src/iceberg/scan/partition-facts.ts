import type { ColumnFacts } from '../../expr/pruning/file-facts.ts';
import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import type { Transform } from '../../table/partitioning/transform.ts';
import type { FieldSummary, PartitionValue } from '../metadata/content-file.ts';
import { boundOf, identityBound } from './bound-value.ts';

type Comparable = BoundValue | boolean;

/** A partition field of a column: how its values follow from the column's. */
export interface PartitionOfColumn {
  readonly transform: Transform;
  /** The column's present type. */
  readonly type: DataType;
  /** That of the partition values. */
  readonly resultType: DataType;
  /** Place in the partition tuple. */
  readonly place: number;
}

/** What a partition value says of the column it was made from: inclusive projection. `undefined`: nothing. */
export function factsOfValue(field: PartitionOfColumn, value: PartitionValue): ColumnFacts | undefined {
  if (field.transform.kind === 'void' || field.transform.kind === 'unknown') return undefined;
  // Every transform makes null of null, and of nothing else.
  if (value === undefined) return { allNull: true };
  const bound = identityBound(field.resultType, value);
  return { nullCount: 0, ...rangeOf(field, bound, bound), ...nanOf(field, bound) };
}

/** What the summary of a field says of the column, for all files of a manifest. */
export function factsOfSummary(field: PartitionOfColumn, summary: FieldSummary): ColumnFacts | undefined {
  if (field.transform.kind === 'void' || field.transform.kind === 'unknown') return undefined;
  const { lowerBound, upperBound, containsNull, containsNan } = summary;
  const lower = lowerBound === undefined ? undefined : boundOf(field.resultType, lowerBound);
  const upper = upperBound === undefined ? undefined : boundOf(field.resultType, upperBound);
  const onlyNulls = lowerBound === undefined && upperBound === undefined && containsNull && containsNan === false;
  return {
    ...(onlyNulls ? { allNull: true } : {}),
    nullCount: containsNull ? undefined : 0,
    ...rangeOf(field, lower, upper),
    mayHoldNaN: containsNan !== false,
  };
}

function nanOf(field: PartitionOfColumn, bound: Comparable | undefined): ColumnFacts {
  return field.transform.kind === 'identity' ? { mayHoldNaN: typeof bound === 'number' && Number.isNaN(bound) } : {};
}

function rangeOf(field: PartitionOfColumn, lower: Comparable | undefined, upper: Comparable | undefined): ColumnFacts {
  const { transform, type } = field;
  switch (transform.kind) {
    case 'identity':
      return { min: lower, max: upper };
    case 'truncate':
      return truncatedRange(transform.width, lower, upper);
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return {
        min: typeof lower === 'bigint' ? startOf(transform.kind, lower, type) : undefined,
        max: typeof upper === 'bigint' ? minusOne(startOf(transform.kind, upper + 1n, type)) : undefined,
      };
    default:
      return {};
  }
}

function truncatedRange(width: number, lower: Comparable | undefined, upper: Comparable | undefined): ColumnFacts {
  if (typeof lower === 'string' || typeof upper === 'string') return { min: lower, max: upper, mayBeTruncated: true };
  return {
    min: typeof lower === 'bigint' ? lower : undefined,
    max: typeof upper === 'bigint' ? upper + BigInt(width - 1) : undefined,
  };
}

const microsPerHour = 3_600_000_000n;
const hoursPerDay = 24n;

/** The first value of a period that is counted from 1970: days of a date, micro- or nanoseconds of a time. */
function startOf(period: 'year' | 'month' | 'day' | 'hour', ordinal: bigint, type: DataType): bigint | undefined {
  const days = period === 'hour' ? undefined : daysOf(period, ordinal);
  const hours = period === 'hour' ? ordinal : days === undefined ? undefined : days * hoursPerDay;
  if (hours === undefined) return undefined;
  switch (type.kind) {
    case 'date':
      return period === 'hour' ? undefined : hours / hoursPerDay;
    case 'timestamp':
    case 'timestamp_ntz':
      return hours * microsPerHour;
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return hours * microsPerHour * 1_000n;
    default:
      return undefined;
  }
}

function daysOf(period: 'year' | 'month' | 'day', ordinal: bigint): bigint | undefined {
  if (period === 'day') return ordinal;
  const [years, months] = period === 'year' ? [Number(ordinal), 0] : [Math.floor(Number(ordinal) / 12), ((Number(ordinal) % 12) + 12) % 12];
  // The calendar of the runtime takes years below 100 for others unless they are set one by one.
  const time = new Date(0).setUTCFullYear(1970 + years, months, 1);
  return Number.isNaN(time) ? undefined : BigInt(Math.round(time / 86_400_000));
}

function minusOne(value: bigint | undefined): bigint | undefined {
  return value === undefined ? undefined : value - 1n;
}
