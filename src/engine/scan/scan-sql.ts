import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-text.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { FileScan, StoredColumn } from '../../table/scan.ts';
import { type ScanOptions, scanColumns } from '../engine.ts';
import { reshapeSql, sameNames } from './reshape-sql.ts';
import { trackedRows } from './tracked-rows-sql.ts';

/** Where a scan finds what does not stand in the files. */
export interface ScanTables {
  /** Table of `file` (index) and one text column `p0`, `p1`, … for each partition column; absent when all files have the same values. */
  readonly partitions: string | undefined;
  /** Table of `file` and `pos` of deleted rows. */
  readonly deleted: string | undefined;
  /** Table of `file` and `pos` of the only rows that count. */
  readonly only: string | undefined;
}

/** The SELECT of a scan: the table's columns in order, then the positions when asked for. `paths` are local. */
export function scanSql(scan: FileScan, paths: readonly string[], tables: ScanTables, options: ScanOptions): string {
  const positions = options.withPositions === true;
  const tracked =
    options.withRowTracking === true && scan.rowTracking !== undefined ? trackedRows(scan, scan.rowTracking, paths) : undefined;
  if (paths.length === 0) return emptySql(scan.schema.fields, positions, tracked?.names ?? []);
  const stored = scan.storedColumns.filter((column) => !scan.partitionColumns.includes(column.field.name));
  const columns = scan.schema.fields.map((field) => `${columnSql(scan, stored, tables, field)} AS ${quoteName(field.name)}`);
  if (positions) columns.push(`f.file_index::BIGINT AS ${scanColumns.fileIndex}`, `f.file_row_number AS ${scanColumns.rowPosition}`);
  if (tracked !== undefined) columns.push(...tracked.columns);
  // A scan without columns of its own still needs one for the engine to read.
  const list = columns.length === 0 ? 'NULL' : columns.join(', ');
  const joins = tables.partitions === undefined ? '' : ` JOIN ${tables.partitions} AS p ON f.file_index::BIGINT = p.file`;
  const anti =
    tables.deleted === undefined ? '' : ` ANTI JOIN ${tables.deleted} AS d ON f.file_index::BIGINT = d.file AND f.file_row_number = d.pos`;
  const semi =
    tables.only === undefined ? '' : ` SEMI JOIN ${tables.only} AS o ON f.file_index::BIGINT = o.file AND f.file_row_number = o.pos`;
  return `SELECT ${list} FROM ${filesSql({ stored, paths, rowCount: rowCountOf(scan), tracked: tracked?.stored ?? [] })} AS f${tracked?.join ?? ''}${joins}${anti}${semi}`;
}

/** The distinct tuples of partition values decide how they are joined. */
export function samePartitionValues(scan: FileScan): boolean {
  const first = scan.files[0];
  return scan.files.every((file) => scan.partitionColumns.every((name) => file.partitionValues[name] === first?.partitionValues[name]));
}

/** The type a nested column is read with: leaf types of the table, names of the file. */
export function readType(stored: DataType, target: DataType): DataType {
  if (stored.kind === 'struct' && target.kind === 'struct') {
    return {
      kind: 'struct',
      fields: target.fields.map((field, index) => {
        const source = stored.fields[index] ?? field;
        return { ...field, name: source.name, type: readType(source.type, field.type) };
      }),
    };
  }
  if (stored.kind === 'list' && target.kind === 'list') return { ...target, element: readType(stored.element, target.element) };
  if (stored.kind === 'map' && target.kind === 'map') {
    return { ...target, key: readType(stored.key, target.key), value: readType(stored.value, target.value) };
  }
  return target;
}

// Columns get names of ours, so that none hides the engine's own `file_index` and `file_row_number`.
function filesSql(files: {
  readonly stored: readonly StoredColumn[];
  readonly paths: readonly string[];
  readonly rowCount: number | undefined;
  /** Entries of the row tracking columns. */
  readonly tracked: readonly string[];
}): string {
  const { stored, paths, rowCount, tracked } = files;
  const entries = stored.map((column, index) => {
    const key = column.match.by === 'id' ? String(column.match.id) : sqlText(column.match.name);
    const type = typeSql(readType(column.storedType, column.field.type));
    return `${key}: {name: 'c${index}', type: ${sqlText(type)}, default_value: NULL}`;
  });
  entries.push(...tracked);
  // Without an entry the map would have no type; no file has a column of no name.
  if (entries.length === 0) entries.push(`'': {name: 'c0', type: 'BOOLEAN', default_value: NULL}`);
  const list = paths.map(sqlText).join(', ');
  // With a given schema the engine does not look at the files before it plans, and takes a join's larger side for the smaller.
  const cardinality = rowCount === undefined ? '' : `, explicit_cardinality=${rowCount}`;
  return `read_parquet([${list}], schema=map{${entries.join(', ')}}, hive_partitioning=false, union_by_name=false${cardinality})`;
}

/** Rows of all files; `undefined` when one does not say. */
function rowCountOf(scan: FileScan): number | undefined {
  const counts = scan.files.map((file) => file.rowCount);
  const known = counts.filter((count) => count !== undefined);
  return known.length === counts.length ? Math.max(1, Math.trunc(known.reduce((sum, count) => sum + count, 0))) : undefined;
}

function columnSql(scan: FileScan, stored: readonly StoredColumn[], tables: ScanTables, field: Field): string {
  const partition = scan.partitionColumns.indexOf(field.name);
  if (partition >= 0) {
    if (tables.partitions !== undefined) return partitionSql(`p.p${partition}`, field.type);
    const value = scan.files[0]?.partitionValues[field.name];
    return partitionSql(value === undefined ? 'NULL' : sqlText(value), field.type);
  }
  const index = stored.findIndex((column) => column.field.name === field.name);
  const column = stored[index];
  if (column === undefined) return `CAST(NULL AS ${typeSql(field.type)})`;
  const from = readType(column.storedType, field.type);
  return sameNames(from, field.type) ? `f.c${index}` : reshapeSql({ sql: `f.c${index}`, from, to: field.type });
}

function partitionSql(text: string, type: DataType): string {
  return type.kind === 'binary' ? `unhex(CAST(${text} AS VARCHAR))` : `CAST(${text} AS ${typeSql(type)})`;
}

function emptySql(fields: readonly Field[], positions: boolean, tracked: readonly string[]): string {
  const columns = fields.map((field) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(field.name)}`);
  if (positions) columns.push(`CAST(NULL AS BIGINT) AS ${scanColumns.fileIndex}`, `CAST(NULL AS BIGINT) AS ${scanColumns.rowPosition}`);
  columns.push(...tracked.map((name) => `CAST(NULL AS BIGINT) AS ${quoteName(name)}`));
  return `SELECT ${columns.length === 0 ? 'NULL' : columns.join(', ')} WHERE false`;
}
