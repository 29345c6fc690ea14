import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ChangelogRequest } from '../../table/queries.ts';
import { ancestorsOf, snapshotById } from '../ancestry.ts';
import type { IcebergSnapshot, TableMetadata } from '../metadata/table-metadata.ts';
import { snapshotIdAt } from '../snapshot-at.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { snapshotStateOf } from '../snapshot-state-of.ts';

type RangeEdges = Pick<ChangelogRequest, 'startAfter' | 'until' | 'startAfterMs' | 'untilMs' | 'schemaOf'>;

/** The snapshots whose changes a changelog tells. */
export interface ChangelogRange {
  /** Whose schema rows are read by. */
  readonly state: SnapshotState;
  /** Oldest first; those that left the rows as they were are not among them. */
  readonly snapshots: readonly IcebergSnapshot[];
}

/**
 * The snapshots of a range along the ancestry of its end.
 *
 * @param newest the branch's newest state: the end, where the request names none.
 * @throws AnalysisException `CANNOT_FIND_SNAPSHOT` (not-found) for an end that is not there, `SNAPSHOT_NOT_ANCESTOR` (not-found) for a start
 * that the end does not follow from, `INVALID_ARGUMENT` for edges given twice, in the words of the reference implementation.
 */
export function changelogRange(newest: SnapshotState, request: RangeEdges): ChangelogRange {
  refuseTwoEdges(request);
  const { metadata } = newest;
  const end = endOf(newest, request);
  const none = { state: newest, snapshots: [] };
  if (end === undefined) {
    if (request.startAfter !== undefined) throw notAncestor(request.startAfter, undefined);
    return none;
  }
  const state = request.schemaOf === 'until' ? snapshotStateOf(newest.loaded, { snapshotId: end.snapshotId }) : newest;
  const { startAfterMs } = request;
  if (startAfterMs === undefined) return { state, snapshots: changing(between(metadata, end, request.startAfter)) };
  const later = [...ancestorsOf(metadata, end)].filter(({ timestampMs }) => timestampMs > startAfterMs);
  return { state, snapshots: changing(later.toReversed()) };
}

/** Whether a snapshot says of itself that it put the same rows into other files. */
export function isRewrite({ summary }: IcebergSnapshot): boolean {
  return summary['operation'] === 'replace';
}

function changing(snapshots: readonly IcebergSnapshot[]): readonly IcebergSnapshot[] {
  return snapshots.filter((snapshot) => !isRewrite(snapshot));
}

function endOf({ metadata, snapshot }: SnapshotState, { until, untilMs }: RangeEdges): IcebergSnapshot | undefined {
  const id = untilMs === undefined ? until : snapshotIdAt(metadata, untilMs);
  if (id === undefined) return untilMs === undefined ? snapshot : undefined;
  const found = snapshotById(metadata, id);
  if (found !== undefined) return found;
  throw new AnalysisException({ errorClass: 'CANNOT_FIND_SNAPSHOT', kind: 'not-found', message: `Cannot find the end snapshot: ${id}` });
}

/** Oldest first. */
function between(metadata: TableMetadata, end: IcebergSnapshot, after: bigint | undefined): readonly IcebergSnapshot[] {
  const found: IcebergSnapshot[] = [];
  for (const ancestor of ancestorsOf(metadata, end)) {
    found.push(ancestor);
    // The start itself may have been expired.
    if (after !== undefined && ancestor.parentSnapshotId === after) return found.toReversed();
  }
  if (after !== undefined) throw notAncestor(after, end);
  return found.toReversed();
}

function notAncestor(start: bigint, end: IcebergSnapshot | undefined): AnalysisException {
  return new AnalysisException({
    errorClass: 'SNAPSHOT_NOT_ANCESTOR',
    kind: 'not-found',
    message: `Starting snapshot (exclusive) ${start} is not a parent ancestor of end snapshot ${end?.snapshotId ?? 'null'}`,
    hint: 'the changes of a range are those of the snapshots that lead from its start to its end; see the history of the table',
  });
}

function refuseTwoEdges({ startAfter, startAfterMs, until, untilMs }: RangeEdges): void {
  if (startAfter !== undefined && startAfterMs !== undefined) throw twice('start');
  if (until !== undefined && untilMs !== undefined) throw twice('end');
  if (startAfterMs !== undefined && untilMs !== undefined && startAfterMs >= untilMs) {
    throw invalid('Cannot set start-timestamp to be greater than end-timestamp for changelogs');
  }
}

function twice(edge: 'start' | 'end'): AnalysisException {
  return invalid(`Cannot set both ${edge}-snapshot-id and ${edge}-timestamp for changelogs`);
}

function invalid(message: string): AnalysisException {
  return new AnalysisException({ errorClass: 'INVALID_ARGUMENT', message });
}
