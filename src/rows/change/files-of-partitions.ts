import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { RowTable } from '../row-table.ts';
import type { RowWork } from '../row-work.ts';
import { RowScope } from './row-scope.ts';

/** Partitions are looked at in queries of this many. */
const maxPartitionsPerQuery = 2_000;

/** Files that have the same values in all their rows. */
interface Partition<File> {
  /** Texts of the values in the order of the columns; `undefined` is null, instants are in UTC, binary is hexadecimal. */
  readonly values: readonly (string | undefined)[];
  readonly files: File[];
}

interface PartitionCondition<File> {
  readonly bound: Expression;
  readonly schema: StructType;
  readonly alias: string | undefined;
  readonly textsOf: RowTable<File>['partitionTexts'];
}

/**
 * The files all of whose rows satisfy a bound condition, when the values of their partitions alone decide it for every file: exact, decided
 * by the engine. `undefined`: rows must be read.
 */
export async function filesOfPartitions<File>(
  work: Pick<RowWork, 'engine' | 'now' | 'signal'>,
  files: readonly File[],
  condition: PartitionCondition<File>,
): Promise<readonly File[] | undefined> {
  const { schema, alias, bound } = condition;
  const fields = wholeColumns(bound, schema);
  const partitions = fields === undefined ? undefined : partitionsOf(files, fields, condition.textsOf);
  if (fields === undefined || partitions === undefined) return undefined;
  const side = { alias, schema, columnSql: (name: string) => `p.${quoteName(name)}` };
  const where = new RowScope([side], work.now).sql(bound);
  const names = [...fields.map((field) => quoteName(field.name)), '"#"'].join(', ');
  const found: File[] = [];
  for (let from = 0; from < partitions.length; from += maxPartitionsPerQuery) {
    const some = partitions.slice(from, from + maxPartitionsPerQuery);
    const rows = some.map(
      ({ values }, index) => `SELECT ${[...fields.map((field, place) => valueSql(field, values[place])), index].join(', ')}`,
    );
    const sql = `SELECT p."#" FROM (${rows.join(' UNION ALL ')}) p(${names}) WHERE ${where}`;
    for (const [index] of await work.engine.rows(sql, work.signal)) found.push(...(some[Number(index)]?.files ?? []));
  }
  return found;
}

/** The columns that a condition mentions, when it mentions all of them as a whole. */
function wholeColumns(bound: Expression, schema: StructType): readonly Field[] | undefined {
  const fields = new Set<Field>();
  for (const { path } of columnsOf(bound)) {
    const field = path.length === 1 ? fieldNamed(schema.fields, path[0] ?? '') : undefined;
    if (field === undefined) return undefined;
    fields.add(field);
  }
  return [...fields];
}

function partitionsOf<File>(
  files: readonly File[],
  fields: readonly Field[],
  textsOf: RowTable<File>['partitionTexts'],
): readonly Partition<File>[] | undefined {
  const partitions = new Map<string, Partition<File>>();
  for (const file of files) {
    const values = textsOf(file, fields);
    if (values === undefined) return undefined;
    const key = values.map((value) => (value === undefined ? '-' : `+${value.length}:${value}`)).join();
    const known = partitions.get(key);
    if (known === undefined) partitions.set(key, { values, files: [file] });
    else known.files.push(file);
  }
  return [...partitions.values()];
}

function valueSql(field: Field, text: string | undefined): string {
  if (text === undefined) return `CAST(NULL AS ${typeSql(field.type)})`;
  if (field.type.kind === 'binary') return `unhex(${sqlText(text)})`;
  const value = field.type.kind === 'timestamp' || field.type.kind === 'timestamp_ns' ? `${text}+00` : text;
  return `CAST(${sqlText(value)} AS ${typeSql(field.type)})`;
}
