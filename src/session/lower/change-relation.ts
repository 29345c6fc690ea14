import { literalSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import { changeFields } from '../../table/change-columns.ts';
import type { Relation } from '../../table/relation.ts';
import type { ChangeScan } from '../../table/scan.ts';

/** The rows of one change scan, which `rows` reads, with the change columns behind the table's own. */
export function changeRelation(rows: Relation, change: ChangeScan): Relation {
  const recorded = change.kind === 'recorded';
  const stored = change.scan.schema.fields.filter((field) => !(recorded && field.name === '_change_type'));
  const columns = [
    ...stored.map((field) => quoteName(field.name)),
    recorded ? '_change_type' : `${literalSql({ type: 'string', value: change.kind })} AS _change_type`,
    `CAST(${change.version} AS BIGINT) AS _commit_version`,
    `${literalSql({ type: 'timestamp', micros: change.committedAtMicros })} AS _commit_timestamp`,
  ];
  return { sql: `SELECT ${columns.join(', ')} FROM (${rows.sql})`, schema: { kind: 'struct', fields: [...stored, ...changeFields] } };
}

/**
 * As `changeRelation`, in parts to be read one after the other: what takes rows away (`delete`, `update_preimage`) before what brings rows
 * (`insert`, `update_postimage`). Recorded changes stand in the order in which some writer wrote them, and the two halves of an update that moved its row
 * to another partition stand in different files: read file by file, a row could come before the row it takes the place of goes.
 */
export function orderedChangeRelations(rows: Relation, change: ChangeScan): readonly Relation[] {
  const relation = changeRelation(rows, change);
  if (change.kind !== 'recorded') return [relation];
  const removes = "coalesce(_change_type IN ('delete', 'update_preimage'), false)";
  return [removes, `NOT ${removes}`].map((phase) => ({ ...relation, sql: `SELECT * FROM (${relation.sql}) WHERE ${phase}` }));
}

/** No rows of the columns. */
export function emptyRelation(schema: StructType): Relation {
  const columns = schema.fields.map((field) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(field.name)}`);
  return { sql: `SELECT ${columns.join(', ')} WHERE false`, schema };
}
