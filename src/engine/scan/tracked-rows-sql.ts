import { sqlText } from '../../expr/sql/engine-text.ts';
import type { RowTrackingColumns, ScanFile } from '../../table/scan.ts';
import { placeSql, type ScanGroup } from './scan-groups.ts';

/** What row tracking adds to the SELECT of a group's files, which are `f`. */
export interface TrackedRows {
  /** Entries of the files' column map. */
  readonly stored: readonly string[];
  /** Joined to the files; empty when their column map has the columns. */
  readonly join: string;
  readonly rowId: string;
  readonly commitVersion: string;
}

/** Row ids and row commit versions: as the row has them stored, else as its file gives them. */
export function trackedRows(group: ScanGroup, names: RowTrackingColumns): TrackedRows {
  const byId = group.layout.storedColumns.some((column) => column.match.by === 'id');
  const { fieldIds } = names;
  const keys =
    byId && fieldIds !== undefined
      ? [String(fieldIds.rowId), String(fieldIds.commitVersion)]
      : [sqlText(names.rowId), sqlText(names.commitVersion)];
  const entries = keys.map((key, index) => `${key}: {name: 'r${index}', type: 'BIGINT', default_value: NULL}`);
  // Columns that have names and no field ids: one map of columns knows either names or ids.
  const apart = !group.given && byId && fieldIds === undefined;
  const from = apart ? 'r' : 'f';
  const { position } = placeSql(group);
  const rowId = `coalesce(${from}.r0, ${byFile(group, (file) => file.baseRowId)} + ${position})`;
  const commitVersion = `coalesce(${from}.r1, ${byFile(group, (file) => file.defaultRowCommitVersion)})`;
  return {
    stored: apart ? [] : entries,
    join: apart ? joinSql(entries, group) : '',
    rowId,
    commitVersion,
  };
}

/** A number of each row's file. */
function byFile(group: ScanGroup, valueOf: (file: ScanFile) => bigint | undefined): string {
  const values = group.files.map(({ file }) => valueOf(file)?.toString() ?? 'NULL');
  if (values.every((value) => value === values[0])) return `CAST(${values[0] ?? 'NULL'} AS BIGINT)`;
  if (!group.given) return `CAST([${values.join(', ')}] AS BIGINT[])[f.file_index::BIGINT + 1]`;
  const keys = group.files.map(({ index }) => index);
  return `CAST(map([${keys.join(', ')}]::BIGINT[], [${values.join(', ')}]::BIGINT[])[f.file] AS BIGINT)`;
}

function joinSql(entries: readonly string[], group: ScanGroup): string {
  const list = group.files.map(({ path }) => sqlText(path)).join(', ');
  const files = `read_parquet([${list}], schema=map{${entries.join(', ')}}, hive_partitioning=false, union_by_name=false)`;
  return ` JOIN ${files} AS r ON f.file_index = r.file_index AND f.file_row_number = r.file_row_number`;
}
