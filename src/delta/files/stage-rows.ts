import { isServiceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import type { ParquetTarget, WrittenFile } from '../../engine/engine.ts';
import { parquetPlace } from '../../engine/write/parquet-place.ts';
import { rowTrackingFields } from '../../rows/change/row-tracking-fields.ts';
import type { Field } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { PartitionValues } from '../../table/staged-file.ts';
import type { AddFile, CdcFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { encodePath } from '../paths.ts';
import { rowTrackingColumnsOf } from '../row-tracking-columns.ts';
import { statsText } from '../stats-text.ts';
import { type FileLayout, fileLayout, namer, partitionValuesOf } from './file-layout.ts';
import { statisticsRule } from './statistics-rule.ts';

interface StageOptions {
  readonly dataChange: boolean;
  /** Default: one file for each partition, up to 1 GiB. */
  readonly targetFileBytes?: number | undefined;
  /** Each partition becomes one file, however large; with `samePartition` the rows keep their order. */
  readonly oneFile?: boolean | undefined;
  /** The partition of all rows, as the log spells it, when it is known beforehand. */
  readonly samePartition?: PartitionValues | undefined;
  readonly signal?: AbortSignal | undefined;
}

const defaultTargetFileBytes: number = 1 << 30;
const deletionsInFlight = 8;
const changeTypeField: Field = { name: '_change_type', type: { kind: 'string' }, nullable: false };

/**
 * Writes the rows (the snapshot's columns in order, read once) as data files that nothing refers to yet. They are checked already. Rows that
 * come from other files carry the columns of `movedRowColumns` behind their own, and the new files keep them. No file for no rows. When it rejects, nothing it wrote is left.
 *
 * @throws AnalysisException `INVALID_PARTITION_COLUMN_DATA_TYPE`; what the engine throws.
 */
export async function stageRows(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  rows: Relation,
  options: StageOptions,
): Promise<readonly AddFile[]> {
  const carried = rows.schema.fields.slice(snapshot.schema.fields.length);
  const kept = rowTrackingFields(rowTrackingColumnsOf(snapshot)).filter((field) => carried.some(({ name }) => name === field.name));
  const layout = fileLayout(snapshot, rows, kept, options.samePartition);
  const { signal } = options;
  const targetFileBytes = options.oneFile === true ? undefined : (options.targetFileBytes ?? defaultTargetFileBytes);
  const files = await write(context, snapshot, layout, { kind: 'part', targetFileBytes, signal });
  const rule = statisticsRule(snapshot);
  return files.map((file): AddFile => {
    const { sizeBytes, rowCount, statistics } = file;
    return {
      kind: 'add',
      path: encodePath(file.path),
      storedPath: file.path,
      partitionValues: partitionValuesOf(layout, file.partitionValues),
      sizeBytes,
      modifiedMs: Math.trunc(file.modifiedMs),
      dataChange: options.dataChange,
      stats: statsText({ rowCount, statistics }, layout.storedSchema, layout.partitionColumns, rule),
    };
  });
}

/** Writes change rows: the snapshot's columns, then `_change_type`. */
export async function stageChanges(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  rows: Relation,
  signal?: AbortSignal,
): Promise<readonly CdcFile[]> {
  const layout = fileLayout(snapshot, rows, [changeTypeField]);
  const files = await write(context, snapshot, layout, { kind: 'cdc', targetFileBytes: defaultTargetFileBytes, signal });
  return files.map(
    (file): CdcFile => ({
      kind: 'cdc',
      path: encodePath(file.path),
      storedPath: file.path,
      partitionValues: partitionValuesOf(layout, file.partitionValues),
      sizeBytes: file.sizeBytes,
    }),
  );
}

/** Deletes staged files of a transaction that certainly failed. Best effort: what stays behind falls to vacuum. */
export async function discardStaged(context: OperationContext, files: readonly { readonly storedPath: string }[]): Promise<void> {
  await mapBounded(files, deletionsInFlight, async (file) => {
    try {
      await context.store.delete(file.storedPath);
    } catch (error) {
      if (!isServiceError(error)) throw error;
    }
  });
}

async function write(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  layout: FileLayout,
  options: { readonly kind: 'part' | 'cdc'; readonly targetFileBytes?: number | undefined; readonly signal?: AbortSignal | undefined },
): Promise<readonly WrittenFile[]> {
  const engine = await context.engine();
  const compression = compressionOf(context, snapshot);
  const target: ParquetTarget = {
    ...parquetPlace(context.store),
    pathOf: namer(layout, { ids: context.ids, compression, kind: options.kind }),
    partitionBy: layout.partitionTexts,
    compression,
    storedSchema: layout.storedSchema,
    targetFileBytes: options.targetFileBytes,
  };
  return engine.writeParquet(layout.rows, target, options.signal);
}

/** The table's own codec, else what this process writes. */
function compressionOf(context: OperationContext, snapshot: DeltaSnapshot): ParquetTarget['compression'] {
  const { compression } = snapshot.settings;
  switch (compression) {
    case 'gzip':
    case 'lz4_raw':
    case 'brotli':
      return compression;
    case 'lz4':
    case 'lz4raw':
      return 'lz4_raw';
    case 'none':
      return 'uncompressed';
    default:
      return context.writeSpec(snapshot).compression;
  }
}
