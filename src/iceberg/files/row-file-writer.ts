import { serviceError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { AvroCodec } from '../../codec/avro/read-container.ts';
import { AvroRowWriter } from '../../codec/avro/write-avro-rows.ts';
import { type OrcCompression, writeOrcFile } from '../../codec/orc/write/write-orc.ts';
import { annotateUuids } from '../../codec/parquet/annotate-uuids.ts';
import { ParquetFileWriter } from '../../codec/parquet/parquet-file-writer.ts';
import { rowGroupLayout } from '../../codec/parquet/row-group-layout.ts';
import type { WriteParquetOptions } from '../../codec/parquet/write-parquet.ts';
import { columnBytes } from '../../schema/column-bytes.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { FileCompression } from './compression.ts';
import { RowQueue } from './row-queue.ts';

export interface FinishedFile {
  readonly bytes: Uint8Array;
  readonly splitOffsets: readonly number[] | undefined;
  /** Packed bytes of leaf columns by field id. */
  readonly columnBytes: ReadonlyMap<number, number> | undefined;
}

/** One data file written batch by batch in this process, its bytes in memory until it is finished. Calls must not overlap. */
export interface RowFileWriter {
  append(batch: ColumnBatch): Promise<void>;
  /** What the file has become so far, about. */
  readonly sizeBytes: number;
  finish(): Promise<FinishedFile>;
}

/** @param options.plainText as for `WriteParquetOptions`. */
export function rowFileWriter(
  schema: StructType,
  compression: FileCompression,
  ids: IdSource,
  options: { readonly plainText?: boolean } = {},
): RowFileWriter {
  switch (compression.format) {
    case 'avro':
      return new AvroFile(schema, compression.codec, compression.level, ids);
    case 'orc':
      return new OrcFile(schema, compression.codec);
    default:
      return new ParquetFile(schema, { compression: compression.codec, ...options });
  }
}

class AvroFile implements RowFileWriter {
  readonly #writer: AvroRowWriter;

  constructor(schema: StructType, codec: AvroCodec, level: number | undefined, ids: IdSource) {
    const sync = Uint8Array.from(Buffer.from(ids.uuid().replaceAll('-', ''), 'hex'));
    this.#writer = new AvroRowWriter({ schema, codec, level, sync });
  }

  get sizeBytes(): number {
    return this.#writer.sizeBytes;
  }

  append(batch: ColumnBatch): Promise<void> {
    return this.#writer.append(batch);
  }

  async finish(): Promise<FinishedFile> {
    return { bytes: await this.#writer.finish(), splitOffsets: undefined, columnBytes: undefined };
  }
}

// How much smaller files come out than rows in memory, about.
const packing = 3;

class OrcFile implements RowFileWriter {
  readonly #rows = new RowQueue();
  readonly #written: ReturnType<typeof writeOrcFile>;
  #memoryBytes = 0;

  constructor(schema: StructType, compression: OrcCompression) {
    this.#written = writeOrcFile(this.#rows.batches(), { schema, compression });
    // Whoever appends or finishes sees the failure.
    this.#written.catch((error: unknown) => {
      this.#rows.fail(error);
    });
  }

  get sizeBytes(): number {
    return this.#memoryBytes / packing;
  }

  append(batch: ColumnBatch): Promise<void> {
    this.#memoryBytes += batchBytes(batch);
    return this.#rows.put(batch);
  }

  async finish(): Promise<FinishedFile> {
    this.#rows.end();
    const { bytes, stripeOffsets, columnBytes } = await this.#written;
    return { bytes, splitOffsets: stripeOffsets, columnBytes };
  }
}

class ParquetFile implements RowFileWriter {
  readonly #schema: StructType;
  readonly #writer: ParquetFileWriter;
  #memoryBytes = 0;

  constructor(schema: StructType, options: WriteParquetOptions) {
    this.#schema = schema;
    this.#writer = new ParquetFileWriter(schema, options);
  }

  get sizeBytes(): number {
    return this.#memoryBytes / packing;
  }

  append(batch: ColumnBatch): Promise<void> {
    this.#memoryBytes += batchBytes(batch);
    return this.#writer.append({ ...batch, schema: this.#schema });
  }

  async finish(): Promise<FinishedFile> {
    const leaves = this.#schema.fields.flatMap(leafIds);
    const uuids = new Set(
      leaves.flatMap(({ id, type }) => (id !== undefined && type.kind === 'string' && type.format === 'uuid' ? [id] : [])),
    );
    const bytes = annotateUuids(await this.#writer.finish(), uuids);
    const { offsets, columnBytes } = rowGroupLayout(bytes);
    if (columnBytes.length > 0 && columnBytes.length !== leaves.length) {
      throw serviceError.internal('ASSERTION_FAILED', `a file of ${leaves.length} leaf columns has ${columnBytes.length}`);
    }
    const sizes = leaves.flatMap(({ id }, index) => (id === undefined ? [] : [[id, columnBytes[index] ?? 0] as const]));
    return { bytes, splitOffsets: offsets, columnBytes: new Map(sizes) };
  }
}

interface LeafId {
  readonly id: number | undefined;
  readonly type: DataType;
}

function leafIds(field: Pick<Field, 'type' | 'id'>): readonly LeafId[] {
  const inner = innerFields(field.type);
  if (inner.length > 0 || field.type.kind === 'struct') return inner.flatMap(leafIds);
  // The two parts of a variant have no ids of their own.
  return field.type.kind === 'variant'
    ? [
        { id: field.id, type: field.type },
        { id: undefined, type: field.type },
      ]
    : [{ id: field.id, type: field.type }];
}

/** Bytes that the rows take in memory, about. */
function batchBytes(batch: ColumnBatch): number {
  return batch.columns.reduce((sum, column) => sum + columnBytes(column), 0);
}
