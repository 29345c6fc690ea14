import type { Relation } from '../../table/relation.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { type DataFormat, writeFormat } from './compression.ts';
import { holdsEngineTypes, stageByEngine } from './stage-by-engine.ts';
import { stageByRows } from './stage-by-rows.ts';
import { type PlanOptions, writePlan } from './write-plan.ts';

export interface StageOptions extends PlanOptions {
  /** Default: `write.target-file-size-bytes`, else 512 MiB. */
  readonly targetFileBytes?: number | undefined;
  /** Default: `write.format.default`. */
  readonly format?: DataFormat | undefined;
}

const defaultTargetFileBytes: number = 512 << 20;

/**
 * Writes rows (the state's columns in order, checked, read once) as data files that nothing refers to yet: no file without rows, at least one
 * for each partition. With a sort order each partition becomes one sorted file. When it rejects, nothing it wrote is left.
 *
 * @throws AnalysisException `INVALID_TABLE_PROPERTY`; ServiceError `PARTITION_TRANSFORM_UNSUPPORTED`; what the engine and the stores throw.
 */
export async function stageDataFiles(
  context: TableContext,
  state: SnapshotState,
  rows: Relation,
  options: StageOptions = {},
  signal?: AbortSignal,
): Promise<readonly ContentFile[]> {
  const { properties } = state.metadata;
  const plan = writePlan(state, rows, options);
  const format = options.format ?? writeFormat(properties, 'data');
  const stated = Number(properties['write.target-file-size-bytes'] ?? Number.NaN);
  const targetFileBytes = options.targetFileBytes ?? (stated > 0 ? stated : defaultTargetFileBytes);
  const staging = { context, state, plan, targetFileBytes, signal };
  return format === 'parquet' && holdsEngineTypes(plan.storedSchema) ? stageByEngine(staging) : stageByRows(staging, format);
}
