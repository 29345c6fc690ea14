import type { Expression } from '../../expr/expression.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { findField } from '../../rows/change/assignment-targets.ts';
import { filesOfMatchingTuples } from '../../rows/change/matching-tuples.ts';
import type { Field } from '../../schema/types.ts';
import type { AddFile } from '../actions.ts';
import { partitionsOf, partitionTexts } from '../scan/partition-columns.ts';
import type { DeltaRowWork } from './row-work.ts';

/** The table's partition columns, when the bound condition mentions no other column. */
export function partitionFieldsOf(work: DeltaRowWork, bound: Expression): readonly Field[] | undefined {
  const { snapshot } = work;
  const fields = snapshot.partitionColumns.flatMap((name) => findField(snapshot.schema, name) ?? []);
  const names = new Set(fields.map((field) => field.name));
  return columnsOf(bound).every(({ path }) => names.has(path[0] ?? '')) ? fields : undefined;
}

/** The files whose partition satisfies a bound condition over partition columns alone: exact, decided by the engine. */
export async function filesOfPartitions(
  work: DeltaRowWork,
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
  const { bound, alias } = condition;
  return filesOfMatchingTuples(work, [...groups.values()], { bound, alias, fields, schema: work.snapshot.schema });
}
