import type { InputRow } from '../../codec/build-columns.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { bodyOf } from '../action-json.ts';
import type { Action } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { ParquetRowCodec } from '../log/codec.ts';
import { printLastCheckpoint, readCheckpointHint } from '../log/last-checkpoint.ts';
import { checkpointPath, hadoopChecksumPath, lastCheckpointPath } from '../log/log-names.ts';

/**
 * Writes the classic checkpoint of a snapshot, and then the hint if it names an older one. Writing it twice is harmless. Removed files
 * whose retention ended before `now` are left out; progress marks never are.
 */
export async function writeCheckpoint(
  source: { readonly store: ObjectStore; readonly codec: ParquetRowCodec },
  snapshot: DeltaSnapshot,
  options: { readonly nowMs: number },
  signal?: AbortSignal,
): Promise<void> {
  const { store, codec } = source;
  const rows = checkpointRows(snapshot, options.nowMs);
  const bytes = await codec.write(checkpointSchema, rows);
  const path = checkpointPath(snapshot.version);
  await putPlain(store, path, bytes, signal);
  const hinted = await readCheckpointHint(store, signal);
  if (hinted !== undefined && hinted >= snapshot.version) return;
  const hint = { version: snapshot.version, size: rows.length, sizeInBytes: bytes.byteLength, numOfAddFiles: snapshot.fileCount };
  await putPlain(store, lastCheckpointPath, printLastCheckpoint(hint), signal);
}

/** Hadoop would hold the replaced bytes against the checksum of the old ones: its checksum file goes first. */
async function putPlain(store: ObjectStore, path: string, bytes: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  await store.delete(hadoopChecksumPath(path), signal);
  await store.put(path, bytes, signal);
}

function checkpointRows(snapshot: DeltaSnapshot, nowMs: number): readonly InputRow[] {
  const rows: InputRow[] = [rowOf(snapshot.protocol), rowOf(snapshot.metadata)];
  for (const txn of snapshot.txns()) rows.push(rowOf(txn));
  for (const domain of snapshot.domains()) rows.push(rowOf(domain));
  const expiredBeforeMs = nowMs - snapshot.settings.deletedFileRetentionMs;
  for (const file of snapshot.tombstones()) {
    if ((file.deletedMs ?? 0) > expiredBeforeMs) rows.push(rowOf({ ...file, dataChange: false, stats: undefined, tags: undefined }));
  }
  for (const file of snapshot.files()) rows.push(rowOf({ ...file, dataChange: false }));
  return rows;
}

function rowOf(action: Action): InputRow {
  return { [action.kind]: bodyOf(action) };
}

const text: DataType = { kind: 'string' };
const long: DataType = { kind: 'long' };
const integer: DataType = { kind: 'integer' };
const flag: DataType = { kind: 'boolean' };
const texts: DataType = { kind: 'list', element: text, elementNullable: true };
const textMap: DataType = { kind: 'map', key: text, value: text, valueNullable: true };

const vector: DataType = struct({ storageType: text, pathOrInlineDv: text, offset: integer, sizeInBytes: integer, cardinality: long });
const fileExtras: Readonly<Record<string, DataType>> = { deletionVector: vector, baseRowId: long, defaultRowCommitVersion: long };

const checkpointSchema: StructType = struct({
  txn: struct({ appId: text, version: long, lastUpdated: long }),
  add: struct({
    path: text,
    partitionValues: textMap,
    size: long,
    modificationTime: long,
    dataChange: flag,
    tags: textMap,
    ...fileExtras,
    clusteringProvider: text,
    stats: text,
  }),
  remove: struct({
    path: text,
    deletionTimestamp: long,
    dataChange: flag,
    extendedFileMetadata: flag,
    partitionValues: textMap,
    size: long,
    ...fileExtras,
  }),
  metaData: struct({
    id: text,
    name: text,
    description: text,
    format: struct({ provider: text, options: textMap }),
    schemaString: text,
    partitionColumns: texts,
    configuration: textMap,
    createdTime: long,
  }),
  protocol: struct({ minReaderVersion: integer, minWriterVersion: integer, readerFeatures: texts, writerFeatures: texts }),
  domainMetadata: struct({ domain: text, configuration: text, removed: flag }),
});

function struct(types: Readonly<Record<string, DataType>>): StructType {
  const fields = Object.entries(types).map(([name, type]): Field => ({ name, type, nullable: true }));
  return { kind: 'struct', fields };
}
