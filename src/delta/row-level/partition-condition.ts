import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { AddFile } from '../actions.ts';
import { partitionsOf, partitionTexts } from '../scan/partition-columns.ts';
import { findField } from './assignment-targets.ts';
import { RowScope } from './row-scope.ts';
import type { RowWork } from './row-work.ts';

/** Partitions are looked at in queries of this many. */
const maxPartitionsPerQuery = 2_000;

/** The table's partition columns, when the bound condition mentions no other column. */
export function partitionFieldsOf(work: RowWork, bound: Expression): readonly Field[] | undefined {
  const { snapshot } = work;
  const fields = snapshot.partitionColumns.flatMap((name) => findField(snapshot.schema, name) ?? []);
  const names = new Set(fields.map((field) => field.name));
  return columnsOf(bound).every(({ path }) => names.has(path[0] ?? '')) ? fields : undefined;
}

/** The files whose partition satisfies a bound condition over partition columns alone: exact, decided by the engine. */
export async function filesOfPartitions(
  work: RowWork,
  files: readonly AddFile[],
  condition: { readonly bound: Expression; readonly fields: readonly Field[]; readonly alias: string | undefined },
): Promise<readonly AddFile[]> {
  const { fields } = condition;
  const columns = partitionsOf(work.snapshot, work.context.name);
  const groups = new Map<string, { readonly values: readonly (string | undefined)[]; readonly files: AddFile[] }>();
  for (const file of files) {
    const named = partitionTexts(file.partitionValues, columns, file.path);
    const values = fields.map((field) => named[field.name]);
    const key = values.map((value) => (value === undefined ? '-' : `+${value.length}:${value}`)).join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { values, files: [file] });
    else group.files.push(file);
  }
  const side = { alias: condition.alias, schema: work.snapshot.schema, columnSql: (name: string) => `p.${quoteName(name)}` };
  const where = new RowScope([side], work.nowMicros).sql(condition.bound);
  const all = [...groups.values()];
  const found: AddFile[] = [];
  for (let from = 0; from < all.length; from += maxPartitionsPerQuery) {
    const some = all.slice(from, from + maxPartitionsPerQuery);
    const rows = some.map(
      ({ values }, index) => `SELECT ${[...fields.map((field, place) => valueSql(field, values[place])), index].join(', ')}`,
    );
    const names = [...fields.map((field) => quoteName(field.name)), '"#"'].join(', ');
    const sql = `SELECT p."#" FROM (${rows.join(' UNION ALL ')}) p(${names}) WHERE ${where}`;
    for (const [index] of await work.engine.rows(sql, work.signal)) found.push(...(some[Number(index)]?.files ?? []));
  }
  return found;
}

function valueSql(field: Field, text: string | undefined): string {
  if (text === undefined) return `CAST(NULL AS ${typeSql(field.type)})`;
  if (field.type.kind === 'binary') return `unhex(${sqlText(text)})`;
  // The text of an instant is in UTC.
  const value = field.type.kind === 'timestamp' ? `${text}+00` : text;
  return `CAST(${sqlText(value)} AS ${typeSql(field.type)})`;
}
