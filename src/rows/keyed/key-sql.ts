import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { KeyedRows } from '../../table/keyed.ts';

/** Of the keys of a batch as they are held: the key columns and then the order columns, and whether the key is deleted. */
export const keyName = (index: number): string => `k${index}`;
const deletedName = 'deleted';
export const deletedSql: string = quoteName(deletedName);

/** The keys of a batch under names of their own: `k0`, `k1`, …, the order among them, `deleted`. */
export function namedKeys({ keys }: Pick<KeyedRows, 'keys'>): ColumnBatch {
  const last = keys.schema.fields.length - 1;
  const fields = keys.schema.fields.map((field, index) => ({ ...field, name: index === last ? deletedName : keyName(index) }));
  return { ...keys, schema: { kind: 'struct', fields } };
}

/** SQL that compares all key columns. */
export function keyEquality(
  keyColumns: readonly string[],
  sides: { readonly left: (name: string, index: number) => string; readonly right: (name: string, index: number) => string },
): string {
  return keyColumns.map((name, index) => `${sides.left(name, index)} = ${sides.right(name, index)}`).join(' AND ');
}

/** SQL that compares the key of a row `t` with that of the keys, which are `s`. */
export function hasKey(keyColumns: readonly string[]): string {
  return keyEquality(keyColumns, { left: (name) => `t.${quoteName(name)}`, right: (_, index) => `s.${quoteName(keyName(index))}` });
}

/** Rows whose keys are not among these, which are called as `keyOf` says. */
export function withoutKeys(
  rows: string,
  keys: string,
  { keyColumns, keyOf }: { readonly keyColumns: readonly string[]; readonly keyOf: (index: number) => string },
): string {
  const same = keyEquality(keyColumns, { left: (_, index) => `l.${quoteName(keyOf(index))}`, right: (name) => `s.${quoteName(name)}` });
  return `SELECT s.* FROM (${rows}) s WHERE NOT EXISTS (SELECT 1 FROM (${keys}) l WHERE ${same})`;
}

/** The keys, called as `keyOf` says, of which one of the rows is later. */
export function laterKeys(
  { keyColumns, orderColumns }: Pick<KeyedRows, 'keyColumns' | 'orderColumns'>,
  { rows, keys, keyOf }: { readonly rows: string; readonly keys: string; readonly keyOf: (index: number) => string },
): string {
  const columns = keyColumns.map((_, index) => `s.${quoteName(keyName(index))} AS ${quoteName(keyOf(index))}`).join(', ');
  const later = laterThan({ keyColumns, orderColumns });
  return `SELECT DISTINCT ${columns} FROM (${rows}) t JOIN (${keys}) s ON ${hasKey(keyColumns)} WHERE ${later}`;
}

/** Keys that have a row in the batch. */
export function upsertedKeys(keys: string): string {
  return `SELECT * FROM (${keys}) WHERE NOT ${deletedSql}`;
}

/** Whether the row `t` is later than that of the keys, as SQL: the first order column that differs decides. A row without a value is not. */
export function laterThan({ keyColumns, orderColumns }: Pick<KeyedRows, 'keyColumns' | 'orderColumns'>): string {
  const pairs = orderColumns.map((name, index) => [`t.${quoteName(name)}`, `s.${quoteName(keyName(keyColumns.length + index))}`] as const);
  return pairs.reduceRight((below, [left, right]) => `(${left} > ${right} OR (${left} = ${right} AND ${below}))`, 'FALSE');
}
