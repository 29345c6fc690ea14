import type { Expression } from '../../expr/expression.ts';
import { filesOfMatchingTuples } from '../../rows/change/matching-tuples.ts';
import type { Field } from '../../schema/types.ts';
import type { LiveFile } from '../scan/live-files.ts';
import { partitionKey } from '../scan/partition-key.ts';
import { identityText } from '../scan/partition-text.ts';
import type { PartitionSpec } from '../spec/table-metadata.ts';
import type { IcebergRowWork } from './row-work.ts';

/**
 * The files all of whose rows satisfy a condition, when the values of their partitions alone decide it for every file: each column of the
 * condition is an identity partition field of each file's spec. `undefined`: rows must be read.
 */
export async function filesOfPartitions(
  work: IcebergRowWork,
  files: readonly LiveFile[],
  condition: { readonly bound: Expression; readonly columns: readonly (readonly string[])[]; readonly alias: string | undefined },
): Promise<readonly LiveFile[] | undefined> {
  const fields = fieldsOf(work, condition.columns);
  if (fields === undefined) return undefined;
  const specs = new Map(work.view.metadata.partitionSpecs.map((spec) => [spec.specId, spec]));
  const groups = new Map<string, { readonly values: readonly (string | undefined)[]; readonly files: LiveFile[] }>();
  for (const file of files) {
    const { specId, partition } = file.entry.file;
    const key = partitionKey(specId, partition);
    const group = groups.get(key);
    if (group !== undefined) {
      group.files.push(file);
      continue;
    }
    const values = valuesOf(specs.get(specId), partition, fields);
    if (values === undefined) return undefined;
    groups.set(key, { values, files: [file] });
  }
  const { bound, alias } = condition;
  return filesOfMatchingTuples(work, [...groups.values()], { bound, alias, fields, schema: work.view.schema });
}

/** The columns, when all of them are whole columns of the table. */
function fieldsOf({ view }: IcebergRowWork, columns: readonly (readonly string[])[]): readonly Field[] | undefined {
  const fields = new Set<Field>();
  for (const [name, ...members] of columns) {
    const field = members.length === 0 ? view.schema.fields.find((candidate) => candidate.name === name) : undefined;
    if (field === undefined) return undefined;
    fields.add(field);
  }
  return [...fields];
}

function valuesOf(
  spec: PartitionSpec | undefined,
  partition: LiveFile['entry']['file']['partition'],
  fields: readonly Field[],
): readonly (string | undefined)[] | undefined {
  const values: (string | undefined)[] = [];
  for (const { id, type } of fields) {
    const place = spec?.fields.findIndex(({ sourceId, transform }) => sourceId === id && transform.kind === 'identity') ?? -1;
    if (place < 0) return undefined;
    values.push(identityText(type, partition[place]));
  }
  return values;
}
