import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { KeyedRows } from '../../table/keyed.ts';

/** Of the keys of a batch as they are held: the key columns and then the order columns, and whether the key is deleted. */
export const keyName = (index: number): string => `k${index}`;
export const deletedSql: string = quoteName('deleted');

/** SQL that compares all key columns. */
export function keyEquality(
  keyColumns: readonly string[],
  sides: { readonly left: (name: string, index: number) => string; readonly right: (name: string, index: number) => string },
): string {
  return keyColumns.map((name, index) => `${sides.left(name, index)} = ${sides.right(name, index)}`).join(' AND ');
}

/** Whether the row `t` is later than that of the keys, as SQL: the first order column that differs decides. A row without a value is not. */
export function laterThan({ keyColumns, orderColumns }: Pick<KeyedRows, 'keyColumns' | 'orderColumns'>): string {
  const pairs = orderColumns.map((name, index) => [`t.${quoteName(name)}`, `s.${quoteName(keyName(keyColumns.length + index))}`] as const);
  return pairs.reduceRight((below, [left, right]) => `(${left} > ${right} OR (${left} = ${right} AND ${below}))`, 'FALSE');
}
