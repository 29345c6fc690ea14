import { type ServiceError, serviceError } from '../../base/errors.ts';
import { readAvroRows } from '../../codec/avro/read-avro-rows.ts';
import { openOrcFile, streamOrcRows } from '../../codec/orc/read/read-orc.ts';
import { readParquet } from '../../codec/parquet/read-parquet.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { ContentFile, PartitionValue } from '../metadata/content-file.ts';
import { rowLineageIds, rowLineageNames } from '../metadata/reserved-ids.ts';
import { constantColumn, valueOfPartition, withDefaults } from './constant-columns.ts';
import { FileLayouts } from './file-layouts.ts';
import { type FileSource, missingFile, readNamed } from './manifests.ts';
import type { NameToId } from './name-to-id.ts';
import { fileSchemaOf } from './parquet-footers.ts';

/** How the rows of one file become rows of the table. */
export interface OtherRowsRequest {
  readonly file: Pick<ContentFile, 'path' | 'format' | 'fileSizeBytes' | 'specId'>;
  readonly schema: StructType;
  readonly nameToId: NameToId | undefined;
  /** Values of the identity partition fields by the id of their column, for files that lack the column. */
  readonly partition: ReadonlyMap<number, PartitionValue>;
  /** Reads the row lineage columns too, when the file has them. */
  readonly withLineage: boolean;
}

/** The rows of a file that the engine does not read itself, in the order of the file, every column of the schema in it. */
export async function* otherRows(
  source: FileSource,
  request: OtherRowsRequest,
  signal?: AbortSignal,
): AsyncGenerator<ColumnBatch, void, undefined> {
  const { schema, withLineage } = request;
  const read: StructType = withLineage ? { kind: 'struct', fields: [...schema.fields, ...lineageFields] } : schema;
  const absent = new Set<number>();
  const batches = batchesOf(source, request, { read, absent, signal });
  for await (const batch of batches) {
    signal?.throwIfAborted();
    yield completed(batch, request, absent);
  }
}

const lineageFields: readonly Field[] = [
  { name: rowLineageNames.rowId, type: { kind: 'long' }, nullable: true, id: rowLineageIds.rowId },
  { name: rowLineageNames.lastUpdatedSequenceNumber, type: { kind: 'long' }, nullable: true, id: rowLineageIds.lastUpdatedSequenceNumber },
];

interface Reading {
  readonly read: StructType;
  /** Filled before the first batch. */
  readonly absent: Set<number>;
  readonly signal: AbortSignal | undefined;
}

function batchesOf(source: FileSource, request: OtherRowsRequest, reading: Reading): AsyncGenerator<ColumnBatch, void, undefined> {
  switch (request.file.format) {
    case 'avro':
      return avroBatches(source, request, reading);
    case 'orc':
      return orcBatches(source, request, reading);
    default:
      return parquetBatches(source, request, reading);
  }
}

/** For instants of nanoseconds, which the engine would cut to microseconds. */
async function* parquetBatches(
  source: FileSource,
  request: OtherRowsRequest,
  reading: Reading,
): AsyncGenerator<ColumnBatch, void, undefined> {
  const { file } = request;
  const { read, absent, signal } = reading;
  const { storedColumns } = new FileLayouts(read, request.nameToId, { byName: true }).of(
    await fileSchemaOf(source, file, signal),
    file.specId,
    [],
  );
  const stored = new Map(storedColumns.map((column, index) => [column.field.id, index]));
  for (const { id } of read.fields) if (id !== undefined && !stored.has(id)) absent.add(id);
  const fields = storedColumns.map(
    ({ match, storedType }): Field => ({ name: match.by === 'name' ? match.name : '', type: storedType, nullable: true }),
  );
  const { batches } = await readParquet(await readNamed(source, 'data file', file.path, signal), { schema: { kind: 'struct', fields } });
  for (const { rowCount, columns } of batches) {
    const inOrder = read.fields.map(({ id, type }) => columns[stored.get(id) ?? -1] ?? constantColumn(type, undefined, rowCount));
    yield { schema: read, rowCount, columns: inOrder };
  }
}

async function* avroBatches(source: FileSource, request: OtherRowsRequest, reading: Reading): AsyncGenerator<ColumnBatch, void, undefined> {
  const { path } = request.file;
  const bytes = await readNamed(source, 'data file', path, reading.signal);
  const rows = readAvroRows(bytes, { name: path, schema: reading.read, nameToId: request.nameToId });
  for (const id of rows.absentFieldIds) reading.absent.add(id);
  yield* rows.batches;
}

async function* orcBatches(source: FileSource, request: OtherRowsRequest, reading: Reading): AsyncGenerator<ColumnBatch, void, undefined> {
  const { path } = request.file;
  const { signal, absent } = reading;
  const head = await source.files.head(path, signal);
  if (head === undefined) throw missingFile(source, 'data file', path, notThere(path));
  const file = await openOrcFile({
    name: path,
    byteCount: head.sizeBytes,
    read: (range) => source.files.readRange(path, range, signal),
  });
  yield* streamOrcRows(file, { schema: reading.read, nameToId: request.nameToId, absent: (id) => absent.add(id) });
}

function completed(batch: ColumnBatch, request: OtherRowsRequest, absent: ReadonlySet<number>): ColumnBatch {
  const { schema, partition, withLineage } = request;
  const columns: Column[] = schema.fields.map((field, index) => {
    const { id } = field;
    if (id !== undefined && absent.has(id) && partition.has(id)) {
      return constantColumn(field.type, valueOfPartition(field.type, partition.get(id)), batch.rowCount);
    }
    const column = batch.columns[index] ?? constantColumn(field.type, undefined, batch.rowCount);
    return withDefaults(column, field, absent);
  });
  const lineage = withLineage && !(absent.has(rowLineageIds.rowId) && absent.has(rowLineageIds.lastUpdatedSequenceNumber));
  if (!lineage) return { schema, rowCount: batch.rowCount, columns };
  const read: StructType = { kind: 'struct', fields: [...schema.fields, ...lineageFields] };
  return { schema: read, rowCount: batch.rowCount, columns: [...columns, ...batch.columns.slice(schema.fields.length)] };
}

function notThere(path: string): ServiceError {
  return serviceError.notFound('STORAGE_NOT_FOUND', path);
}
