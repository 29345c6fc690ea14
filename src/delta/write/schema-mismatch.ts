import { AnalysisException } from '../../base/analysis-exception.ts';
import { schemaTree } from '../../schema/schema-tree.ts';
import type { StructType } from '../../schema/types.ts';

/** What of a write does not fit the table, and what would make it fit. */
interface DefinitionMismatch {
  readonly tableId: string;
  readonly schema?: { readonly table: StructType; readonly data: StructType } | undefined;
  readonly partitioning?: { readonly table: readonly string[]; readonly given: readonly string[] } | undefined;
  /** Whether the write replaces all rows, so that it could replace the schema too. */
  readonly overwrites: boolean;
}

/** The refusal of a write whose columns or partitioning are not the table's, with both sides in the text. */
export function definitionMismatch(mismatch: DefinitionMismatch): AnalysisException {
  const { tableId, schema, partitioning } = mismatch;
  const parts: string[] = [];
  if (schema !== undefined) parts.push(schemaPart(tableId, schema));
  if (partitioning !== undefined) parts.push(partitioningPart(partitioning));
  if (mismatch.overwrites) parts.push(overwritePart);
  return new AnalysisException({
    errorClass: 'DELTA_METADATA_MISMATCH',
    alias: '_LEGACY_ERROR_TEMP_DELTA_0007',
    message: parts.join('\n'),
    parameters: {
      tableId,
      ...(schema === undefined ? {} : { tableSchema: tree(schema.table), dataSchema: tree(schema.data) }),
      ...(partitioning === undefined
        ? {}
        : { tablePartitionColumns: columnList(partitioning.table), dataPartitionColumns: columnList(partitioning.given) }),
    },
    hint: 'write the columns the table has, or set the option mergeSchema (append) or overwriteSchema (overwrite)',
  });
}

function schemaPart(tableId: string, schema: { readonly table: StructType; readonly data: StructType }): string {
  return (
    `A schema mismatch detected when writing to the Delta table (Table ID: ${tableId}).\n` +
    'To enable schema migration using DataFrameWriter or DataStreamWriter, please set:\n' +
    `'.option("mergeSchema", "true")'.\n` +
    'For other operations, set the session configuration\n' +
    'spark.databricks.delta.schema.autoMerge.enabled to "true". See the documentation\n' +
    'specific to the operation for details.\n' +
    '\n' +
    `Table schema:\n${tree(schema.table)}\n` +
    '\n' +
    `Data schema:\n${tree(schema.data)}`
  );
}

function partitioningPart(partitioning: { readonly table: readonly string[]; readonly given: readonly string[] }): string {
  return (
    'Partition columns do not match the partition columns of the table.\n' +
    `Given: ${columnList(partitioning.given)}\n` +
    `Table: ${columnList(partitioning.table)}\n`
  );
}

const overwritePart =
  'To overwrite your schema or change partitioning, please set:\n' +
  `'.option("overwriteSchema", "true")'.\n` +
  '\n' +
  "Note that the schema can't be overwritten when using\n'replaceWhere'.\n";

/** The tree as these messages have always shown it: without the bar in front of the top level. */
function tree(schema: StructType): string {
  return schemaTree(schema).replaceAll(/^ \|/gm, '');
}

function columnList(columns: readonly string[]): string {
  return `[${columns.map((column) => `\`${column}\``).join(', ')}]`;
}
