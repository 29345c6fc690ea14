import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api';
import { present } from '../../base/assert.ts';
import { parseJson } from '../../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { Api } from '../duckdb-modules.ts';
import { type Copy, copySql, partitionKey } from './copy-sql.ts';
import type { CopyStatistics } from './written-statistics.ts';

/** A file that a COPY made, still where the COPY put it. */
export interface CopiedFile {
  readonly path: string;
  readonly rowCount: number;
  readonly sizeBytes: number;
  readonly statistics: CopyStatistics;
  /** As the query's `partitionKey` column had it. */
  readonly partition: string | undefined;
}

/** Runs a COPY and reads what it returns about its files; those without rows are left out. */
export async function runCopy(api: Api, connection: DuckDBConnection, copy: Copy): Promise<readonly CopiedFile[]> {
  const reader = await connection.runAndReadAll(copySql(copy));
  const names = reader.columnNames();
  const column = (name: string): number => names.indexOf(name);
  const rows = reader.getRows().map((row): CopiedFile => {
    const keys = row[column('partition_keys')];
    return {
      path: textOf(row[column('filename')]),
      rowCount: Number(row[column('count')]),
      sizeBytes: Number(row[column('file_size_bytes')]),
      statistics: statisticsOf(api, row[column('column_statistics')]),
      partition: keys instanceof api.DuckDBMapValue ? textOrNothing(mapOf(keys).get(partitionKey)) : undefined,
    };
  });
  return rows.filter((file) => file.rowCount > 0);
}

/** The values of a partition, from its key. */
export function partitionValuesOf(key: string | undefined): readonly (string | undefined)[] {
  if (key === undefined) return [];
  const values = parseJson(key, 'a partition key');
  if (!Array.isArray(values)) throw unexpected(key);
  return values.map((value: unknown) => {
    if (value === null) return undefined;
    if (typeof value === 'string') return value;
    throw unexpected(key);
  });
}

function statisticsOf(api: Api, value: DuckDBValue | undefined): CopyStatistics {
  const columns = new Map<string, ReadonlyMap<string, string>>();
  if (!(value instanceof api.DuckDBMapValue)) return columns;
  for (const [name, entry] of mapOf(value)) {
    if (!(entry instanceof api.DuckDBMapValue)) continue;
    const texts = new Map<string, string>();
    for (const [key, text] of mapOf(entry)) {
      if (typeof text === 'string') texts.set(key, text);
    }
    columns.set(name, texts);
  }
  return columns;
}

function mapOf(value: InstanceType<Api['DuckDBMapValue']>): ReadonlyMap<string, DuckDBValue> {
  return new Map(value.entries.map(({ key, value: entry }) => [String(key), entry]));
}

function textOf(value: DuckDBValue | undefined): string {
  return present(textOrNothing(value), 'the engine names the file it wrote');
}

function textOrNothing(value: DuckDBValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function unexpected(key: string): ServiceError {
  return serviceError.internal('ASSERTION_FAILED', `partition key ${key} is not a list of texts`);
}
