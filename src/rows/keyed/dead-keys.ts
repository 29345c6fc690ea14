import { present } from '../../base/assert.ts';
import type { HeldRelation } from '../../engine/engine.ts';
import type { Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { fieldOf } from '../../schema/columns.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { countRows } from '../change/engine-counts.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import type { RowWork } from '../row-work.ts';
import { deletedSql, keyEquality, keyName, laterKeys, upsertedKeys } from './key-sql.ts';

/** Keys that have a row in the batch, and of which a later delete is remembered. */
export interface DeadKeys {
  /** As `hidden.value`. */
  readonly keys: Relation;
  readonly count: number;
  /** The keys of the batch, in which these are deleted. */
  readonly source: Relation;
}

/** `undefined`: there are none. */
export async function deadKeys(
  work: RowWork,
  { keyColumns, orderColumns, deletes }: KeyedRows,
  { given, condition, hidden }: { readonly given: HeldRelation; readonly condition: Expression | undefined; readonly hidden: HiddenNames },
): Promise<DeadKeys | undefined> {
  const scan = await deletes?.scan(condition);
  if (scan === undefined || scan.files.length === 0) return undefined;
  const remembered = await work.holding(work.engine.scan(scan, {}, work.signal));
  const fields = keyColumns.map((_, index) => ({
    ...present(fieldOf(given.schema, keyName(index)), 'the keys have their columns'),
    name: hidden.value(index),
  }));
  const search = { rows: remembered.sql, keys: upsertedKeys(given.sql), keyOf: (index: number) => hidden.value(index) };
  const later = laterKeys({ keyColumns, orderColumns }, search);
  const keys = await work.holding(work.engine.materialize({ sql: later, schema: { kind: 'struct', fields } }, work.signal));
  const count = Number(await countRows(work, keys));
  if (count === 0) return undefined;
  const isDead = keyEquality(keyColumns, {
    left: (_, index) => `d.${quoteName(hidden.value(index))}`,
    right: (_, index) => `s.${quoteName(keyName(index))}`,
  });
  const first = quoteName(hidden.value(0));
  const sql = `SELECT s.* REPLACE (s.${deletedSql} OR d.${first} IS NOT NULL AS ${deletedSql}) FROM (${given.sql}) s LEFT JOIN (${keys.sql}) d ON ${isDead}`;
  return { keys, count, source: { sql, schema: given.schema } };
}
