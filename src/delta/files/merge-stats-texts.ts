import { isJsonObject, type JsonObject, type JsonValue, parseJsonWithLongNumbersAsText } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { parseDateText, parseTimestampText } from '../../expr/parse/temporal-text.ts';
import { mergeStatistics, type PartialStatistics } from '../../schema/merge-statistics.ts';
import type { BoundValue, ColumnStatistics } from '../../schema/statistics.ts';
import { type StructLeaf, structLeaves } from '../../schema/type-tree.ts';
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
  const leaves = structLeaves(storedSchema).filter(
    ({ path }) => !partitionColumns.includes(path[0] ?? '') && rule.indexed?.(path) !== false,
  );
  const parts: { readonly rowCount: number; readonly columns: readonly (ColumnStatistics | undefined)[] }[] = [];
  for (const [index, text] of files.texts.entries()) {
    const statistics = parsedStatistics(text);
    const rowCount = files.rowCounts[index] ?? 0;
    if (statistics === undefined || statistics['numRecords'] !== rowCount) return undefined;
    if (rule.tightBounds === true && statistics['tightBounds'] === false) return undefined;
    parts.push({ rowCount, columns: leaves.map((leaf) => columnOf(statistics, rowCount, leaf)) });
  }
  const isTold = leaves.map((_, index) => parts.every(({ columns }) => columns[index] !== undefined));
  if (leaves.some(({ type }, index) => isTold[index] === false && type.kind !== 'list' && type.kind !== 'map')) return undefined;
  const whole = parts
    .map(
      ({ rowCount, columns }): PartialStatistics => ({
        rowCount,
        columns: columns.flatMap((column, index) => (isTold[index] === true ? (column ?? []) : [])),
      }),
    )
    .reduce(mergeStatistics, { rowCount: 0, columns: [] });
  return statsText({ rowCount: whole.rowCount, statistics: whole.columns }, storedSchema, partitionColumns, { ...rule, textIsCut: true });
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

function columnOf(statistics: JsonObject, rowCount: number, { path, type }: StructLeaf): ColumnStatistics | undefined {
  const nullCount = memberAt(statistics['nullCount'], path);
  if (typeof nullCount !== 'number' || !Number.isSafeInteger(nullCount) || nullCount < 0 || nullCount > rowCount) return undefined;
  if (nullCount === rowCount) return { path, nullCount };
  const [min, max] = [exactBound(memberAt(statistics['minValues'], path), type), exactBound(memberAt(statistics['maxValues'], path), type)];
  return (min === undefined || max === undefined) && mustHaveBounds(type) ? undefined : { path, nullCount, min, max };
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
