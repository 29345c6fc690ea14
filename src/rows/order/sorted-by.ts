import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Relation } from '../../table/relation.ts';

/** The rows in the order of columns, the first that differs decides. */
export function sortedBy({ sql, schema }: Relation, columns: readonly string[]): Relation {
  return { sql: `SELECT * FROM (${sql}) ORDER BY ${columns.map(quoteName).join(', ')}`, schema };
}
