import { serviceError } from '../../../base/errors.ts';
import type { Engine } from '../../../engine/engine.ts';
import { withRowTrackingFields } from '../../../rows/change/row-tracking-fields.ts';
import { orderedParts } from '../../../rows/order/ordered-parts.ts';
import { zOrdered } from '../../../rows/order/z-order.ts';
import type { Relation } from '../../../table/relation.ts';
import { discardFiles } from '../../files/discard-files.ts';
import { type StageOptions, stageDataFiles } from '../../files/stage-data-files.ts';
import type { ContentFile } from '../../metadata/content-file.ts';
import { hasRowLineage } from '../../metadata/format-features.ts';
import { specById } from '../../metadata/partition-type.ts';
import { fileScanOf } from '../../scan/file-scan.ts';
import { lineageColumns } from '../../scan/lineage-columns.ts';
import type { SnapshotState } from '../../snapshot-state.ts';
import type { TableContext } from '../../table-context.ts';
import { concatenateGroup } from './concatenate-group.ts';
import type { DataFileGroup } from './data-file-groups.ts';
import { type FileSizes, outputCount } from './rewrite-options.ts';
import { partitionKeysSql, type RewriteOrder, sortKeysSql } from './rewrite-order.ts';

/** How the files of a group become others. */
export interface GroupRewrite {
  readonly settings: FileSizes;
  readonly order: RewriteOrder;
  readonly specId: number;
}

/**
 * Writes the rows a reader gets from a group's files, in the order that is asked for, as files that nothing refers to yet. When it rejects,
 * nothing it wrote is left.
 *
 * @throws ServiceError `COMPACTION_ROWS_DIFFER` (internal); what reading the files and writing throws.
 */
export async function rewriteGroup(
  context: TableContext,
  state: SnapshotState,
  group: DataFileGroup,
  how: GroupRewrite,
  signal: AbortSignal | undefined,
): Promise<readonly ContentFile[]> {
  const { settings, order, specId } = how;
  const outputs = outputCount(group.bytes, settings);
  if (order.kind === 'none' && outputs === 1 && group.samePartition) {
    const whole = await concatenateGroup(context, state, group.files, signal);
    if (whole !== undefined) return [whole];
  }
  const engine = await context.engine();
  const tracked = hasRowLineage(state.metadata) ? lineageColumns : undefined;
  const scan = await engine.scan(
    await fileScanOf(context, state, group.files, {}, signal),
    { withRowTracking: tracked !== undefined },
    signal,
  );
  const staged: ContentFile[] = [];
  try {
    const rows: Relation = { sql: scan.sql, schema: withRowTrackingFields(state.schema, tracked) };
    const options: StageOptions = { specId, withRowTracking: tracked !== undefined, ...stagingOf(state, how, outputs) };
    for await (const part of partsOf(engine, state, rows, { ...how, group, outputs, signal })) {
      staged.push(...(await stageDataFiles(context, state, part, options, signal)));
    }
    refuseLostRows(group, staged);
    return staged;
  } catch (error) {
    await discardFiles(context, staged);
    throw error;
  } finally {
    await scan.dispose();
  }
}

function stagingOf(state: SnapshotState, { settings, order }: GroupRewrite, outputs: number): StageOptions {
  const whole = Number.MAX_SAFE_INTEGER;
  switch (order.kind) {
    case 'none': {
      // Files may grow somewhat beyond the target, so that no small rest is left.
      const largest = settings.targetFileBytes + Math.floor((settings.maxFileBytes - settings.targetFileBytes) / 2);
      return { targetFileBytes: outputs === 1 ? whole : largest };
    }
    case 'sorted':
      return { targetFileBytes: whole, sortOrderId: order.orderId, orderBy: sortKeysSql(state.icebergSchema, order.fields) };
    case 'z-order':
      return { targetFileBytes: whole };
  }
}

async function* partsOf(
  engine: Engine,
  state: SnapshotState,
  rows: Relation,
  how: GroupRewrite & { readonly group: DataFileGroup; readonly outputs: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<Relation, void, undefined> {
  const { order, outputs: parts, signal, group } = how;
  if (order.kind === 'z-order') yield* zOrdered(engine, rows, order.columns, { parts, signal });
  else if (order.kind === 'none' || parts === 1) yield rows;
  else {
    const spec = group.samePartition ? undefined : specById(state.metadata, how.specId);
    const keys = [
      ...(spec === undefined ? [] : partitionKeysSql(state.icebergSchema, spec)),
      ...sortKeysSql(state.icebergSchema, order.fields),
    ];
    yield* orderedParts(engine, { sql: `SELECT * FROM (${rows.sql}) ORDER BY ${keys.join(', ')}`, schema: rows.schema }, { parts, signal });
  }
}

/** A last line of defence: a rewrite that loses or invents rows must never be committed. */
function refuseLostRows({ files }: DataFileGroup, staged: readonly ContentFile[]): void {
  const found = staged.reduce((sum, { recordCount }) => sum + recordCount, 0);
  const most = files.reduce((sum, { entry }) => sum + entry.file.recordCount, 0);
  // How many rows delete files take away is known only when they are read.
  const exact = files.every(({ deletes }) => deletes.length === 0);
  if (exact ? found === most : found <= most) return;
  throw serviceError.internal('COMPACTION_ROWS_DIFFER', `rewriting ${files.length} files of ${most} rows gave ${found} rows`);
}
