import { quoteName, sqlText } from '../../expr/sql/engine-text.ts';
import type { FileScan, RowTrackingColumns, ScanFile } from '../../table/scan.ts';

/** What row tracking adds to the SELECT of a scan, whose files are `f`. */
export interface TrackedRows {
  readonly names: readonly string[];
  /** Entries of the files' column map. */
  readonly stored: readonly string[];
  /** Joined to the files; empty when their column map has the columns. */
  readonly join: string;
  /** The row id and the row commit version, named. */
  readonly columns: readonly string[];
}

/** Row ids and row commit versions: as the row has them stored, else as its file gives them. */
export function trackedRows(scan: FileScan, names: RowTrackingColumns, paths: readonly string[]): TrackedRows {
  const entries = [names.rowId, names.commitVersion].map(
    (name, index) => `${sqlText(name)}: {name: 'r${index}', type: 'BIGINT', default_value: NULL}`,
  );
  // The columns have names and no field ids, and one map of columns knows either names or ids.
  const apart = scan.storedColumns.some((column) => column.match.by === 'id');
  const from = apart ? 'r' : 'f';
  const rowId = `coalesce(${from}.r0, ${byFile(scan, (file) => file.baseRowId)} + f.file_row_number)`;
  const commitVersion = `coalesce(${from}.r1, ${byFile(scan, (file) => file.defaultRowCommitVersion)})`;
  return {
    names: [names.rowId, names.commitVersion],
    stored: apart ? [] : entries,
    join: apart ? joinSql(entries, paths) : '',
    columns: [`${rowId} AS ${quoteName(names.rowId)}`, `${commitVersion} AS ${quoteName(names.commitVersion)}`],
  };
}

/** A number of each row's file. */
function byFile(scan: FileScan, valueOf: (file: ScanFile) => bigint | undefined): string {
  const values = scan.files.map((file) => valueOf(file)?.toString() ?? 'NULL');
  if (values.every((value) => value === values[0])) return `CAST(${values[0] ?? 'NULL'} AS BIGINT)`;
  return `CAST([${values.join(', ')}] AS BIGINT[])[f.file_index::BIGINT + 1]`;
}

function joinSql(entries: readonly string[], paths: readonly string[]): string {
  const files = `read_parquet([${paths.map(sqlText).join(', ')}], schema=map{${entries.join(', ')}}, hive_partitioning=false, union_by_name=false)`;
  return ` JOIN ${files} AS r ON f.file_index = r.file_index AND f.file_row_number = r.file_row_number`;
}
