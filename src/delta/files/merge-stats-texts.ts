import { isJsonObject, type JsonObject, type JsonValue, parseJsonWithLongNumbersAsText } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import type { BoundValue, ColumnStatistics } from '../../schema/statistics.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { exactUnscaled } from '../scan/bound-value.ts';
import { memberAt } from '../scan/file-statistics.ts';
import { type StatisticsRule, statsText } from '../stats-text.ts';

export interface MergedFiles {
  /** `add.stats` of each file. */
  readonly texts: readonly (string | undefined)[];
  /** Rows of each file, in the same order. */
  readonly rowCounts: readonly number[];
  /** Columns as the files have them. */
  readonly storedSchema: StructType;
  readonly partitionColumns: readonly string[];
  readonly rule: StatisticsRule;
}

/**
 * The statistics of a file that holds the rows of several, from theirs: counts are sums, bounds the smallest and the largest. `undefined`
 * when they do not say all that statistics made of the rows would say, with two exceptions, where the whole says as little as they: bounds
 * of numbers that can be NaN may be missing, and counts of lists and maps, which some engines never write.
 */
export function mergeStatsTexts(files: MergedFiles): string | undefined {
  const { storedSchema, partitionColumns, rule } = files;
  const parsed: ParsedStatistics[] = [];
  for (const [index, text] of files.texts.entries()) {
    const statistics = parsedStatistics(text);
    const rowCount = files.rowCounts[index] ?? 0;
    if (statistics === undefined || statistics['numRecords'] !== rowCount) return undefined;
    if (rule.tightBounds === true && statistics['tightBounds'] === false) return undefined;
    parsed.push({ statistics, rowCount });
  }
  const columns: ColumnStatistics[] = [];
  for (const { path, type } of leavesOf(storedSchema, [])) {
    if (partitionColumns.includes(path[0] ?? '') || rule.indexed?.(path) === false) continue;
    const column = mergedColumn(parsed, path, type);
    if (column !== undefined) columns.push(column);
    else if (type.kind !== 'list' && type.kind !== 'map') return undefined;
  }
  const rowCount = files.rowCounts.reduce((sum, count) => sum + count, 0);
  return statsText({ rowCount, statistics: columns }, storedSchema, partitionColumns, { ...rule, textIsCut: true });
}

interface ParsedStatistics {
  readonly statistics: JsonObject;
  readonly rowCount: number;
}

interface Leaf {
  readonly path: readonly string[];
  readonly type: DataType;
}

function parsedStatistics(text: string | undefined): JsonObject | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    const value = parseJsonWithLongNumbersAsText(text, 'statistics');
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return undefined;
    throw error;
  }
}

/** Only struct members are entered; lists and maps are leaves. */
function leavesOf(struct: StructType, above: readonly string[]): readonly Leaf[] {
  return struct.fields.flatMap(({ name, type }) => {
    const path = [...above, name];
    return type.kind === 'struct' ? leavesOf(type, path) : [{ path, type }];
  });
}

function mergedColumn(files: readonly ParsedStatistics[], path: readonly string[], type: DataType): ColumnStatistics | undefined {
  let nullCount = 0;
  const minima: (BoundValue | undefined)[] = [];
  const maxima: (BoundValue | undefined)[] = [];
  for (const { statistics, rowCount } of files) {
    const nulls = memberAt(statistics['nullCount'], path);
    if (typeof nulls !== 'number' || !Number.isSafeInteger(nulls) || nulls < 0 || nulls > rowCount) return undefined;
    nullCount += nulls;
    if (nulls === rowCount) continue;
    minima.push(exactBound(memberAt(statistics['minValues'], path), type));
    maxima.push(exactBound(memberAt(statistics['maxValues'], path), type));
  }
  const isBounded = ![...minima, ...maxima].includes(undefined);
  if (!isBounded && mustHaveBounds(type)) return undefined;
  const min = isBounded ? extreme(minima, -1) : undefined;
  const max = isBounded ? extreme(maxima, 1) : undefined;
  return { path, nullCount, min, max };
}

/** Types whose bounds are written whatever the values. */
function mustHaveBounds(type: DataType): boolean {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'decimal':
    case 'string':
    case 'date':
    case 'timestamp':
    case 'timestamp_ntz':
      return true;
    default:
      return false;
  }
}

function extreme(bounds: readonly (BoundValue | undefined)[], direction: -1 | 1): BoundValue | undefined {
  let found: BoundValue | undefined;
  for (const bound of bounds) {
    if (bound === undefined) return undefined;
    if (found === undefined || Math.sign(compareBounds(bound, found)) === direction) found = bound;
  }
  return found;
}

/** Text by its UTF-8 bytes, numbers by value. */
function compareBounds(a: BoundValue, b: BoundValue): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A bound exactly as written, neither widened nor narrowed. */
function exactBound(value: JsonValue | undefined, type: DataType): BoundValue | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
      return typeof value === 'bigint' ? value : typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : undefined;
    case 'float':
    case 'double':
      return typeof value === 'number' ? value : longNumber(value);
    case 'decimal':
      return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
        ? exactUnscaled(String(value), type.scale)
        : undefined;
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'date': {
      const days = typeof value === 'string' ? parseDateText(value) : undefined;
      return days === undefined ? undefined : BigInt(days);
    }
    case 'timestamp':
    case 'timestamp_ntz':
      return typeof value === 'string' ? parseTimestampText(value)?.micros : undefined;
    default:
      return undefined;
  }
}

/** Numbers of many digits come as text. NaN and infinities are no bounds. */
function longNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === 'string' && /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(value) ? Number(value) : undefined;
}
