import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import { requireReplaced } from '../../expr/clause-rules.ts';
import { type Expression, trueLiteral } from '../../expr/expression.ts';
import { statementTime } from '../../expr/time-zone.ts';
import type { HeldRelation } from '../../table/relation.ts';
import type { WriteRequest, WriteResult } from '../../table/row-operations.ts';
import { type CheckTools, checkedRows } from '../files/checked-rows.ts';
import { dataFormat } from '../files/compression.ts';
import { discardFiles } from '../files/discard-files.ts';
import { stageDataFiles } from '../files/stage-data-files.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { partitionKey } from '../scan/partition-key.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';
import { commitSnapshot } from '../transaction/commit-snapshot.ts';
import { isAlreadyWritten } from '../transaction/idempotency.ts';
import type { SnapshotChange } from '../transaction/snapshot-change.ts';
import { evolvedState } from './evolve-for-rows.ts';

const nothingWritten: WriteResult = { version: undefined, rowCount: 0, fileCount: 0, sizeBytes: 0 };

/**
 * INSERT, append and overwrite: one snapshot. An append of no rows makes none.
 *
 * @throws AnalysisException `INSERT_COLUMN_ARITY_MISMATCH.…`, `INCOMPATIBLE_DATA_FOR_TABLE.…`, `NOT_NULL_ASSERT_VIOLATION`, and the errors of
 * `commitSnapshot`.
 */
export async function writeRows(context: TableContext, request: WriteRequest): Promise<WriteResult> {
  const { signal } = request;
  const base = await context.refresh(signal);
  if (isAlreadyWritten(base, request)) return nothingWritten;
  const engine = await context.engine();
  refusePartitioning(base, request);
  const { state, updates } = evolvedState(context, base, request);
  const staged = await stageChecked({ context, engine, signal }, state, request);
  try {
    if (staged.length === 0 && request.mode.kind === 'append' && updates.length === 0) return nothingWritten;
    const change = { ...changeOf(context, base, request, staged), updates, summary: summaryOf(request) };
    const committed = await commitSnapshot(context, base, change, request);
    return { version: committed.version, ...totals(staged) };
  } catch (error) {
    // After an unknown outcome the files may be part of the table.
    if (!isServiceError(error, 'unknown-outcome')) await discardFiles(context, staged);
    throw error;
  }
}

async function stageChecked(tools: CheckTools, state: SnapshotState, request: WriteRequest): Promise<readonly ContentFile[]> {
  const held: HeldRelation[] = [];
  const holding = async (relation: Promise<HeldRelation>): Promise<HeldRelation> => {
    const kept = await relation;
    held.push(kept);
    return kept;
  };
  try {
    const rows = await checkedRows({ ...tools, holding }, state, request.rows, request);
    const format = request.fileFormat === undefined ? undefined : dataFormat('write-format', request.fileFormat);
    const options = { format, targetFileBytes: request.optimizedFileBytes, sortOrderId: state.metadata.defaultSortOrderId };
    return await stageDataFiles(tools.context, state, rows, options, tools.signal);
  } finally {
    for (const relation of held.reverse()) await relation.dispose();
  }
}

function changeOf(
  context: TableContext,
  base: SnapshotState,
  { mode }: WriteRequest,
  added: readonly ContentFile[],
): Omit<SnapshotChange, 'summary'> {
  const common = { added, removed: [], validation: { since: base.snapshot?.snapshotId } };
  switch (mode.kind) {
    case 'append':
      return { ...common, kind: 'append' };
    case 'overwrite':
      return {
        ...common,
        kind: 'overwrite',
        removedWhere: mode.replaceWhere === undefined ? trueLiteral : bound(context, base, mode.replaceWhere),
      };
    case 'overwrite-partitions': {
      const partitions = new Map(added.map(({ specId, partition }) => [partitionKey(specId, partition), { specId, partition }]));
      return { ...common, kind: 'overwrite', replacedPartitions: [...partitions.values()] };
    }
  }
}

function bound(context: TableContext, { schema }: SnapshotState, condition: Expression): Expression {
  const found = bindNow(bindExpression(condition, [{ schema }]), statementTime(context));
  requireReplaced(found);
  return found;
}

function summaryOf({ mode, summary }: WriteRequest): Readonly<Record<string, string>> {
  return mode.kind === 'overwrite-partitions' ? { ...summary, 'replace-partitions': 'true' } : (summary ?? {});
}

function totals(files: readonly ContentFile[]): Omit<WriteResult, 'version'> {
  return {
    rowCount: files.reduce((sum, { recordCount }) => sum + recordCount, 0),
    fileCount: files.length,
    sizeBytes: files.reduce((sum, { fileSizeBytes }) => sum + fileSizeBytes, 0),
  };
}

/** The partitioning of a table is its own. */
function refusePartitioning(state: SnapshotState, { partitionBy }: WriteRequest): void {
  if (partitionBy === undefined || partitionBy.length === 0) return;
  const same =
    partitionBy.length === state.partitionColumns.length && partitionBy.every((name, index) => name === state.partitionColumns[index]);
  if (same) return;
  throw new AnalysisException({
    errorClass: 'PARTITIONING_MISMATCH',
    message: `the rows are to be partitioned by ${partitionBy.join(', ')}, the table is by ${state.partitionColumns.join(', ') || 'nothing'}`,
    hint: "leave partitionBy out, or change the table's partitioning: ALTER TABLE … ADD PARTITION FIELD",
  });
}
