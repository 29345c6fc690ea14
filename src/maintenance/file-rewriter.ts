import { throwIfAborted } from '../base/abort.ts';
import { serviceError } from '../base/errors.ts';
import { ParquetFileWriter } from '../codec/parquet/parquet-file-writer.ts';
import { readParquet } from '../codec/parquet/read-parquet.ts';
import { columnStatistics } from '../codec/statistics.ts';
import { withColumnIds } from '../schema/column-ids.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { concatBatches } from '../schema/concat.ts';
import { mergeStatistics, type PartialStatistics } from '../schema/merge-statistics.ts';
import type { StructType } from '../schema/types.ts';
import type { ObjectStore, OpenObjectStore } from '../storage/object-store.ts';
import type { FileRewriter, FileToRewrite, RewriteTask } from '../table/operations.ts';
import type { StagedFile, WriteSpec } from '../table/staged-file.ts';

/** A group with more bytes than this is refused: the output is held in memory until it is stored. */
export const maxRewriteBytes: number = 1 << 30;

/**
 * Rewrites a group in this thread: reads the inputs one after the other, projects each to the table's columns (absent ones are null), and
 * writes all rows in order as one file whose statistics come from the rows. Memory holds one input's rows and the open row group, beside
 * the output's bytes. Safe to repeat: the output path is the caller's, and an output that was written twice holds the same rows.
 */
export class ParquetFileRewriter implements FileRewriter {
  readonly #openStore: OpenObjectStore;

  constructor(options: { readonly openStore: OpenObjectStore }) {
    this.#openStore = options.openStore;
  }

  /**
   * @throws ServiceError `STORAGE_NOT_FOUND` when an input is gone, `REWRITE_TOO_LARGE` (invalid), `REWRITE_ROWS_DIFFER` (corrupt) when an
   * input does not hold the rows the log promises, and what codec and store throw. No referenced file is ever touched.
   */
  async rewrite(task: RewriteTask, signal?: AbortSignal): Promise<StagedFile> {
    refuseTooLarge(task);
    const store = this.#openStore(task.spec.location);
    const schema = fileSchema(task.spec);
    const writer = new ParquetFileWriter(withColumnIds(schema, task.spec.columnIds), { compression: task.spec.compression });
    let statistics: PartialStatistics = { rowCount: 0, columns: columnStatistics(concatBatches(schema, []), { indexedColumns: 0 }) };
    for (const input of task.group.inputs) {
      throwIfAborted(signal);
      for (const batch of await readInput(store, input, schema, signal)) {
        await writer.append(batch);
        const columns = columnStatistics(batch, { indexedColumns: task.spec.statisticsColumns });
        statistics = mergeStatistics(statistics, { rowCount: batch.rowCount, columns });
      }
    }
    const bytes = await writer.finish();
    throwIfAborted(signal);
    await store.put(task.outputPath, bytes, signal);
    return {
      path: task.outputPath,
      partitionValues: task.group.partitionValues,
      sizeBytes: bytes.length,
      rowCount: statistics.rowCount,
      modifiedMs: await storedAt(store, task.outputPath, bytes.length, signal),
      statistics: statistics.columns,
    };
  }
}

function fileSchema(spec: WriteSpec): StructType {
  const inFile = spec.schema.fields.filter((field) => spec.partitionColumnsInFile || !spec.partitionColumns.includes(field.name));
  return { kind: 'struct', fields: inFile };
}

async function readInput(
  store: ObjectStore,
  input: FileToRewrite,
  schema: StructType,
  signal: AbortSignal | undefined,
): Promise<readonly ColumnBatch[]> {
  const { batches } = await readParquet(await store.read(input.path, signal), { schema });
  const found = batches.reduce((sum, batch) => sum + batch.rowCount, 0);
  if (input.rowCount !== undefined && input.rowCount !== found) {
    throw serviceError.corrupt(
      'REWRITE_ROWS_DIFFER',
      `${store.root}: file "${input.path}" holds ${found} rows, the log says ${input.rowCount}`,
      { hint: 'the file or its statistics are damaged; compare with another reader before anything rewrites it' },
    );
  }
  return batches;
}

/** The storage time of the file; also proof that all of it arrived before anything refers to it. */
async function storedAt(store: ObjectStore, path: string, sizeBytes: number, signal: AbortSignal | undefined): Promise<number> {
  const stored = await store.head(path, signal);
  if (stored?.sizeBytes === sizeBytes) return stored.modifiedMs;
  throw serviceError.unavailable(
    'STAGED_FILE_INCOMPLETE',
    `${store.root}: file "${path}" has ${stored?.sizeBytes ?? 'no'} bytes after ${sizeBytes} were written`,
    { hint: 'check the storage (full disk, quota); nothing refers to the file' },
  );
}

function refuseTooLarge(task: RewriteTask): void {
  const bytes = task.group.inputs.reduce((sum, input) => sum + input.sizeBytes, 0);
  if (bytes <= maxRewriteBytes) return;
  throw serviceError.invalid(
    'REWRITE_TOO_LARGE',
    `rewriting ${task.group.inputs.length} files of ${bytes} bytes into one exceeds ${maxRewriteBytes} bytes`,
    { hint: 'lower the target file size of compaction' },
  );
}
