import { literalSql, quoteName, sqlText, typeSql } from '../../expr/sql/engine-text.ts';
import type { Field } from '../../schema/types.ts';
import { partitionValueSql } from '../../table/partitioning/partition-text.ts';
import type { FileLayout, FileScan, RowTrackingColumns, StoredColumn } from '../../table/scan.ts';
import { type ScanOptions, scanColumns } from '../engine.ts';
import { isNowhere, nowherePaths, relationValueSql, storedTypeSql } from '../stored-types.ts';
import { presentType, withAbsentSql } from './absent-members.ts';
import { hiddenParts, needsTracking } from './hidden-columns-sql.ts';
import { placeSql, type ScanGroup } from './scan-groups.ts';
import { type TrackedRows, trackedRows } from './tracked-rows-sql.ts';

/** A group of files, and where its scan finds what does not stand in them. */
export interface HeldGroup extends ScanGroup {
  /** Table of `file` (index) and one text column `p0`, `p1`, … for each partition column; absent when all files have the same values. */
  readonly partitions: string | undefined;
  /** Table of the rows of files that the engine does not read itself. */
  readonly rows: string | undefined;
}

/** Tables for all files of a scan. */
export interface ScanTables {
  /** Table of `file` and `pos` of deleted rows. */
  readonly deleted: string | undefined;
  /** Table of `file` and `pos` of the only rows that count. */
  readonly only: string | undefined;
  /** Table of what the files say of themselves, when the scan has hidden columns of it. */
  readonly facts: string | undefined;
}

/** The SELECT of a scan: the table's columns in order, then the positions when asked for, then row tracking, then hidden columns. */
export function scanSql(scan: FileScan, groups: readonly HeldGroup[], tables: ScanTables, options: ScanOptions): string {
  if (groups.length === 0) return emptySql(scan, options);
  return groups.map((group) => groupSql(scan, group, tables, options)).join(' UNION ALL ');
}

function groupSql(scan: FileScan, group: HeldGroup, tables: ScanTables, options: ScanOptions): string {
  const { layout } = group;
  const place = placeSql(group);
  const tracking = trackingOf(scan, options);
  const used = needsTracking(scan.hidden) ? scan.rowTracking : tracking;
  const tracked = used === undefined ? undefined : trackedRows(group, used);
  const stored = layout.storedColumns
    .filter(({ field }) => !layout.partitionColumns.includes(field.name) && !isNowhere(field.type))
    .map(withVoidsAbsent);
  const column = group.given ? givenColumns(scan, group) : (field: Field) => columnSql(group, stored, field);
  const columns = scan.schema.fields.map((field) => `${column(field)} AS ${quoteName(field.name)}`);
  if (options.withPositions === true) {
    columns.push(`${place.file} AS ${scanColumns.fileIndex}`, `${place.position} AS ${scanColumns.rowPosition}`);
  }
  if (tracking !== undefined && tracked !== undefined) {
    columns.push(`${tracked.rowId} AS ${quoteName(tracking.rowId)}`, `${tracked.commitVersion} AS ${quoteName(tracking.commitVersion)}`);
  }
  const more = hiddenParts(scan, group, { facts: tables.facts, tracked });
  columns.push(...more.columns);
  // A scan without columns of its own still needs one for the engine to read.
  const list = columns.length === 0 ? 'NULL' : columns.join(', ');
  const from = group.rows ?? filesSql(group, stored, tracked);
  const joins = group.partitions === undefined ? '' : ` JOIN ${group.partitions} AS p ON ${place.file} = p.file`;
  const anti =
    tables.deleted === undefined ? '' : ` ANTI JOIN ${tables.deleted} AS d ON ${place.file} = d.file AND ${place.position} = d.pos`;
  const semi = tables.only === undefined ? '' : ` SEMI JOIN ${tables.only} AS o ON ${place.file} = o.file AND ${place.position} = o.pos`;
  return `SELECT ${list} FROM ${from} AS f${group.given ? '' : (tracked?.join ?? '')}${joins}${more.join}${anti}${semi}`;
}

function trackingOf(scan: FileScan, options: ScanOptions): RowTrackingColumns | undefined {
  return options.withRowTracking === true ? scan.rowTracking : undefined;
}

// Columns get names of ours, so that none hides the engine's own `file_index` and `file_row_number`.
function filesSql(group: ScanGroup, stored: readonly StoredColumn[], tracked: TrackedRows | undefined): string {
  const entries = stored.map((column, index) => {
    const key = column.match.by === 'id' ? String(column.match.id) : sqlText(column.match.name);
    const type = storedTypeSql(presentType(column));
    const missing = defaultText(group.layout, column.field);
    return `${key}: {name: 'c${index}', type: ${sqlText(type)}, default_value: ${missing}}`;
  });
  entries.push(...(tracked?.stored ?? []));
  // Without an entry the map would have no type; no file has a column of no name.
  if (entries.length === 0) entries.push(`'': {name: 'c0', type: 'BOOLEAN', default_value: NULL}`);
  const list = group.files.map(({ path }) => sqlText(path)).join(', ');
  // With a given schema the engine does not look at the files before it plans, and takes a join's larger side for the smaller.
  const rowCount = rowCountOf(group);
  const cardinality = rowCount === undefined ? '' : `, explicit_cardinality=${rowCount}`;
  return `read_parquet([${list}], schema=map{${entries.join(', ')}}, hive_partitioning=false, union_by_name=false${cardinality})`;
}

/** Members that no file holds are missing from every one. */
function withVoidsAbsent(column: StoredColumn): StoredColumn {
  const voids = nowherePaths(column.field.type).map((path) => ({ path, value: undefined }));
  return voids.length === 0 ? column : { ...column, absent: [...(column.absent ?? []), ...voids] };
}

/** Rows of all files; `undefined` when one does not say. */
function rowCountOf(group: ScanGroup): number | undefined {
  const counts = group.files.map(({ file }) => file.rowCount);
  const known = counts.filter((count) => count !== undefined);
  return known.length === counts.length ? Math.max(1, Math.trunc(known.reduce((sum, count) => sum + count, 0))) : undefined;
}

function columnSql(group: HeldGroup, stored: readonly StoredColumn[], field: Field): string {
  const partition = partitionColumnSql(group, field);
  if (partition !== undefined) return partition;
  const index = stored.findIndex((column) => column.field.name === field.name);
  const column = stored[index];
  if (column === undefined) return defaultSql(group.layout, field);
  const type = presentType(column);
  return withAbsentSql(relationValueSql(heldSql(index, column), type), { ...column, type });
}

/**
 * A column as the files' reader gives it. The engine casts what a condition compares it with to the type in the file, and rounds: `f < 1.5` of
 * whole numbers becomes `f < 2`. A CASE keeps conditions away from the reader.
 */
function heldSql(index: number, { coarser }: StoredColumn): string {
  return coarser === true ? `CASE WHEN f.c${index} IS NOT NULL THEN f.c${index} END` : `f.c${index}`;
}

/** Columns of the table that holds given rows: in the scan's order, without those of the partition. */
function givenColumns(scan: FileScan, group: HeldGroup): (field: Field) => string {
  const names = scan.schema.fields.map((field) => field.name).filter((name) => !group.layout.partitionColumns.includes(name));
  return (field) => partitionColumnSql(group, field) ?? `f.c${names.indexOf(field.name)}`;
}

function partitionColumnSql(group: HeldGroup, field: Field): string | undefined {
  const index = group.layout.partitionColumns.indexOf(field.name);
  if (index < 0) return undefined;
  if (group.partitions !== undefined) return partitionValueSql(`p.p${index}`, field.type);
  const value = group.files[0]?.file.partitionValues[field.name];
  return partitionValueSql(value === undefined ? 'NULL' : sqlText(value), field.type);
}

function defaultSql(layout: FileLayout, field: Field): string {
  const value = layout.defaults?.get(field.name);
  return `CAST(${value === undefined ? 'NULL' : literalSql(value)} AS ${typeSql(field.type)})`;
}

/** The default as text: one map of columns has defaults of one type. */
function defaultText(layout: FileLayout, field: Field): string {
  const value = layout.defaults?.get(field.name);
  return value === undefined ? 'NULL' : `CAST(CAST(${literalSql(value)} AS ${typeSql(field.type)}) AS VARCHAR)`;
}

function emptySql(scan: FileScan, options: ScanOptions): string {
  const columns = scan.schema.fields.map((field) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(field.name)}`);
  const longs: string[] = options.withPositions === true ? [scanColumns.fileIndex, scanColumns.rowPosition] : [];
  const tracking = trackingOf(scan, options);
  if (tracking !== undefined) longs.push(quoteName(tracking.rowId), quoteName(tracking.commitVersion));
  columns.push(...longs.map((name) => `CAST(NULL AS BIGINT) AS ${name}`));
  columns.push(...(scan.hidden ?? []).map(({ field }) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(field.name)}`));
  return `SELECT ${columns.length === 0 ? 'NULL' : columns.join(', ')} WHERE false`;
}
