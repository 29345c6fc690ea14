/**
 * A value of a row. byte to integer, float and double are `number`; long is `bigint`; decimal exact text (`"12.00"`); date `"2024-02-29"`;
 * timestamp `"2024-01-01T10:00:00.000001Z"` and timestamp_ntz the same without `Z`, both with six digits; binary bytes; struct an object;
 * list an array; map a `Map` in stored order.
 */
export type RowValue = null | boolean | number | bigint | string | Uint8Array | readonly RowValue[] | ReadonlyMap<RowValue, RowValue> | Row;

/** A row by column name. */
export interface Row {
  readonly [name: string]: RowValue;
}

/**
 * A value to make a row from: as `RowValue`, and more freely: `undefined` for null, a safe whole `number` for a long, a `number` or `bigint`
 * for a decimal, a `Date` for a date or timestamp, an object for a map with string keys.
 */
export type RowInputValue =
  | null
  | undefined
  | boolean
  | number
  | bigint
  | string
  | Date
  | Uint8Array
  | readonly RowInputValue[]
  | ReadonlyMap<RowInputValue, RowInputValue>
  | RowInput;

/** A row to write, by column name. */
export interface RowInput {
  readonly [name: string]: RowInputValue;
}
