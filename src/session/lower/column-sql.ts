import { quoteName, sqlText } from '../../expr/sql/engine-sql.ts';

/** A column of an analyzed expression in the engine's text: its id, and the members below it. */
export function columnSql(path: readonly string[]): string {
  const [id = '', ...members] = path;
  return members.reduce((inner, member) => `struct_extract(${inner}, ${sqlText(member)})`, quoteName(id));
}
