import { throwIfAborted } from '../../base/abort.ts';
import { textAt } from '../../codec/rows.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { type ColumnBatch, isValid } from '../../schema/columns.ts';
import { sliceRows } from '../../schema/slice.ts';
import type { Relation } from '../../table/relation.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { BatchMetrics } from './batch-metrics.ts';
import { type DataFormat, type FileCompression, fileCompression } from './compression.ts';
import { discardFiles } from './discard-files.ts';
import { fileMetrics } from './file-metrics.ts';
import { type RowFileWriter, rowFileWriter } from './row-file-writer.ts';
import { contentFile, type FileNames, fileNames, type Staging } from './staging.ts';

/** A file's bytes are in memory until it is written. */
const maxFileBytes: number = 128 << 20;

/** Files that this process encodes, one at a time, from rows that the engine orders by partition. */
export async function stageByRows(staging: Staging, format: DataFormat): Promise<readonly ContentFile[]> {
  const files = new RowFiles(staging, format);
  const engine = await staging.context.engine();
  try {
    for await (const batch of engine.read(orderedRows(staging), staging.signal)) {
      throwIfAborted(staging.signal);
      for (const part of partitionRuns(batch, staging.plan.storedSchema.fields.length)) await files.add(part.texts, part.rows);
    }
    return await files.finish();
  } catch (error) {
    await discardFiles(staging.context, files.staged);
    throw error;
  }
}

function orderedRows({ plan }: Staging): Relation {
  const keys = [...plan.partitionBy.map(quoteName), ...plan.orderBy];
  if (keys.length === 0) return plan.rows;
  return { sql: `SELECT * FROM (${plan.rows.sql}) ORDER BY ${keys.join(', ')}`, schema: plan.rows.schema };
}

/** The rows of a batch by runs of one partition, without the columns that tell it. */
function* partitionRuns(
  batch: ColumnBatch,
  storedCount: number,
): Generator<{ readonly texts: readonly (string | undefined)[]; readonly rows: ColumnBatch }> {
  const told = batch.columns.slice(storedCount);
  const stored: ColumnBatch = {
    schema: { kind: 'struct', fields: batch.schema.fields.slice(0, storedCount) },
    rowCount: batch.rowCount,
    columns: batch.columns.slice(0, storedCount),
  };
  const textsAt = (row: number): readonly (string | undefined)[] =>
    told.map((column) => (column.layout === 'bytes' && isValid(column, row) ? textAt(column, row) : undefined));
  let from = 0;
  for (let row = 1; row <= batch.rowCount; row++) {
    if (row < batch.rowCount && (told.length === 0 || sameTexts(textsAt(from), textsAt(row)))) continue;
    yield { texts: textsAt(from), rows: sliceRows(stored, { from, until: row }) };
    from = row;
  }
}

function sameTexts(left: readonly (string | undefined)[], right: readonly (string | undefined)[]): boolean {
  return left.every((text, index) => text === right[index]);
}

interface OpenFile {
  readonly texts: readonly (string | undefined)[];
  readonly writer: RowFileWriter;
  readonly metrics: BatchMetrics;
}

class RowFiles {
  readonly staged: ContentFile[] = [];
  readonly #staging: Staging;
  readonly #compression: FileCompression;
  readonly #names: FileNames;
  readonly #targetBytes: number;
  #open: OpenFile | undefined;

  constructor(staging: Staging, format: DataFormat) {
    this.#staging = staging;
    this.#compression = fileCompression(format, staging.state.metadata.properties, 'data');
    this.#names = fileNames(staging.context, staging.state, staging.plan.spec, { format, content: 'data' });
    this.#targetBytes = Math.min(staging.targetFileBytes, maxFileBytes);
  }

  async add(texts: readonly (string | undefined)[], rows: ColumnBatch): Promise<void> {
    if (this.#open !== undefined && (!sameTexts(this.#open.texts, texts) || this.#open.writer.sizeBytes >= this.#targetBytes)) {
      await this.#close(this.#open);
    }
    this.#open ??= this.#begin(texts);
    this.#open.metrics.add(rows);
    await this.#open.writer.append(rows);
  }

  async finish(): Promise<readonly ContentFile[]> {
    if (this.#open !== undefined) await this.#close(this.#open);
    return this.staged;
  }

  #begin(texts: readonly (string | undefined)[]): OpenFile {
    const { storedSchema } = this.#staging.plan;
    const writer = rowFileWriter(storedSchema, this.#compression, this.#staging.context.ids);
    return { texts, writer, metrics: new BatchMetrics(storedSchema) };
  }

  async #close({ texts, writer, metrics }: OpenFile): Promise<void> {
    this.#open = undefined;
    const { context, plan, signal } = this.#staging;
    const { bytes, splitOffsets, columnBytes } = await writer.finish();
    const partition = plan.tupleOf(texts);
    const path = this.#names.location(this.#names.next(partition));
    const file = contentFile({
      content: 'data',
      path,
      format: this.#compression.format,
      specId: plan.spec.specId,
      partition,
      recordCount: metrics.rowCount,
      fileSizeBytes: bytes.length,
      metrics: fileMetrics(plan.schema, plan.modes, { rowCount: metrics.rowCount, leaves: metrics.finish(columnBytes) }),
      splitOffsets,
      sortOrderId: plan.sortOrder?.orderId ?? 0,
    });
    // A put that fails may still have written.
    this.staged.push(file);
    await context.files.put(path, bytes, signal);
  }
}
