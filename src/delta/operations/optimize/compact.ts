import type { Engine } from '../../../engine/engine.ts';
import { orderedParts } from '../../../rows/order/ordered-parts.ts';
import { sortedBy } from '../../../rows/order/sorted-by.ts';
import { zOrdered } from '../../../rows/order/z-order.ts';
import { keyColumnsOf } from '../../../table/keyed.ts';
import type { CompactionPlan, CompactionResult, FileRewriter, RewriteGroup } from '../../../table/operations.ts';
import type { AddFile } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { checkPlainlyReadable, checkRowsWritable, checkWritable } from '../../table-features.ts';
import { asCubes, clusteredBy, clusterNames } from '../clustered-files.ts';
import type { OperationContext } from '../operation-context.ts';
import { type EngineRewriteOptions, engineFor, engineRewriter, storeRewriter } from './bin-rewriters.ts';
import { marksByKey } from './carry-marks.ts';
import { optimizeParameters } from './optimize-parameters.ts';
import { type Bin, type RewriteBin, rewriteBins } from './rewrite-bins.ts';
import { totalBytes } from './rewrite-metrics.ts';

const untouched = { version: undefined, filesRemoved: 0, filesAdded: 0, bytesRemoved: 0, bytesAdded: 0 } as const;

/**
 * Rewrites the plan's groups and commits them in one version with the same rows before and after (see `rewriteBins`): the planned form of
 * OPTIMIZE that maintenance uses, with the plan's own measure of which files are worth it. `rewriter` does the work for tables whose files
 * the engine cannot open. `conflicted`: no group could be committed.
 *
 * @throws ServiceError what `rewriteBins` and the protocol check throw.
 */
export async function compact(
  context: OperationContext,
  rewriter: FileRewriter,
  plan: CompactionPlan,
  signal?: AbortSignal,
): Promise<CompactionResult> {
  if (plan.groups.length === 0) return { outcome: 'nothing-to-do', ...untouched };
  const base = await context.refresh(signal);
  const engine = await engineFor(context);
  const parts = new Map<Bin, number>();
  const rewrite = rewriterFor(context, base, { engine, rewriter, partsOf: (bin) => parts.get(bin) ?? 1 });
  const readable = [...base.files()].filter((file) => engine !== undefined || file.deletionVector === undefined);
  const live = new Map(readable.map((file) => [file.storedPath, file]));
  const bins = plan.groups.flatMap((group) => {
    const inputs = liveInputs(live, group);
    if (inputs === undefined) return [];
    parts.set(inputs, group.parts ?? 1);
    return [inputs];
  });
  if (bins.length === 0) return { outcome: 'conflicted', ...untouched };
  const columns = clusteredBy(base);
  const outcome = await rewriteBins(
    context,
    {
      base,
      bins,
      rewrite,
      carry: engine === undefined ? undefined : marksByKey(context, engine),
      // One group after the other: ingest of the same process must not starve.
      concurrency: 1,
      operation: 'OPTIMIZE',
      operationParameters: optimizeParameters(columns.length === 0 ? {} : { clusterBy: clusterNames(columns) }),
    },
    signal,
  );
  if (outcome.kind === 'conflicted') return { outcome: 'conflicted', ...untouched };
  const inputs = outcome.bins.flatMap((bin) => bin.inputs);
  const outputs = outcome.bins.flatMap((bin) => bin.outputs);
  return {
    outcome: 'committed',
    version: outcome.version,
    filesRemoved: inputs.length,
    filesAdded: outputs.length,
    bytesRemoved: totalBytes(inputs),
    bytesAdded: totalBytes(outputs),
  };
}

function rewriterFor(
  context: OperationContext,
  base: DeltaSnapshot,
  {
    engine,
    rewriter,
    partsOf,
  }: { readonly engine: Engine | undefined; readonly rewriter: FileRewriter; readonly partsOf: (bin: Bin) => number },
): RewriteBin {
  if (engine === undefined) {
    checkWritable(base.protocol, base.metadata, base.schema, context.name);
    checkPlainlyReadable(base.protocol, base.metadata, context.name);
    return storeRewriter(context, base, rewriter);
  }
  checkRowsWritable(base.protocol, base.metadata, context.name);
  const columns = clusteredBy(base);
  const keys = keyColumnsOf(base);
  if (columns.length === 0 && keys.length === 0) return engineRewriter(context, base, { engine, concatenate: true });
  const byKey: EngineRewriteOptions['divide'] = (rows, bin, signal) =>
    orderedParts(engine, sortedBy(rows, keys), { parts: partsOf(bin), signal });
  if (columns.length === 0) return engineRewriter(context, base, { engine, divide: byKey });
  // What is compacted must not lose the order it was clustered in.
  const divide: EngineRewriteOptions['divide'] = (rows, bin, signal) => zOrdered(engine, rows, columns, { parts: partsOf(bin), signal });
  return asCubes(engineRewriter(context, base, { engine, divide }), columns, context.ids);
}

/** The files of a group under whatever deletion vector they have by now; `undefined`: not all of them are live. */
function liveInputs(live: ReadonlyMap<string, AddFile>, group: RewriteGroup): Bin | undefined {
  const files: AddFile[] = [];
  for (const input of group.inputs) {
    const file = live.get(input.path);
    if (file === undefined) return undefined;
    files.push(file);
  }
  return files;
}
