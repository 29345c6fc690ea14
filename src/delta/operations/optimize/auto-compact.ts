import { isServiceError } from '../../../base/errors.ts';
import type { AutoCompactSettings, OptimizeResult } from '../../../table/row-operations.ts';
import type { PartitionValues } from '../../../table/staged-file.ts';
import type { Version } from '../../../table/version.ts';
import type { AddFile } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { clusteredBy, clusterNames } from '../clustered-files.ts';
import type { OperationContext } from '../operation-context.ts';
import { optimizeBins } from './optimize.ts';
import { optimizeParameters } from './optimize-parameters.ts';
import { partitionKeys } from './partition-key.ts';
import { planOptimize } from './plan-optimize.ts';

/** What the session says counts more than the table's properties. */
export interface AutoCompactOptions extends AutoCompactSettings {
  readonly signal?: AbortSignal | undefined;
}

const defaultMinNumFiles = 50;
const defaultMaxFileBytes: number = 128 << 20;
/** Partitions one run looks at; a commit that touched more leaves the rest to the commits and the maintenance after it. */
const maxPartitions = 128;

/**
 * Compacts the partitions a commit touched when they hold many small files. `undefined`: it is off, there is nothing to do, or it did not
 * work out, which is nobody's failure: the commit stands, and the next one finds the same files. Not for commits of OPTIMIZE itself.
 */
export async function autoCompact(
  context: OperationContext,
  version: Version,
  touched: readonly PartitionValues[],
  options: AutoCompactOptions = {},
): Promise<OptimizeResult | undefined> {
  try {
    const base = await context.refresh(options.signal);
    if (base.version < version || !(options.enabled ?? isAutoCompacted(base.metadata.configuration))) return undefined;
    const maxFileBytes = options.maxFileBytes ?? defaultMaxFileBytes;
    const minFileBytes = Math.ceil(maxFileBytes / 2);
    const considered = smallFiles(base, touched, { minFileBytes, minNumFiles: options.minNumFiles ?? defaultMinNumFiles });
    const bins = planOptimize(base, considered, { kind: 'pack', targetFileBytes: maxFileBytes, minFileBytes });
    if (bins.length === 0) return undefined;
    // What is compacted must not lose the order it was clustered in.
    const columns = clusteredBy(base);
    const clustered = columns.length > 0;
    return await optimizeBins(context, base, {
      considered,
      bins,
      targetFileBytes: maxFileBytes,
      columns,
      cubes: clustered ? { columns, full: false } : undefined,
      operation: 'OPTIMIZE',
      operationParameters: optimizeParameters({ auto: true, clusterBy: clustered ? clusterNames(columns) : undefined }),
      signal: options.signal,
    });
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

/** `delta.autoOptimize` counts more than `delta.autoOptimize.autoCompact`. */
function isAutoCompacted(configuration: Readonly<Record<string, string>>): boolean {
  const setting = configuration['delta.autoOptimize'] ?? configuration['delta.autoOptimize.autoCompact'];
  return setting?.toLowerCase() === 'true';
}

function smallFiles(
  base: DeltaSnapshot,
  touched: readonly PartitionValues[],
  limits: { readonly minFileBytes: number; readonly minNumFiles: number },
): readonly AddFile[] {
  const keyOf = partitionKeys(base);
  const partitions = new Map<string, AddFile[]>();
  for (const values of touched) if (partitions.size < maxPartitions) partitions.set(keyOf(values), []);
  for (const file of base.files()) {
    if (file.sizeBytes < limits.minFileBytes) partitions.get(keyOf(file.partitionValues))?.push(file);
  }
  return [...partitions.values()].filter((files) => files.length >= limits.minNumFiles).flat();
}
