import { AnalysisException } from '../../../base/analysis-exception.ts';
import { assert } from '../../../base/assert.ts';
import { isServiceError } from '../../../base/errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import { withRowTrackingFields } from '../../../rows/change/row-tracking-fields.ts';
import type { FileRewriter, RewriteGroup } from '../../../table/operations.ts';
import type { Relation } from '../../../table/relation.ts';
import type { PartitionValues, WriteSpec } from '../../../table/staged-file.ts';
import { type AddFile, physicalRows } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { discardStaged, stageRows } from '../../files/stage-rows.ts';
import { movedRowColumns } from '../../row-tracking-columns.ts';
import { fileScanOf } from '../../scan/file-scan.ts';
import type { OperationContext } from '../operation-context.ts';
import { concatenateBin } from './concatenate-bin.ts';
import type { Bin, RewriteBin } from './rewrite-bins.ts';

export interface EngineRewriteOptions {
  readonly engine: Engine;
  /** Takes row groups over as they are where that gives a good file, in place of encoding rows anew; not together with `divide`. */
  readonly concatenate?: boolean | undefined;
  /** Gives the rows of a bin an order and divides them: a file for each part. Default: one file, in the order of the bin's files. */
  readonly divide?:
    | ((rows: Relation, bin: Bin, signal: AbortSignal | undefined) => AsyncIterable<Relation> | Iterable<Relation>)
    | undefined;
}

/**
 * Rewrites through the query engine: rows stream from the files to the new ones within the engine's memory. With `concatenate`, bins whose
 * row groups can be taken over as they are do not go through it (see `concatenateBin`). Rows keep their row ids and row commit versions where
 * the table tracks rows.
 *
 * @throws AnalysisException what `movedRowColumns` throws.
 */
export function engineRewriter(context: OperationContext, base: DeltaSnapshot, options: EngineRewriteOptions): RewriteBin {
  const tracked = movedRowColumns(base, context.name);
  const { engine, divide } = options;
  return async (bin, number, signal) => {
    const samePartition = partitionOf(bin);
    // Row groups taken over as they are know nothing of ids that follow from the file.
    if (options.concatenate === true && tracked === undefined) {
      const file = await concatenateBin(context, base, bin, { number, partitionValues: samePartition, signal });
      if (file !== undefined) return [file];
    }
    const staging = { dataChange: false, oneFile: true, samePartition, signal };
    const scan = await engine.scan(fileScanOf(context, base, bin), { withRowTracking: tracked !== undefined }, signal);
    const rows: Relation = { sql: scan.sql, schema: withRowTrackingFields(scan.schema, tracked) };
    const staged: AddFile[] = [];
    try {
      if (divide === undefined) return await stageRows(context, base, rows, staging);
      for await (const part of divide(rows, bin, signal)) staged.push(...(await stageRows(context, base, part, staging)));
      return staged;
    } catch (error) {
      await discardStaged(context, staged);
      throw error;
    } finally {
      await scan.dispose();
    }
  };
}

/** The partition of the bin's files; values that mean the same may be spelled differently in others of them. */
function partitionOf(bin: Bin): PartitionValues {
  const values = Object.entries(bin[0]?.partitionValues ?? {});
  return Object.fromEntries(values.map(([column, text]) => [column, text === '' ? undefined : text]));
}

/**
 * Rewrites through the rewriter of files in an object store, where there is no engine. Such bins have no deletion vectors.
 */
export function storeRewriter(context: OperationContext, base: DeltaSnapshot, rewriter: FileRewriter): RewriteBin {
  const spec = context.writeSpec(base);
  return async (bin, number, signal) => {
    assert(
      bin.every((file) => file.deletionVector === undefined),
      'files with deletion vectors are rewritten by the engine',
    );
    const group: RewriteGroup = {
      partitionValues: bin[0]?.partitionValues ?? {},
      inputs: bin.map((file) => ({ path: file.storedPath, sizeBytes: file.sizeBytes, rowCount: physicalRows(file.stats) })),
    };
    const outputPath = outputPathOf(group, spec, { number, id: context.ids.uuid() });
    try {
      return [context.addOf(await rewriter.rewrite({ spec, group, outputPath }, signal), base, { dataChange: false })];
    } catch (error) {
      // What was half written is referenced by nothing; it would fall to vacuum otherwise.
      await context.store.delete(outputPath).catch((failure: unknown) => {
        if (!isServiceError(failure)) throw failure;
      });
      throw error;
    }
  };
}

/** The engine, where there is one. */
export async function engineFor(context: OperationContext): Promise<Engine | undefined> {
  try {
    return await context.engine();
  } catch (error) {
    if (error instanceof AnalysisException && error.errorClass === 'ENGINE_NOT_AVAILABLE') return undefined;
    throw error;
  }
}

/** Where a group's output goes: beside its inputs, under a name nobody has used. */
function outputPathOf(group: RewriteGroup, spec: WriteSpec, file: { readonly number: number; readonly id: string }): string {
  const beside = group.inputs[0]?.path ?? '';
  const folder = beside.slice(0, beside.lastIndexOf('/') + 1);
  const codec = spec.compression === 'uncompressed' ? '' : `.${spec.compression}`;
  return `${folder}part-${String(file.number).padStart(5, '0')}-${file.id}.c000${codec}.parquet`;
}
