import { buildBatch } from '../../codec/build-columns.ts';
import type { Expression } from '../../expr/expression.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { DataType } from '../../schema/types.ts';
import { type HiddenColumn, type HiddenValue, ofFiles } from '../../table/hidden-columns.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { hasRowLineage } from '../metadata/format-features.ts';
import { rowLineageNames } from '../metadata/reserved-ids.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { unifiedPartition } from '../metadata-tables/partition-type.ts';
import type { LiveFiles } from './live-files.ts';
import { requiredValues } from './required-values.ts';

/** The reserved names of https://iceberg.apache.org/spec/#reserved-field-ids that say where a row lies. */
const names = { file: '_file', position: '_pos', specId: '_spec_id', partition: '_partition' } as const;

/** What queries may name beside a table's columns. A table that never was partitioned has no `_partition`: a struct needs members. */
export function hiddenColumnsOf(metadata: TableMetadata): readonly HiddenColumn[] {
  const partition = unifiedPartition(metadata).type;
  const lineage = hasRowLineage(metadata);
  return [
    hidden(names.file, { kind: 'string' }, { kind: 'of-file' }),
    hidden(names.position, { kind: 'long' }, { kind: 'position' }),
    hidden(names.specId, { kind: 'integer' }, { kind: 'of-file' }),
    ...(partition === undefined ? [] : [hidden(names.partition, partition, { kind: 'of-file' })]),
    ...(lineage ? [hidden(rowLineageNames.rowId, { kind: 'long' }, { kind: 'row-id' })] : []),
    ...(lineage ? [hidden(rowLineageNames.lastUpdatedSequenceNumber, { kind: 'long' }, { kind: 'commit-version' })] : []),
  ];
}

/** What files say of themselves for the hidden columns. */
export function factsOf(metadata: TableMetadata, hidden: readonly HiddenColumn[], files: readonly ContentFile[]): ColumnBatch {
  const partition = unifiedPartition(metadata);
  const rows = files.map((file) => ({
    [names.file]: file.path,
    [names.specId]: file.specId,
    [names.partition]: partition.type === undefined ? undefined : partition.valueOf(file),
  }));
  return buildBatch(ofFiles(hidden), rows);
}

/** Those of the files that a condition on `_file` names, when it names some. */
export function namedFiles(found: LiveFiles, condition: Expression | undefined): LiveFiles {
  const paths = condition === undefined ? undefined : requiredValues(condition, [names.file]);
  if (paths === undefined) return found;
  const wanted = new Set(paths);
  const data = found.data.filter(({ entry }) => wanted.has(entry.file.path));
  const bytesSelected = data.reduce((sum, { entry }) => sum + entry.file.fileSizeBytes, 0);
  return { ...found, data, statistics: { ...found.statistics, filesSelected: data.length, bytesSelected } };
}

function hidden(name: string, type: DataType, value: HiddenValue): HiddenColumn {
  return { field: { name, type, nullable: true }, value };
}
