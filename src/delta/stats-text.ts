import { printJson } from '../base/bigint-json.ts';
import type { DataType, StructType } from '../schema/types.ts';
import type { BoundValue, ColumnStatistics, StagedFile } from '../table/staged-file.ts';

/** Strings in bounds have at most this many UTF-16 units before the tie-breaker. */
const maxBoundUnits = 32;
const dayMs = 86_400_000n;
/** 0001-01-01 and 9999-12-31, what every engine can parse. */
const firstDay = -719_162n;
const lastDay = 2_932_896n;

/** What of the statistics a table wants written. */
export interface StatisticsRule {
  /** Whether a leaf column, by its path in the file, gets statistics. Default: all there are. */
  readonly indexed?: ((path: readonly string[]) => boolean) | undefined;
  /** Says that bounds and counts are those of the rows a reader gets: for tables that may get deletion vectors. */
  readonly tightBounds?: boolean | undefined;
  /** Bounds of text come from the log, cut to size already, and are written as they are. */
  readonly textIsCut?: boolean | undefined;
}

/**
 * The statistics of a file as the log holds them (`add.stats`): bounds are never narrower than the values, so that data skipping
 * stays correct in every engine. Bounds that cannot be written that way are left out.
 */
export function statsText(
  file: Pick<StagedFile, 'rowCount' | 'statistics'>,
  schema: StructType,
  partitionColumns: readonly string[],
  rule: StatisticsRule = {},
): string {
  const minValues = new Tree();
  const maxValues = new Tree();
  const nullCount = new Tree();
  for (const column of file.statistics) {
    if (partitionColumns.includes(column.path[0] ?? '') || rule.indexed?.(column.path) === false) continue;
    const type = typeAt(schema, column.path);
    nullCount.put(column.path, String(column.nullCount));
    if (type === undefined || column.nullCount >= file.rowCount) continue;
    minValues.put(column.path, boundText(column, type, 'min', rule));
    maxValues.put(column.path, boundText(column, type, 'max', rule));
  }
  const bounds = `"minValues":${minValues.print()},"maxValues":${maxValues.print()},"nullCount":${nullCount.print()}`;
  return `{"numRecords":${file.rowCount},${bounds}${rule.tightBounds === true ? ',"tightBounds":true' : ''}}`;
}

function boundText(column: ColumnStatistics, type: DataType, side: 'min' | 'max', rule: StatisticsRule): string | undefined {
  const value = side === 'min' ? column.min : column.max;
  if (value === undefined || (column.nanCount ?? 0) > 0) return undefined;
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return integerOf(value)?.toString();
    case 'float':
    case 'double':
      return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
    case 'decimal':
      return decimalText(integerOf(value), type.scale);
    case 'date':
      return quoted(dateText(integerOf(value)));
    case 'timestamp':
    case 'timestamp_ntz':
      return quoted(timestampText(integerOf(value), { side, zone: type.kind === 'timestamp' ? 'Z' : '' }));
    case 'string':
      if (typeof value !== 'string') return undefined;
      return quoted(rule.textIsCut === true ? value : side === 'min' ? lowerPrefix(value) : upperPrefix(value));
    default:
      return undefined;
  }
}

/** The longest prefix of at most 32 units that splits no surrogate pair: not greater than the text. */
export function lowerPrefix(text: string): string {
  return text.slice(0, cutBefore(text, maxBoundUnits));
}

/** A prefix with a tie-breaker that is greater, in UTF-8 order, than the text; `undefined` when there is none of bearable length. */
export function upperPrefix(text: string): string | undefined {
  for (let end = cutBefore(text, maxBoundUnits); end <= 2 * maxBoundUnits; ) {
    if (end >= text.length) return text;
    const dropped = text.codePointAt(end) ?? 0;
    if (dropped < 0x7f) return `${text.slice(0, end)}\u007f`;
    if (dropped < 0x10ffff) return `${text.slice(0, end)}\u{10ffff}`;
    end += 2;
  }
  return undefined;
}

function cutBefore(text: string, units: number): number {
  if (text.length <= units) return text.length;
  const last = text.charCodeAt(units - 1);
  return last >= 0xd800 && last <= 0xdbff ? units - 1 : units;
}

function integerOf(value: BoundValue): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

function decimalText(unscaled: bigint | undefined, scale: number): string | undefined {
  if (unscaled === undefined || scale === 0) return unscaled?.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function dateText(days: bigint | undefined): string | undefined {
  if (days === undefined || days < firstDay || days > lastDay) return undefined;
  return new Date(Number(days * dayMs)).toISOString().slice(0, 10);
}

/** With milliseconds: down for the smallest, up for the largest, so that the bound holds for readers that do not widen it. */
function timestampText(micros: bigint | undefined, options: { readonly side: 'min' | 'max'; readonly zone: string }): string | undefined {
  if (micros === undefined) return undefined;
  const rest = ((micros % 1000n) + 1000n) % 1000n;
  const millis = (micros - rest) / 1000n + (options.side === 'max' && rest > 0n ? 1n : 0n);
  if (millis < firstDay * dayMs || millis >= (lastDay + 1n) * dayMs) return undefined;
  return `${new Date(Number(millis)).toISOString().slice(0, 23)}${options.zone}`;
}

function quoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : printJson(text);
}

function typeAt(schema: StructType, path: readonly string[]): DataType | undefined {
  let type: DataType | undefined = schema;
  for (const name of path) {
    if (type?.kind !== 'struct') return undefined;
    type = type.fields.find((field) => field.name === name)?.type;
  }
  return type;
}

/** JSON objects within objects whose leaves are JSON text already. */
class Tree {
  readonly #members = new Map<string, string | Tree>();

  put(path: readonly string[], text: string | undefined): void {
    const [name, ...rest] = path;
    if (name === undefined || text === undefined) return;
    if (rest.length === 0) {
      this.#members.set(name, text);
      return;
    }
    const known = this.#members.get(name);
    const child = known instanceof Tree ? known : new Tree();
    this.#members.set(name, child);
    child.put(rest, text);
  }

  print(): string {
    const members = [...this.#members].map(([name, value]) => `${printJson(name)}:${value instanceof Tree ? value.print() : value}`);
    return `{${members.join(',')}}`;
  }
}
