import type { Expression } from '../../expr/expression.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { RowWork } from '../row-work.ts';
import { RowScope } from './row-scope.ts';

/** Tuples are looked at in queries of this many. */
const maxTuplesPerQuery = 2_000;

/** Files that have the same values of some columns in all their rows. */
export interface FilesOfTuple<File> {
  /** Texts of the values in the order of the columns; `undefined` is null, instants are in UTC, binary is hexadecimal. */
  readonly values: readonly (string | undefined)[];
  readonly files: readonly File[];
}

/** The files whose tuple satisfies a bound condition over these columns alone: exact, decided by the engine. */
export async function filesOfMatchingTuples<File>(
  work: RowWork<never>,
  tuples: readonly FilesOfTuple<File>[],
  condition: {
    readonly bound: Expression;
    readonly schema: StructType;
    readonly fields: readonly Field[];
    readonly alias: string | undefined;
  },
): Promise<readonly File[]> {
  const { fields, schema, alias, bound } = condition;
  const side = { alias, schema, columnSql: (name: string) => `p.${quoteName(name)}` };
  const where = new RowScope([side], work.nowMicros).sql(bound);
  const names = [...fields.map((field) => quoteName(field.name)), '"#"'].join(', ');
  const found: File[] = [];
  for (let from = 0; from < tuples.length; from += maxTuplesPerQuery) {
    const some = tuples.slice(from, from + maxTuplesPerQuery);
    const rows = some.map(
      ({ values }, index) => `SELECT ${[...fields.map((field, place) => valueSql(field, values[place])), index].join(', ')}`,
    );
    const sql = `SELECT p."#" FROM (${rows.join(' UNION ALL ')}) p(${names}) WHERE ${where}`;
    for (const [index] of await work.engine.rows(sql, work.signal)) found.push(...(some[Number(index)]?.files ?? []));
  }
  return found;
}

function valueSql(field: Field, text: string | undefined): string {
  if (text === undefined) return `CAST(NULL AS ${typeSql(field.type)})`;
  if (field.type.kind === 'binary') return `unhex(${sqlText(text)})`;
  const value = field.type.kind === 'timestamp' || field.type.kind === 'timestamp_ns' ? `${text}+00` : text;
  return `CAST(${sqlText(value)} AS ${typeSql(field.type)})`;
}
