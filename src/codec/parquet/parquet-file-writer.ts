import { RecordBatchStreamWriter } from 'apache-arrow';
import type { RecordBatch } from 'parquet-wasm';
import { assert } from '../../base/assert.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import type { StructType } from '../../schema/types.ts';
import { toArrowBatch } from './arrow-data.ts';
import { toArrowSchema } from './arrow-schema.ts';
import { writerProperties } from './encoding-policy.ts';
import { insideParquet, loadParquet, parquetFailure } from './wasm.ts';
import { type WriteParquetOptions, writeParquet } from './write-parquet.ts';

const refused = { code: 'PARQUET_WRITE_REFUSED', kind: 'invalid' } as const;

/**
 * One Parquet file from any number of batches, for rewriting more rows than memory should hold: beside the finished bytes only the open
 * row group is kept. Calls must not overlap. After an error the writer is of no use; what it wrote is discarded.
 */
export class ParquetFileWriter {
  readonly #schema: StructType;
  readonly #options: WriteParquetOptions;
  #open: OpenFile | undefined;

  constructor(schema: StructType, options: WriteParquetOptions) {
    this.#schema = schema;
    this.#options = options;
  }

  /** Appends the rows of a batch, which has the writer's schema. Errors as `writeParquet`. */
  async append(batch: ColumnBatch): Promise<void> {
    if (batch.rowCount === 0) return;
    const parquet = await loadParquet();
    const ipc = RecordBatchStreamWriter.writeAll([toArrowBatch(batch, toArrowSchema(this.#schema))]).toUint8Array(true);
    const rows = insideParquet(refused, () => {
      const table = parquet.Table.fromIPCStream(ipc);
      const imported = table.recordBatch(0);
      table.free();
      assert(imported !== undefined, 'the library lost a record batch');
      return imported;
    });
    this.#open ??= openFile((stream) => parquet.transformParquetStream(stream, writerProperties(parquet, batch, this.#options)));
    // A writer that failed stops taking rows, and waiting for it alone would never end.
    await Promise.race([this.#open.rows.write(rows), this.#open.failed]);
  }

  /** Ends the file. A file without rows is one too. */
  async finish(): Promise<Uint8Array> {
    const open = this.#open;
    if (open === undefined) return await writeParquet([concatBatches(this.#schema, [])], this.#options);
    await Promise.race([open.rows.close(), open.failed]);
    return await open.bytes;
  }
}

interface OpenFile {
  readonly rows: WritableStreamDefaultWriter<RecordBatch>;
  readonly bytes: Promise<Uint8Array>;
  /** Never resolves; rejects when encoding fails. */
  readonly failed: Promise<never>;
}

function openFile(encode: (rows: ReadableStream<RecordBatch>) => Promise<ReadableStream>): OpenFile {
  const { readable, writable } = new TransformStream<RecordBatch, RecordBatch>();
  const bytes = collect(encode, readable);
  const failed = new Promise<never>((_, reject) => {
    bytes.catch(reject);
  });
  // Whoever appends or finishes sees the failure; between calls nobody waits for it.
  failed.catch(() => undefined);
  return { rows: writable.getWriter(), bytes, failed };
}

async function collect(
  encode: (rows: ReadableStream<RecordBatch>) => Promise<ReadableStream>,
  rows: ReadableStream<RecordBatch>,
): Promise<Uint8Array> {
  try {
    const parts: Uint8Array[] = [];
    for await (const part of (await encode(rows)) as ReadableStream<Uint8Array>) parts.push(part);
    return Buffer.concat(parts);
  } catch (cause) {
    throw parquetFailure(refused, cause);
  }
}
