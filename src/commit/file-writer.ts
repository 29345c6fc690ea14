import { throwIfAborted } from '../base/abort.ts';
import { assert } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { serviceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import { annotateUuids } from '../codec/parquet/annotate-uuids.ts';
import { rowGroupLayout } from '../codec/parquet/row-group-layout.ts';
import { writeParquet } from '../codec/parquet/write-parquet.ts';
import { columnStatistics } from '../codec/statistics.ts';
import { withColumnIds } from '../schema/column-ids.ts';
import type { Column, ColumnBatch } from '../schema/columns.ts';
import { describeType } from '../schema/describe-type.ts';
import { takeRows } from '../schema/take.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { dataFileStyles } from '../table/partitioning/data-file-style.ts';
import { hasPartitionText } from '../table/partitioning/partition-text.ts';
import type { StagedFile, StoredLayout, WriteSpec } from '../table/staged-file.ts';
import { type RowGroup, rowGroups } from './row-groups.ts';

export interface WriteDataFilesTask {
  /** Rows with all columns of `spec.schema`. */
  readonly batch: ColumnBatch;
  readonly spec: WriteSpec;
  /** Rooted at the table's location. */
  readonly store: ObjectStore;
  /** Unique for ever: file names are made of it, and no file is ever written twice. */
  readonly fileNameStem: string;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  readonly signal?: AbortSignal | undefined;
}

export interface WrittenDataFiles {
  readonly files: readonly StagedFile[];
  readonly encodeMs: number;
  /** Time spent waiting for the store, beyond what encoding covered. */
  readonly storeMs: number;
}

const maxPutsInFlight = 4;

/**
 * Writes the rows as data files, one per partition, none for zero rows. When it resolves all files are durable and nothing refers to
 * them; when it rejects some may exist, and only vacuum removes them.
 *
 * @throws ServiceError `TOO_MANY_PARTITIONS`, `PARTITION_VALUE_MISSING`, `PARTITION_TYPE_UNSUPPORTED`, `PARTITION_COLUMNS_ALL`, `STAGED_FILE_INCOMPLETE`
 * (kind unavailable), and what codec and store throw.
 */
export async function writeDataFiles(task: WriteDataFilesTask): Promise<WrittenDataFiles> {
  refuseUnsupported(task.spec);
  const { batch, clock } = task;
  const files: StagedFile[] = [];
  let [encodeMs, storeMs] = [0, 0];
  const groups = rowGroups(batch, task.spec);
  for (let first = 0; first < groups.length; first += maxPutsInFlight) {
    const puts: Promise<StagedFile>[] = [];
    for (const [position, group] of groups.slice(first, first + maxPutsInFlight).entries()) {
      const startedMs = clock.monotonicMs();
      const encoded = await encodeFile(task, group, first + position).catch((error: unknown) => abandon(puts, error));
      encodeMs += clock.monotonicMs() - startedMs;
      const put = storeFile(task, encoded);
      // A put may fail while the next file is encoded, before anybody waits for it.
      put.catch(() => undefined);
      puts.push(put);
    }
    const waitingMs = clock.monotonicMs();
    files.push(...(await settled(puts)));
    storeMs += clock.monotonicMs() - waitingMs;
  }
  return { files, encodeMs, storeMs };
}

interface EncodedFile {
  readonly bytes: Uint8Array;
  readonly file: Omit<StagedFile, 'modifiedMs'>;
}

async function encodeFile(task: WriteDataFilesTask, group: RowGroup, fileIndex: number): Promise<EncodedFile> {
  throwIfAborted(task.signal);
  const { batch, spec } = task;
  const { rows, partitionValues, partition } = group;
  assert(rows.length > 0, 'a partition without rows');
  const stored = spec.partitionColumnsInFile ? batch : withoutColumns(batch, spec.partitionColumns);
  const part = rows.length === batch.rowCount ? stored : takeRows(stored, rows);
  const named = { ...part, schema: withColumnIds(part.schema, spec.columnIds) };
  const bytes = declareUuids(await writeParquet([named], { compression: spec.compression }), part.schema);
  const statistics = columnStatistics(part, { indexedColumns: spec.statisticsColumns, exact: spec.exactStatistics });
  const layout = spec.withLayout === true ? storedLayout(bytes, part.schema) : undefined;
  const path = group.pathOf(dataFileStyles[spec.partitionPathStyle].fileName(spec, task.fileNameStem, fileIndex));
  return { bytes, file: { path, partitionValues, partition, sizeBytes: bytes.length, rowCount: part.rowCount, statistics, layout } };
}

async function storeFile(task: WriteDataFilesTask, { bytes, file }: EncodedFile): Promise<StagedFile> {
  const { store, failpoint, signal } = task;
  await failpoint('before-data-file');
  await store.put(file.path, bytes, signal);
  await failpoint('within-data-files');
  const info = await store.head(file.path, signal);
  if (info?.sizeBytes === bytes.length) return { ...file, modifiedMs: Math.trunc(info.modifiedMs) };
  throw serviceError.unavailable(
    'STAGED_FILE_INCOMPLETE',
    `${store.root}: file "${file.path}" has ${info?.sizeBytes ?? 'no'} bytes after ${bytes.length} were written`,
    { hint: 'check the storage (full disk, quota); nothing refers to the file' },
  );
}

/** All results, or the first error once every put has come to its end: no write goes on behind the caller's back. */
async function settled(puts: readonly Promise<StagedFile>[]): Promise<StagedFile[]> {
  const results = await Promise.allSettled(puts);
  return results.map((result) => {
    if (result.status === 'fulfilled') return result.value;
    throw result.reason;
  });
}

async function abandon(puts: readonly Promise<StagedFile>[], error: unknown): Promise<never> {
  await Promise.allSettled(puts);
  throw error;
}

function withoutColumns(batch: ColumnBatch, names: readonly string[]): ColumnBatch {
  if (names.length === 0) return batch;
  const kept = [...batch.schema.fields.entries()].filter(([, field]) => !names.includes(field.name));
  const columns = kept.map(([, field]) => columnNamed(batch, field.name));
  return { schema: { kind: 'struct', fields: kept.map(([, field]) => field) }, rowCount: batch.rowCount, columns };
}

function columnNamed(batch: ColumnBatch, name: string): Column {
  const column = batch.columns[batch.schema.fields.findIndex((field) => field.name === name)];
  assert(column !== undefined, `the batch has no column "${name}"`);
  return column;
}

function fieldNamed(fields: readonly Field[], name: string): Field | undefined {
  return fields.find((field) => field.name === name);
}

function refuseUnsupported(spec: WriteSpec): void {
  for (const name of spec.partitionColumns) {
    const field = fieldNamed(spec.schema.fields, name);
    assert(field !== undefined, `partition column "${name}" is not in the schema`);
    if (hasPartitionText(field.type)) continue;
    throw serviceError.unsupported('PARTITION_TYPE_UNSUPPORTED', `partition column "${name}" has type ${describeType(field.type)}`, {
      hint: 'partition by a column of text, number, boolean, date or timestamp type',
    });
  }
  if (spec.partitionColumns.length > 0 && spec.partitionColumns.length === spec.schema.fields.length) {
    throw serviceError.unsupported(
      'PARTITION_COLUMNS_ALL',
      `all ${spec.schema.fields.length} columns are partition columns: data files would be empty`,
      { hint: 'keep at least one column that does not partition the table' },
    );
  }
}

/** Where a written file has its row groups and how large its columns are. */
function storedLayout(bytes: Uint8Array, schema: StructType): StoredLayout {
  const leaves = schema.fields.flatMap(leavesOf);
  const { offsets, columnBytes } = rowGroupLayout(bytes);
  assert(
    columnBytes.length === 0 || columnBytes.length === leaves.length,
    `a file of ${leaves.length} leaf columns has ${columnBytes.length}`,
  );
  const sizes = leaves.flatMap(({ id }, index) => (id === undefined ? [] : [[id, columnBytes[index] ?? 0] as const]));
  return { splitOffsets: offsets, columnBytes: new Map(sizes) };
}

/** The file with its UUID columns declared as such, which the library has no word for. Columns without an id stay bytes. */
function declareUuids(bytes: Uint8Array, schema: StructType): Uint8Array {
  const uuids = schema.fields
    .flatMap(leavesOf)
    .flatMap(({ id, type }) => (id !== undefined && type.kind === 'string' && type.format === 'uuid' ? [id] : []));
  return uuids.length === 0 ? bytes : annotateUuids(bytes, new Set(uuids));
}

interface Leaf {
  readonly id: number | undefined;
  readonly type: DataType;
}

function leavesOf({ type, id }: Pick<Field, 'type' | 'id'>): readonly Leaf[] {
  switch (type.kind) {
    case 'struct':
      return type.fields.flatMap(leavesOf);
    case 'list':
      return leavesOf({ type: type.element, id: type.elementId });
    case 'map':
      return [...leavesOf({ type: type.key, id: type.keyId }), ...leavesOf({ type: type.value, id: type.valueId })];
    default:
      return [{ id, type }];
  }
}
