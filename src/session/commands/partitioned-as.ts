import { unsupported } from '../../base/unsupported-feature.ts';
import type { StructType } from '../../schema/types.ts';
import { type TableFormat, traitsOf } from '../../table/formats.ts';
import { type PartitionFieldDefinition, printTransform } from '../../table/partitioning/transform.ts';
import type { TableDefinition } from '../../table/table.ts';

/**
 * A partitioning as the definition of a table of the format has it: names as the schema spells them.
 *
 * @throws AnalysisException `UNSUPPORTED_FEATURE` for a transform where the format has none.
 */
export function partitionedAs(
  format: TableFormat,
  fields: readonly PartitionFieldDefinition[],
  schema: StructType,
): Pick<TableDefinition, 'partitionColumns' | 'partitioning'> {
  const spelled = fields.map((field) => ({ ...field, source: [spelledAs(field.source[0] ?? '', schema), ...field.source.slice(1)] }));
  const { partitionTransforms } = traitsOf[format];
  if (partitionTransforms) return { partitionColumns: [], partitioning: spelled };
  const [transformed] = fields.filter(({ transform }) => transform.kind !== 'identity');
  if (transformed !== undefined) {
    throw unsupported(`partitioning a Delta table by ${printTransform(transformed.transform)}`, 'partition by a generated column');
  }
  return { partitionColumns: spelled.map(({ source }) => source.join('.')) };
}

function spelledAs(name: string, schema: StructType): string {
  return schema.fields.find((field) => field.name.toLowerCase() === name.toLowerCase())?.name ?? name;
}
