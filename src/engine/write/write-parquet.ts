import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { throwIfAborted } from '../../base/abort.ts';
import { serviceError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { sqlText } from '../../expr/sql/engine-text.ts';
import type { ColumnStatistics } from '../../schema/statistics.ts';
import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { DuckdbModules } from '../duckdb-modules.ts';
import type { FileDetails, ParquetTarget, WrittenFile } from '../engine.ts';
import type { RelationNames } from '../relation-names.ts';
import { type Copy, partitionKey, storedSql } from './copy-sql.ts';
import { fileDetails } from './file-details.ts';
import { exactStatistics } from './refine-statistics.ts';
import { type CopiedFile, partitionValuesOf, runCopy } from './written-copy.ts';
import { columnStatisticsOf } from './written-statistics.ts';

/** Directory, within the target's, where files lie until they are whole. Hidden to readers; left behind only by a process that died. */
export const stagingPrefix = '.tidewater-staging-';

// A partition's file is written at once, and divided afterwards when it came out this much larger than wanted.
const maxTargetExcess = 1.5;
const maxConcurrentSyncs = 8;

export interface Writing {
  readonly modules: DuckdbModules;
  readonly connection: DuckDBConnection;
  readonly names: RelationNames;
  readonly ids: IdSource;
  /** See `rowGroupRowsFor`. */
  readonly rowGroupRows: number;
  readonly signal?: AbortSignal | undefined;
}

/** Writes a relation's rows as Parquet files, synced and under their final names; see `Engine.writeParquet`. */
export async function writeParquetFiles(writing: Writing, relation: Relation, target: ParquetTarget): Promise<readonly WrittenFile[]> {
  const staging = join(target.directory, `${stagingPrefix}${writing.ids.uuid()}`);
  await mkdir(staging, { recursive: true });
  const moved: string[] = [];
  try {
    const stored = storedSql(relation, target);
    const copy: Copy = {
      ...stored,
      compression: target.compression,
      to: copyTo(staging, target),
      partitioned: target.partitionBy.length > 0,
      targetFileBytes: target.targetFileBytes,
      rowGroupRows: writing.rowGroupRows,
    };
    const copied = await copyRows(writing, copy, staging);
    const known = await knowledgeOf(writing, stored.schema, copied, target.withDetails === true);
    throwIfAborted(writing.signal);
    return await moveFiles(copied, known, target, moved);
  } catch (error) {
    for (const path of moved) await rm(path, { force: true });
    throw error;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** What is told of a written file. */
interface Knowledge {
  readonly statistics: readonly ColumnStatistics[];
  readonly details: FileDetails | undefined;
}

async function knowledgeOf(
  { connection }: Writing,
  schema: StructType,
  copied: readonly CopiedFile[],
  withDetails: boolean,
): Promise<readonly Knowledge[]> {
  if (withDetails) return (await fileDetails(connection, schema, copied)).map((details) => ({ statistics: [], details }));
  const statistics = await exactStatistics(connection, schema, copied);
  return statistics.map((leaves) => ({ statistics: leaves.flatMap(columnStatisticsOf), details: undefined }));
}

function copyTo(staging: string, target: ParquetTarget): string {
  return target.partitionBy.length > 0 || target.targetFileBytes !== undefined ? join(staging, 'files') : join(staging, 'file.parquet');
}

async function copyRows(writing: Writing, copy: Copy, staging: string): Promise<readonly CopiedFile[]> {
  const { api } = writing.modules;
  throwIfAborted(writing.signal);
  if (!copy.partitioned) return runCopy(api, writing.connection, copy);
  const files = await joinParts(writing, copy, await copyPartitions(writing, copy, staging), staging);
  const target = copy.targetFileBytes;
  if (target === undefined || files.every((file) => file.sizeBytes <= target * maxTargetExcess)) return files;
  const divided: CopiedFile[] = [];
  for (const [index, file] of files.entries()) {
    if (file.sizeBytes <= target * maxTargetExcess) divided.push(file);
    else divided.push(...(await copyFiles(writing, [file], { ...copy, to: join(staging, `divided-${index}`) })));
  }
  return divided;
}

// A partition has several files when more were open at once than the engine keeps: they become one, as for all others.
async function joinParts(writing: Writing, copy: Copy, files: readonly CopiedFile[], staging: string): Promise<readonly CopiedFile[]> {
  const partitions = new Map<string | undefined, CopiedFile[]>();
  for (const file of files) {
    const parts = partitions.get(file.partition);
    if (parts === undefined) partitions.set(file.partition, [file]);
    else parts.push(file);
  }
  if (partitions.size === files.length) return files;
  const joined: CopiedFile[] = [];
  for (const parts of partitions.values()) {
    if (parts.length === 1) joined.push(...parts);
    else
      joined.push(
        ...(await copyFiles(writing, parts, { ...copy, targetFileBytes: undefined, to: join(staging, `joined-${joined.length}.parquet`) })),
      );
  }
  return joined;
}

/** Copies staged files of one partition again, otherwise divided. */
async function copyFiles(writing: Writing, files: readonly CopiedFile[], copy: Copy): Promise<readonly CopiedFile[]> {
  throwIfAborted(writing.signal);
  const sql = `SELECT * FROM read_parquet([${files.map((file) => sqlText(file.path)).join(', ')}], hive_partitioning=false)`;
  const copied = await runCopy(writing.modules.api, writing.connection, { ...copy, sql, partitioned: false });
  for (const file of files) await rm(file.path);
  return copied.map((file) => ({ ...file, partition: files[0]?.partition }));
}

// The engine makes a directory named by the key; a key too long for a name is replaced by a number, for which the rows must be kept.
async function copyPartitions(writing: Writing, copy: Copy, staging: string): Promise<readonly CopiedFile[]> {
  const { connection, modules, names } = writing;
  try {
    return await runCopy(modules.api, connection, copy);
  } catch (error) {
    if (!(error instanceof Error) || !/File name too long/iu.test(error.message)) throw error;
  }
  const rows = names.next('rows');
  const keys = names.next('rows');
  try {
    await connection.run(`CREATE TABLE ${rows} AS ${copy.sql}`);
    await connection.run(
      `CREATE TABLE ${keys} AS SELECT CAST(row_number() OVER () AS VARCHAR) AS number, k FROM (SELECT DISTINCT ${partitionKey} AS k FROM ${rows})`,
    );
    const sql = `SELECT r.* EXCLUDE (${partitionKey}), n.number AS ${partitionKey} FROM ${rows} AS r JOIN ${keys} AS n ON r.${partitionKey} = n.k`;
    const files = await runCopy(modules.api, connection, { ...copy, sql, to: join(staging, 'numbered') });
    const reader = await connection.runAndReadAll(`SELECT number, k FROM ${keys}`);
    const keyOf = new Map(reader.getRows().map(([number, key]) => [String(number), String(key)]));
    return files.map((file) => ({ ...file, partition: keyOf.get(file.partition ?? '') }));
  } finally {
    await connection.run(`DROP TABLE IF EXISTS ${keys}`);
    await connection.run(`DROP TABLE IF EXISTS ${rows}`);
  }
}

async function moveFiles(
  copied: readonly CopiedFile[],
  known: readonly Knowledge[],
  target: ParquetTarget,
  moved: string[],
): Promise<readonly WrittenFile[]> {
  const files = copied.map((file, index) => {
    const partitionValues = partitionValuesOf(file.partition);
    const path = target.pathOf({ partitionValues, index });
    refuseStrayPath(path);
    return { file, partitionValues, path, final: join(target.directory, path), known: known[index] };
  });
  const directories = new Set<string>();
  for (const { final } of files) directories.add(dirname(final));
  for (const directory of directories) await mkdir(directory, { recursive: true });
  await mapBounded(files, maxConcurrentSyncs, async ({ file, final }) => {
    await syncPath(file.path);
    await rename(file.path, final);
    moved.push(final);
  });
  // The entries of a fresh directory are durable once it and its parents are synced.
  const toSync = new Set<string>([target.directory]);
  for (const directory of directories) {
    for (let at = directory; at.length > target.directory.length; at = dirname(at)) toSync.add(at);
  }
  await mapBounded([...toSync], maxConcurrentSyncs, syncPath);
  return Promise.all(
    files.map(async ({ file, partitionValues, path, final, known: { statistics = [], details } = {} }): Promise<WrittenFile> => {
      const info = await stat(final);
      return {
        path,
        partitionValues,
        sizeBytes: info.size,
        rowCount: file.rowCount,
        modifiedMs: Math.trunc(info.mtimeMs),
        statistics,
        ...(details === undefined ? {} : { details }),
      };
    }),
  );
}

function refuseStrayPath(path: string): void {
  if (path !== '' && !path.startsWith('/') && !path.split('/').some((part) => part === '' || part === '.' || part === '..')) return;
  throw serviceError.internal('ASSERTION_FAILED', `path "${path}" of a file to be written leaves its directory`);
}

/** Makes a file or a directory's entries durable. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
