import { assertNever } from '../base/assert.ts';
import { setMember } from '../base/set-member.ts';
import { type BytesColumn, type Column, type ColumnBatch, type FixedColumn, isValid } from '../schema/columns.ts';
import { formatDecimal } from '../schema/decimal-text.ts';
import { variantAtIndex } from './variant/variant-column.ts';
import { variantValue } from './variant/variant-forms.ts';

/**
 * A value outside of columns: byte to integer, float, double and date (days) are `number`; long, time, timestamp and timestamp_ntz
 * (microseconds) and timestamps of nanoseconds `bigint`; decimal plain text with all digits of its scale; binary bytes; map a `Map` in stored order; variant
 * what `variantValue` makes of it.
 */
export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly PlainValue[]
  | ReadonlyMap<PlainValue, PlainValue>
  | PlainRow;

export interface PlainRow {
  readonly [name: string]: PlainValue;
}

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Row `index` as an object by column name. For slow paths and tests: hot paths read columns. */
export function rowAt(batch: ColumnBatch, index: number, fixed: FixedForm = fixedValue): PlainRow {
  return structValue(batch.schema.fields, batch.columns, index, fixed);
}

/** All rows of the batches in order. */
export function* rowsOf(batches: Iterable<ColumnBatch>): Generator<PlainRow, void, undefined> {
  for (const batch of batches) for (let index = 0; index < batch.rowCount; index++) yield rowAt(batch, index);
}

/** A fixed-width value as something other than its number. */
export type FixedForm = (column: FixedColumn, index: number) => PlainValue;

/** Value `index` of a column; `null` where it is not valid. `fixed`: what fixed-width values become; default their numbers. */
export function valueAt(column: Column, index: number, fixed: FixedForm = fixedValue): PlainValue {
  if (!isValid(column, index)) return null;
  switch (column.layout) {
    case 'fixed':
      return fixed(column, index);
    case 'boolean':
      return ((column.bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
    case 'decimal':
      return formatDecimal(unscaledAt(column.words, index), column.type.kind === 'decimal' ? column.type.scale : 0);
    case 'bytes':
      return column.type.kind === 'string' ? textAt(column, index) : bytesAt(column, index).slice();
    case 'struct':
      if (column.type.kind === 'variant') return variantValue(variantAtIndex(column, index)) as PlainValue;
      return structValue(column.type.kind === 'struct' ? column.type.fields : [], column.children, index, fixed);
    case 'list':
      return range(column.offsets, index).map((at) => valueAt(column.element, at, fixed));
    case 'map':
      return new Map(range(column.offsets, index).map((at) => [valueAt(column.keys, at, fixed), valueAt(column.values, at, fixed)]));
    default:
      return assertNever(column);
  }
}

/** The bytes of value `index`: a view, empty for a null. */
export function bytesAt(column: BytesColumn, index: number): Uint8Array {
  return column.data.subarray(column.offsets[index], column.offsets[index + 1]);
}

/** The text of value `index`. */
export function textAt(column: BytesColumn, index: number): string {
  return decoder.decode(bytesAt(column, index));
}

/** The unscaled value of a decimal from its two words. */
export function unscaledAt(words: BigInt64Array, index: number): bigint {
  return ((words[2 * index + 1] ?? 0n) << 64n) | BigInt.asUintN(64, words[2 * index] ?? 0n);
}

function fixedValue(column: FixedColumn, index: number): number | bigint {
  return column.values[index] ?? 0;
}

function structValue(fields: readonly { readonly name: string }[], children: readonly Column[], index: number, fixed: FixedForm): PlainRow {
  const row: Record<string, PlainValue> = {};
  for (const [position, field] of fields.entries()) {
    const child = children[position];
    setMember(row, field.name, child === undefined ? null : valueAt(child, index, fixed));
  }
  return row;
}

function range(offsets: Int32Array, index: number): number[] {
  const from = offsets[index] ?? 0;
  return Array.from({ length: (offsets[index + 1] ?? from) - from }, (_, at) => from + at);
}

export function isList(value: PlainValue): value is readonly PlainValue[] {
  return Array.isArray(value);
}

export function isRow(value: PlainValue): value is PlainRow {
  return value !== null && typeof value === 'object' && !isList(value) && !(value instanceof Map) && !(value instanceof Uint8Array);
}
