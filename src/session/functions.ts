import { Column, type ColumnOrName, type ColumnOrValue, callOf, columnOf, expressionOf, type LiteralValue, namedColumn } from './column.ts';
import { parseSelectItem } from './select-item.ts';

/** A column by name: `a`, `t.a`, `a.member`; backticks around names with dots. */
export function col(name: string): Column {
  return columnOf(namedColumn(name));
}

/** Another name for `col`. */
export function column(name: string): Column {
  return col(name);
}

/** A value as a column. */
export function lit(value: LiteralValue | Column): Column {
  return value instanceof Column ? value : columnOf(expressionOf(value));
}

/** SQL text as a column, which may end in `AS name`. @throws ParseException. */
export function expr(text: string): Column {
  return columnOf(parseSelectItem(text));
}

/** The first branch of a CASE; go on with `.when(…)` and `.otherwise(…)`. */
export function when(condition: Column, value: ColumnOrValue): Column {
  return columnOf({ kind: 'case', branches: [{ when: condition.expression, then: expressionOf(value) }] });
}

export function asc(name: string): Column {
  return col(name).asc();
}

export function desc(name: string): Column {
  return col(name).desc();
}

/** Any function by its SQL name. Names of columns as text, values through `lit`. */
export function callFunction(name: string, ...columns: readonly ColumnOrName[]): Column {
  return callOf(name, columns.map(named));
}

type OneColumn = (column: ColumnOrName) => Column;
type Columns = (...columns: readonly ColumnOrName[]) => Column;

const one =
  (name: string): OneColumn =>
  (column) =>
    callOf(name, [named(column)]);
const many =
  (name: string): Columns =>
  (...columns) =>
    callOf(name, columns.map(named));
const none = (name: string) => (): Column => callOf(name, []);

// Aggregates.
export const sum: OneColumn = one('sum');
export const avg: OneColumn = one('avg');
export const mean: OneColumn = one('avg');
export const min: OneColumn = one('min');
export const max: OneColumn = one('max');
export const first: OneColumn = one('first');
export const last: OneColumn = one('last');
export const collectList: OneColumn = one('collect_list');
export const collectSet: OneColumn = one('collect_set');
export const stddev: OneColumn = one('stddev');
export const variance: OneColumn = one('variance');
export const approxCountDistinct: OneColumn = one('approx_count_distinct');

/** Rows; with `*` all of them, otherwise those where the column is not null. */
export function count(column: ColumnOrName): Column {
  if (column === '*') return columnOf({ kind: 'call', name: 'count', arguments: [], star: true });
  return callOf('count', [named(column)]);
}

export function countDistinct(...columns: readonly ColumnOrName[]): Column {
  return columnOf({ kind: 'call', name: 'count', arguments: columns.map((each) => named(each).expression), distinct: true });
}

export function sumDistinct(column: ColumnOrName): Column {
  return columnOf({ kind: 'call', name: 'sum', arguments: [named(column).expression], distinct: true });
}

// Nulls and conditions.
export const coalesce: Columns = many('coalesce');
export const greatest: Columns = many('greatest');
export const least: Columns = many('least');
export const isnull: OneColumn = one('isnull');
export const isnan: OneColumn = one('isnan');
export const nullif: Columns = many('nullif');

// Text.
export const upper: OneColumn = one('upper');
export const lower: OneColumn = one('lower');
export const trim: OneColumn = one('trim');
export const ltrim: OneColumn = one('ltrim');
export const rtrim: OneColumn = one('rtrim');
export const length: OneColumn = one('length');
export const concat: Columns = many('concat');
export const reverse: OneColumn = one('reverse');

export function concatWs(separator: string, ...columns: readonly ColumnOrName[]): Column {
  return callOf('concat_ws', [separator, ...columns.map(named)]);
}

/** Characters from `start`, which counts from 1. */
export function substring(column: ColumnOrName, start: number, length: number): Column {
  return callOf('substring', [named(column), start, length]);
}

export function split(column: ColumnOrName, pattern: string): Column {
  return callOf('split', [named(column), pattern]);
}

export function regexpReplace(column: ColumnOrName, pattern: string, replacement: string): Column {
  return callOf('regexp_replace', [named(column), pattern, replacement]);
}

export function regexpExtract(column: ColumnOrName, pattern: string, group: number): Column {
  return callOf('regexp_extract', [named(column), pattern, group]);
}

// Numbers.
export const abs: OneColumn = one('abs');
export const ceil: OneColumn = one('ceil');
export const floor: OneColumn = one('floor');
export const sqrt: OneColumn = one('sqrt');
export const pow: Columns = many('pow');

export function round(column: ColumnOrName, scale: number = 0): Column {
  return callOf('round', [named(column), scale]);
}

// Times.
export const currentTimestamp: () => Column = none('current_timestamp');
export const currentDate: () => Column = none('current_date');
export const year: OneColumn = one('year');
export const month: OneColumn = one('month');
export const dayofmonth: OneColumn = one('dayofmonth');
export const hour: OneColumn = one('hour');
export const minute: OneColumn = one('minute');
export const second: OneColumn = one('second');
export const toDate: OneColumn = one('to_date');
export const toTimestamp: OneColumn = one('to_timestamp');
export const datediff: Columns = many('datediff');

export function dateAdd(column: ColumnOrName, days: number): Column {
  return callOf('date_add', [named(column), days]);
}

export function dateSub(column: ColumnOrName, days: number): Column {
  return callOf('date_sub', [named(column), days]);
}

export function dateFormat(column: ColumnOrName, format: string): Column {
  return callOf('date_format', [named(column), format]);
}

export const monthsBetween: Columns = many('months_between');
export const lastDay: OneColumn = one('last_day');

export function addMonths(column: ColumnOrName, months: number): Column {
  return callOf('add_months', [named(column), months]);
}

/** The first such day (`Mon`, `Monday`) after a date. */
export function nextDay(column: ColumnOrName, day: string): Column {
  return callOf('next_day', [named(column), day]);
}

/** A date cut off at `year`, `quarter`, `month` or `week`. */
export function trunc(column: ColumnOrName, unit: string): Column {
  return callOf('trunc', [named(column), unit]);
}

/** A timestamp cut off at a unit from `year` to `microsecond`. */
export function dateTrunc(unit: string, column: ColumnOrName): Column {
  return callOf('date_trunc', [unit, named(column)]);
}

// Nested values.
export const array: Columns = many('array');
export const struct: Columns = many('struct');
export const size: OneColumn = one('size');

export function elementAt(column: ColumnOrName, index: ColumnOrValue): Column {
  return callOf('element_at', [named(column), index]);
}

export function arrayContains(column: ColumnOrName, value: ColumnOrValue): Column {
  return callOf('array_contains', [named(column), value]);
}

export const map: Columns = many('map');
export const mapKeys: OneColumn = one('map_keys');
export const mapValues: OneColumn = one('map_values');
export const mapEntries: OneColumn = one('map_entries');
export const mapFromEntries: OneColumn = one('map_from_entries');
export const mapFromArrays: Columns = many('map_from_arrays');
export const arrayDistinct: OneColumn = one('array_distinct');
export const arrayUnion: Columns = many('array_union');
export const arrayIntersect: Columns = many('array_intersect');
export const arrayExcept: Columns = many('array_except');
export const arraysZip: Columns = many('arrays_zip');
export const arraysOverlap: Columns = many('arrays_overlap');
export const flatten: OneColumn = one('flatten');
export const sequence: Columns = many('sequence');

export function slice(column: ColumnOrName, start: number, length: number): Column {
  return callOf('slice', [named(column), start, length]);
}

export function sortArray(column: ColumnOrName, ascending: boolean = true): Column {
  return callOf('sort_array', [named(column), ascending]);
}

export function arrayJoin(column: ColumnOrName, separator: string, nullReplacement?: string): Column {
  return callOf('array_join', [named(column), separator, ...(nullReplacement === undefined ? [] : [nullReplacement])]);
}

// Rows out of lists and maps: each stands alone in a select list, or is the value of `withColumn`.
export const explode: OneColumn = one('explode');
export const explodeOuter: OneColumn = one('explode_outer');
export const posexplode: OneColumn = one('posexplode');
export const posexplodeOuter: OneColumn = one('posexplode_outer');
export const inline: OneColumn = one('inline');
export const inlineOuter: OneColumn = one('inline_outer');

// JSON text.
export const toJson: OneColumn = one('to_json');

/** `schema` as in `id BIGINT, tags ARRAY<STRING>`, or a type. */
export function fromJson(column: ColumnOrName, schema: string): Column {
  return callOf('from_json', [named(column), schema]);
}

/** What a path such as `$.a.b[0]` finds, as text. */
export function getJsonObject(column: ColumnOrName, path: string): Column {
  return callOf('get_json_object', [named(column), path]);
}

// Hashes and windows.
export const md5: OneColumn = one('md5');
export const rowNumber: () => Column = none('row_number');
export const rank: () => Column = none('rank');
export const denseRank: () => Column = none('dense_rank');

export function sha2(column: ColumnOrName, bits: number): Column {
  return callOf('sha2', [named(column), bits]);
}

export function lag(column: ColumnOrName, offset: number = 1): Column {
  return callOf('lag', [named(column), offset]);
}

export function lead(column: ColumnOrName, offset: number = 1): Column {
  return callOf('lead', [named(column), offset]);
}

// Transforms of a partitioning, for `writeTo(…).partitionedBy(…)`.
export const years: OneColumn = one('years');
export const months: OneColumn = one('months');
export const days: OneColumn = one('days');
export const hours: OneColumn = one('hours');

export function bucket(count: number, column: ColumnOrName): Column {
  return callOf('bucket', [count, named(column)]);
}

export function truncate(width: number, column: ColumnOrName): Column {
  return callOf('truncate', [width, named(column)]);
}

function named(source: ColumnOrName): Column {
  return typeof source === 'string' ? col(source) : source;
}
