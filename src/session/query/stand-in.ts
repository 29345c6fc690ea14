import { quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';

/** A query of no rows with columns of the given names and types, to ask the engine about others. */
export function standInRows(fields: readonly Field[]): string {
  if (fields.length === 0) return 'SELECT NULL WHERE false';
  const columns = fields.map((field, index) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(`c${index}`)}`);
  return `SELECT ${columns.join(', ')} WHERE false`;
}
