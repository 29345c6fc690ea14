import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../../src/base/bigint-json.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { buildBatch } from '../../../src/codec/build-columns.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import { checkpointSchema, struct } from '../../../src/delta/checkpoint/checkpoint-schema.ts';
import { writeCheckpoint } from '../../../src/delta/checkpoint/write-checkpoint.ts';
import { writeV2Checkpoint } from '../../../src/delta/checkpoint/write-v2-checkpoint.ts';
import type { DeltaSnapshot } from '../../../src/delta/delta-snapshot.ts';
import { loadSnapshot } from '../../../src/delta/log/load-snapshot.ts';
import { parquetRows } from '../../../src/delta/log/parquet-rows.ts';
import type { DataType } from '../../../src/schema/types.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { filesOf, linesOf, type TableFiles, writeBytes } from './table-files.ts';

/**
 * Writes a checkpoint of the newest version, classic or V2 with sidecars, named in JSON or in Parquet, and takes away what the same rows could
 * be had from without it.
 */
export async function withOwnCheckpoint(random: Random, files: TableFiles): Promise<TableFiles> {
  const store = openObjectStore(files.directory);
  const snapshot = await loadSnapshot({ name: 'fuzzed', store, codec: parquetRows });
  if (snapshot === undefined) return files;
  for (const path of [...files.commits, ...files.checkpoints, ...files.sidecars]) rmSync(join(files.directory, path));
  const target = { store, codec: parquetRows, ids: new RandomIdSource(random) };
  const form = randomInt(random, 3);
  await (form === 0 ? writeCheckpoint : writeV2Checkpoint)(target, snapshot, { nowMs: 0 });
  const written = filesOf(files.directory);
  if (form === 2) await manifestAsParquet(written, snapshot);
  return filesOf(files.directory);
}

const text: DataType = { kind: 'string' };
const long: DataType = { kind: 'long' };
const tags: DataType = { kind: 'map', key: text, value: text, valueNullable: true };

async function manifestAsParquet(files: TableFiles, snapshot: DeltaSnapshot): Promise<void> {
  const path = files.checkpoints.find((candidate) => candidate.endsWith('.json'));
  if (path === undefined) return;
  const rows = linesOf(files, path).map((line) => {
    const row = parseJson(line, path);
    return isJsonObject(row) ? row : {};
  });
  const own = struct({
    checkpointMetadata: struct({ version: long, tags }),
    sidecar: struct({ path: text, sizeInBytes: long, modificationTime: long, tags }),
  });
  const schema = { ...own, fields: [...checkpointSchema(snapshot).fields, ...own.fields] };
  writeBytes(files, path.replace(/json$/, 'parquet'), await writeParquet([buildBatch(schema, rows)], { compression: 'snappy' }));
  rmSync(join(files.directory, path));
}
