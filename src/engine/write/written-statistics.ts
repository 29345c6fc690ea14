import { quoteName } from '../../expr/sql/engine-text.ts';
import { parseDecimal } from '../../schema/decimal-text.ts';
import type { BoundValue, ColumnStatistics } from '../../schema/statistics.ts';
import type { StructLeaf } from '../../schema/type-tree.ts';
import type { DataType } from '../../schema/types.ts';

/** What the engine says about one column it wrote: texts by name. */
export type CopyStatistics = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What is known of a leaf from the engine's own statistics; `uncertain` must be computed from the rows. */
export interface LeafStatistics {
  readonly leaf: StructLeaf;
  readonly nullCount: number | undefined;
  readonly bounds: { readonly min: BoundValue; readonly max: BoundValue } | undefined;
  readonly uncertain: 'nothing' | 'null-count' | 'bounds' | 'nan';
}

// The engine's `has_nan` speaks of the last row group only, and a group has no fewer rows than this while more follow.
const surelyOneGroupRows = 2_048;

/** Reads the statistics of a written file. */
export function leafStatistics(leaf: StructLeaf, statistics: CopyStatistics, rowCount: number): LeafStatistics {
  if (leaf.type.kind === 'list' || leaf.type.kind === 'map') return nestedStatistics(leaf, statistics, rowCount);
  const own = statistics.get(leaf.path.map(quoteName).join('.'));
  const nullText = own?.get('null_count');
  if (own === undefined || nullText === undefined) return { leaf, nullCount: undefined, bounds: undefined, uncertain: 'null-count' };
  const nullCount = Number(nullText);
  const known = { leaf, nullCount } as const;
  if (!isOrdered(leaf.type) || nullCount === rowCount || own.get('has_nan') === 'true')
    return { ...known, bounds: undefined, uncertain: 'nothing' };
  const min = boundOf(own.get('min'), leaf.type);
  const max = boundOf(own.get('max'), leaf.type);
  const floating = leaf.type.kind === 'float' || leaf.type.kind === 'double';
  if (floating && rowCount > surelyOneGroupRows) return { ...known, bounds: undefined, uncertain: 'nan' };
  // A row group without a bound (only nulls, only NaN, or text too long) takes the bound from the whole file.
  if (min === undefined || max === undefined) return { ...known, bounds: undefined, uncertain: 'bounds' };
  return { ...known, bounds: { min, max }, uncertain: 'nothing' };
}

// Null elements, empty lists and null lists are one count in the file; where it is 0 there are none.
function nestedStatistics(leaf: StructLeaf, statistics: CopyStatistics, rowCount: number): LeafStatistics {
  const prefix = `${leaf.path.map(quoteName).join('.')}.`;
  for (const [name, values] of statistics) {
    if (!name.startsWith(prefix)) continue;
    if (values.get('null_count') === '0' && rowCount > 0) return { leaf, nullCount: 0, bounds: undefined, uncertain: 'nothing' };
    break;
  }
  return { leaf, nullCount: undefined, bounds: undefined, uncertain: 'null-count' };
}

/** Types without bounds in statistics. */
const unordered: ReadonlySet<DataType['kind']> = new Set(['binary', 'boolean', 'struct', 'list', 'map', 'variant', 'void']);

export function isOrdered(type: DataType): boolean {
  return !unordered.has(type.kind);
}

/** The statistics in their final form. */
export function columnStatisticsOf(known: LeafStatistics): readonly ColumnStatistics[] {
  if (known.nullCount === undefined) return [];
  return [{ path: known.leaf.path, nullCount: known.nullCount, ...known.bounds }];
}

/** A bound from the text the engine prints; `undefined` when there is none or it is not exact. */
export function boundOf(text: string | undefined, type: DataType): BoundValue | undefined {
  if (text === undefined) return undefined;
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return BigInt(text);
    case 'decimal':
      return parseDecimal(text, type.precision, type.scale);
    case 'float':
      return numberOf(text, Math.fround);
    case 'double':
      return numberOf(text, (value) => value);
    case 'string':
      return text;
    case 'date':
      return daysOf(text);
    case 'timestamp':
    case 'timestamp_ntz':
      return nanosOf(text, 1000n);
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return nanosOf(text, 1n);
    case 'time':
      return nanosOf(`1970-01-01 ${text}`, 1000n);
    default:
      return undefined;
  }
}

function numberOf(text: string, round: (value: number) => number): number | undefined {
  if (text === 'inf') return Number.POSITIVE_INFINITY;
  if (text === '-inf') return Number.NEGATIVE_INFINITY;
  const value = round(Number(text));
  return Number.isNaN(value) ? undefined : value;
}

const datePattern = /^(\d{1,7})-(\d{2})-(\d{2})( \(BC\))?$/u;
const millisPerDay = 86_400_000;

function daysOf(text: string): bigint | undefined {
  const parts = datePattern.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, beforeChrist] = parts;
  const date = new Date(0);
  date.setUTCFullYear(beforeChrist === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day));
  const millis = date.getTime();
  return Number.isNaN(millis) ? undefined : BigInt(millis / millisPerDay);
}

const timestampPattern = /^(\d{1,7}-\d{2}-\d{2})( \(BC\))? (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:\+00)?( \(BC\))?$/u;

/** Units of so many nanoseconds since 1970. */
function nanosOf(text: string, unit: bigint): bigint | undefined {
  const parts = timestampPattern.exec(text);
  if (parts === null) return undefined;
  const [, date, early, hour, minute, second, fraction, late] = parts;
  const days = daysOf(`${date ?? ''}${early ?? late ?? ''}`);
  if (days === undefined) return undefined;
  const seconds = BigInt(Number(hour) * 3_600 + Number(minute) * 60 + Number(second));
  return ((days * 86_400n + seconds) * 1_000_000_000n + BigInt((fraction ?? '').padEnd(9, '0'))) / unit;
}
