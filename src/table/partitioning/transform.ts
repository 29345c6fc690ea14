import { AnalysisException } from '../../base/analysis-exception.ts';

/**
 * How a partition value follows from a column's (https://iceberg.apache.org/spec/#partition-transforms). Null gives null. Tables that are
 * partitioned by columns, as Delta's are, have `identity` alone.
 */
export type Transform =
  | { readonly kind: 'identity' }
  /** Always null: what is left of a dropped field in tables that keep its place. */
  | { readonly kind: 'void' }
  | { readonly kind: 'bucket'; readonly count: number }
  | { readonly kind: 'truncate'; readonly width: number }
  | { readonly kind: 'year' | 'month' | 'day' | 'hour' }
  /** One that this version does not know: nothing is pruned by it and nothing is written with it. */
  | { readonly kind: 'unknown'; readonly text: string };

/** One item of a table's partitioning, before the table gives it ids. */
export interface PartitionFieldDefinition {
  /** Path of the source column. */
  readonly source: readonly string[];
  readonly transform: Transform;
  /** Default: by the table format's rule. */
  readonly name?: string | undefined;
}

const parameterised = /^(bucket|truncate)\[(\d{1,10})\]$/;

/** Reads a transform as table metadata has it: `identity`, `bucket[16]`, `truncate[4]`, `day`, … */
export function parseTransform(text: string): Transform {
  switch (text) {
    case 'identity':
    case 'void':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return { kind: text };
    default: {
      const [, kind, parameter] = parameterised.exec(text) ?? [];
      const number = Number(parameter);
      if (kind === undefined || !isParameter(number)) return { kind: 'unknown', text };
      return kind === 'bucket' ? { kind: 'bucket', count: number } : { kind: 'truncate', width: number };
    }
  }
}

/** The text of a transform as table metadata has it. */
export function printTransform(transform: Transform): string {
  switch (transform.kind) {
    case 'bucket':
      return `bucket[${transform.count}]`;
    case 'truncate':
      return `truncate[${transform.width}]`;
    case 'unknown':
      return transform.text;
    default:
      return transform.kind;
  }
}

/**
 * A transform as SQL calls it: `bucket(16, c)`, `truncate(4, c)`, `years(c)`, `day(c)`, `date(c)`, `hours(c)`, …
 *
 * @throws AnalysisException `PARTITION_TRANSFORM_UNKNOWN`, `_LEGACY_ERROR_TEMP_0031` for `bucket` without its number.
 */
export function namedTransform(name: string, parameter: number | undefined): Transform {
  const lower = name.toLowerCase();
  if (lower === 'bucket' || lower === 'truncate') {
    if (parameter === undefined || !isParameter(parameter)) throw unknownTransform(`${lower}(${parameter ?? ''}, …)`);
    return lower === 'bucket' ? { kind: 'bucket', count: parameter } : { kind: 'truncate', width: parameter };
  }
  const found = parameter === undefined ? sqlNames[lower] : undefined;
  if (found === undefined) throw unknownTransform(name);
  return { kind: found };
}

const sqlNames: Readonly<Record<string, 'identity' | 'void' | 'year' | 'month' | 'day' | 'hour' | undefined>> = {
  identity: 'identity',
  void: 'void',
  year: 'year',
  years: 'year',
  month: 'month',
  months: 'month',
  day: 'day',
  days: 'day',
  date: 'day',
  hour: 'hour',
  hours: 'hour',
  date_hour: 'hour',
};

function isParameter(value: number): boolean {
  return Number.isInteger(value) && value > 0 && value < 2 ** 31;
}

function unknownTransform(text: string): AnalysisException {
  return new AnalysisException({
    // As Spark names a `bucket` whose number is none.
    errorClass: text.startsWith('bucket') ? '_LEGACY_ERROR_TEMP_0031' : 'PARTITION_TRANSFORM_UNKNOWN',
    alias: 'PARTITION_TRANSFORM_UNKNOWN',
    message: `"${text}" is no partition transform`,
    hint: 'write a column, bucket(n, c), truncate(n, c), years(c), months(c), days(c) or hours(c)',
  });
}
