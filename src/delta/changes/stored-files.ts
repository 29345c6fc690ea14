import type { ChangeFile } from '../../table/changes.ts';
import type { StoredColumn } from '../../table/scan.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import { type MappingMode, physicalName } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { storedColumnsOf } from '../scan/file-scan.ts';
import { isShredding } from '../table-features.ts';

/** Change files of a version, with where they hold the columns of its schema when their names do not tell. */
export function storedFiles(snapshot: DeltaSnapshot, files: readonly ChangeFile[]): readonly ChangeFile[] {
  const { mapping, schema, partitionColumns } = snapshot;
  if (mapping === 'none' && !isShredding(snapshot.protocol)) return files;
  const columns = storedColumnsOf(schema, { mapping, partitionColumns });
  const recorded = recordedColumns(columns, mapping);
  const partitionNames = new Map(
    schema.fields.filter(({ name }) => partitionColumns.includes(name)).map((field) => [physicalName(field), field.name]),
  );
  return files.map((file) => ({
    ...file,
    partitionValues: mapping === 'none' ? file.partitionValues : renamed(file.partitionValues, partitionNames),
    layout: { storedColumns: file.kind === 'recorded' ? recorded : columns, partitionColumns: [] },
  }));
}

/** Columns of recorded changes are found by the names they have in files in every mode of column mapping: their change type has no field id. */
export function recordedColumns(columns: readonly StoredColumn[], mapping: MappingMode): readonly StoredColumn[] {
  return columns.map((column) => ({
    ...column,
    match: { by: 'name', name: mapping === 'none' ? column.field.name : physicalName(column.field) },
  }));
}

function renamed(values: PartitionValues, names: ReadonlyMap<string, string>): PartitionValues {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [names.get(key) ?? key, value]));
}
