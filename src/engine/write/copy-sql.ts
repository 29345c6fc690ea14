import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-text.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { partitionTextSql } from '../../table/partitioning/partition-text.ts';
import type { Relation } from '../../table/relation.ts';
import type { ParquetTarget } from '../engine.ts';
import { reshapeSql } from '../scan/reshape-sql.ts';
import { storedFields, storedType, storedValueSql } from '../stored-types.ts';

// Rows a group at most has: what other writers make, and what readers skip by.
const maxRowGroupRows = 122_880;
// A file ends with a row group: for small files they must be small.
const smallRowGroupRows = 20_480;
const smallFileBytes = 32 * 2 ** 20;
// A thread holds the row group it fills, raw and encoded, and cannot spill it: rows are taken to need this much, all buffers together.
const bytesPerBufferedRow = 2_048;
// zstd's default costs half as much time again for few percent of size.
const zstdLevel = 1;

/** Name of the column that tells partitions apart while they are written; a stored column cannot have it. */
export const partitionKey = '__partition_key';

/** Rows that a group may have for each of so many threads to find room for one. */
export function rowGroupRowsFor(engine: { readonly memoryLimitBytes: number; readonly threads: number }): number {
  const rows = Math.floor(engine.memoryLimitBytes / engine.threads / bytesPerBufferedRow);
  return Math.min(maxRowGroupRows, Math.max(smallRowGroupRows, rows));
}

/** One COPY: rows of a query as Parquet. */
export interface Copy {
  readonly sql: string;
  readonly schema: StructType;
  readonly compression: ParquetTarget['compression'];
  /** A file, or a directory where several files may come. */
  readonly to: string;
  readonly partitioned: boolean;
  readonly targetFileBytes?: number | undefined;
  /** See `rowGroupRowsFor`. */
  readonly rowGroupRows: number;
}

/** The statement; it returns a row for each file with the statistics the engine gathered. */
export function copySql(copy: Copy): string {
  const options = ['FORMAT parquet', 'RETURN_STATS true', 'WRITE_BLOOM_FILTER false', `COMPRESSION ${copy.compression}`];
  const small = copy.targetFileBytes !== undefined && copy.targetFileBytes < smallFileBytes;
  options.push(`ROW_GROUP_SIZE ${small ? smallRowGroupRows : copy.rowGroupRows}`);
  if (copy.compression === 'zstd') options.push(`COMPRESSION_LEVEL ${zstdLevel}`);
  const ids = fieldIds(copy.schema.fields);
  if (ids !== '') options.push(`FIELD_IDS {${ids}}`);
  if (copy.partitioned) options.push(`PARTITION_BY (${partitionKey})`, "FILENAME_PATTERN 'part_{uuid}'");
  else if (copy.targetFileBytes !== undefined) {
    options.push(`FILE_SIZE_BYTES ${Math.max(1, Math.floor(copy.targetFileBytes))}`, "FILENAME_PATTERN 'part_{uuid}'");
  }
  return `COPY (${copy.sql}) TO ${sqlText(copy.to)} (${options.join(', ')})`;
}

/** The stored columns of a relation, under their stored names and types. */
export function storedSql(relation: Relation, target: ParquetTarget): { readonly sql: string; readonly schema: StructType } {
  const { fields: given } = relation.schema;
  const names = given.map((_, index) => `c${index}`);
  const kept = given.flatMap((field, index) =>
    target.partitionBy.includes(field.name) && target.keepPartitionColumns !== true ? [] : [{ field, column: `c${index}` }],
  );
  const whole = target.storedSchema ?? { kind: 'struct', fields: kept.map(({ field }) => field) };
  const held = new Set(storedFields(whole.fields));
  const columns = kept.flatMap(({ field, column }, index) => {
    const stored = whole.fields[index] ?? field;
    if (!held.has(stored)) return [];
    const declared = `CAST(${column} AS ${typeSql(field.type)})`;
    const reshaped = reshapeSql({ sql: declared, from: field.type, to: stored.type });
    return [`${storedValueSql(reshaped, stored.type)} AS ${quoteName(stored.name)}`];
  });
  const fields = [...held].map((field) => ({ ...field, type: storedType(field.type) }));
  if (target.partitionBy.length > 0) columns.push(`${partitionKeySql(given, target.partitionBy)} AS ${partitionKey}`);
  return { sql: `SELECT ${columns.join(', ')} FROM (${relation.sql}) AS r(${names.join(', ')})`, schema: { kind: 'struct', fields } };
}

// All values of a partition in one text that can be taken apart again: a JSON list of texts and nulls.
function partitionKeySql(fields: readonly Field[], partitionBy: readonly string[]): string {
  const values = partitionBy.map((name) => {
    const index = fields.findIndex((field) => field.name === name);
    const field = fields[index];
    return field === undefined ? 'NULL::VARCHAR' : partitionTextSql(`CAST(c${index} AS ${typeSql(field.type)})`, field.type, 'plain');
  });
  return `CAST(to_json([${values.join(', ')}]::VARCHAR[]) AS VARCHAR)`;
}

function fieldIds(fields: readonly Field[]): string {
  return fields.flatMap((field) => entryOf(field.name, field.id, field.type)).join(', ');
}

function entryOf(name: string, id: number | undefined, type: DataType): readonly string[] {
  const children = childIds(type);
  if (children === '') return id === undefined ? [] : [`${quoteName(name)}: ${id}`];
  const own = id === undefined ? [] : [`__duckdb_field_id: ${id}`];
  return [`${quoteName(name)}: {${[...own, children].join(', ')}}`];
}

function childIds(type: DataType): string {
  switch (type.kind) {
    case 'struct':
      return fieldIds(type.fields);
    case 'list':
      return entryOf('element', type.elementId, type.element).join(', ');
    case 'map':
      return [...entryOf('key', type.keyId, type.key), ...entryOf('value', type.valueId, type.value)].join(', ');
    default:
      return '';
  }
}
