import type { DuckDBConnection } from '@duckdb/node-api';
import { isFloating } from '../../expr/sql/cast-sql.ts';
import { quoteName, sqlText } from '../../expr/sql/engine-text.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { ColumnDetails, FileDetails, StoredBound } from '../engine.ts';
import type { CopiedFile } from './written-copy.ts';
import { boundOf } from './written-statistics.ts';

interface DetailLeaf {
  readonly id: number | undefined;
  readonly path: readonly string[];
  readonly type: DataType;
  readonly repeated: boolean;
}

/** What is to be said of each leaf of the written files, and where their row groups begin. Reads again only what the writing did not tell. */
export async function fileDetails(
  connection: DuckDBConnection,
  schema: StructType,
  files: readonly CopiedFile[],
): Promise<readonly FileDetails[]> {
  if (files.length === 0) return [];
  const leaves = schema.fields.flatMap((field) => leavesOfField(field, [], false));
  const offsets = await rowGroupOffsets(connection, files);
  const known = files.map((file) => leaves.map((leaf) => toldDetails(leaf, file)));
  const refined = leaves.flatMap((leaf, index) => (known.some((columns) => columns[index]?.uncertain === true) ? [{ leaf, index }] : []));
  const found =
    refined.length === 0
      ? new Map<number, readonly unknown[]>()
      : await refine(
          connection,
          refined.map(({ leaf }) => leaf),
          files,
        );
  return files.map((_, at) => {
    const columns = (known[at] ?? []).map(({ told }) => told);
    for (const [place, { leaf, index }] of refined.entries()) {
      const told = columns[index];
      const values = found.get(at)?.slice(1 + place * columnsPerLeaf, 1 + (place + 1) * columnsPerLeaf);
      if (told !== undefined && values !== undefined) columns[index] = { ...told, ...refinedDetails(leaf, values) };
    }
    return { splitOffsets: offsets.get(at) ?? [], columns };
  });
}

function leavesOfField({ type, id, name }: Field, above: readonly string[], repeated: boolean): readonly DetailLeaf[] {
  const path = [...above, name];
  if (type.kind !== 'struct' && type.kind !== 'list' && type.kind !== 'map') return [{ id, path, type, repeated }];
  return innerFields(type).flatMap((field) => leavesOfField(field, path, repeated || type.kind !== 'struct'));
}

interface ToldDetails {
  readonly told: ColumnDetails;
  readonly uncertain: boolean;
}

function toldDetails(leaf: DetailLeaf, file: CopiedFile): ToldDetails {
  const own = file.statistics.get(leaf.path.map(quoteName).join('.'));
  const storedBytes = Number(own?.get('column_size_bytes') ?? 0);
  const base = { id: leaf.id, path: leaf.path, storedBytes };
  const nothing = { nullCount: undefined, nanCount: undefined, min: undefined, max: undefined };
  if (leaf.repeated) return { told: { ...base, ...nothing }, uncertain: false };
  const nullText = own?.get('null_count');
  if (nullText === undefined) return { told: { ...base, ...nothing }, uncertain: true };
  const nullCount = Number(nullText);
  const hasValues = nullCount < file.rowCount;
  if (isFloating(leaf.type)) return { told: { ...base, ...nothing, nullCount, nanCount: 0 }, uncertain: hasValues };
  const min = storedBound(own?.get('min'), leaf.type);
  const max = storedBound(own?.get('max'), leaf.type);
  // A row group without a bound (only nulls, or text too long) takes the bound from the whole file.
  return { told: { ...base, nullCount, nanCount: undefined, min, max }, uncertain: hasValues && (min === undefined || max === undefined) };
}

function storedBound(text: string | undefined, type: DataType): StoredBound | undefined {
  if (text === undefined) return undefined;
  if (type.kind === 'binary') return Uint8Array.from(Buffer.from(text, 'hex'));
  if (type.kind === 'boolean') return text === '1' || text === 'true';
  return boundOf(text, type);
}

async function rowGroupOffsets(
  connection: DuckDBConnection,
  files: readonly CopiedFile[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  const first = 'min(least(coalesce(nullif(dictionary_page_offset, 0), data_page_offset), data_page_offset))';
  const list = files.map((file) => sqlText(file.path)).join(', ');
  const reader = await connection.runAndReadAll(
    `SELECT file_name, ${first} AS o FROM parquet_metadata([${list}]) GROUP BY file_name, row_group_id ORDER BY file_name, o`,
  );
  const places = new Map(files.map((file, index) => [file.path, index]));
  const offsets = new Map<number, number[]>();
  for (const [name, offset] of reader.getRows()) {
    const place = places.get(String(name));
    if (place === undefined) continue;
    const known = offsets.get(place);
    if (known === undefined) offsets.set(place, [Number(offset)]);
    else known.push(Number(offset));
  }
  return offsets;
}

const columnsPerLeaf = 4;

async function refine(
  connection: DuckDBConnection,
  leaves: readonly DetailLeaf[],
  files: readonly CopiedFile[],
): Promise<ReadonlyMap<number, readonly unknown[]>> {
  const columns = leaves.flatMap((leaf) => {
    const [first, ...rest] = leaf.path;
    const value = rest.reduce((sql, name) => `struct_extract(${sql}, ${sqlText(name)})`, quoteName(first ?? ''));
    const numbers = isFloating(leaf.type) ? ` FILTER (NOT isnan(${value}))` : '';
    const shown = (sql: string): string => (leaf.type.kind === 'binary' ? `hex(${sql})` : `CAST(${sql} AS VARCHAR)`);
    return [
      `count(*) - count(${value})`,
      isFloating(leaf.type) ? `count(*) FILTER (isnan(${value}))` : '0',
      shown(`min(${value})${numbers}`),
      shown(`max(${value})${numbers}`),
    ];
  });
  const list = files.map((file) => sqlText(file.path)).join(', ');
  const source = `read_parquet([${list}], hive_partitioning=false)`;
  const reader = await connection.runAndReadAll(`SELECT file_index, ${columns.join(', ')} FROM ${source} GROUP BY file_index`);
  return new Map(reader.getRows().map((row) => [Number(row[0]), row]));
}

function refinedDetails(leaf: DetailLeaf, values: readonly unknown[]): Partial<ColumnDetails> {
  const [nullCount, nanCount, min, max] = values;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return {
    nullCount: Number(nullCount),
    nanCount: isFloating(leaf.type) ? Number(nanCount) : undefined,
    min: storedBound(text(min), leaf.type),
    max: storedBound(text(max), leaf.type),
  };
}
