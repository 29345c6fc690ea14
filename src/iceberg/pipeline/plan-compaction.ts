import { type Clustering, type CompactionDebt, compactionDebt, type Packable, plannedGroups } from '../../rows/files/pack-files.ts';
import { keyColumnsOf } from '../../table/keyed.ts';
import type { CompactionPlan, CompactionRule, FileToRewrite, RewriteGroup } from '../../table/operations.ts';
import { findSource } from '../definition/find-source.ts';
import { partitionPath } from '../metadata/partition-path.ts';
import { specById } from '../metadata/partition-type.ts';
import { factsOfMetrics } from '../scan/column-facts.ts';
import { deletedRowsOf, type LiveFile, liveFiles } from '../scan/live-files.ts';
import { partitionKey } from '../scan/partition-key.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';

interface Candidate extends Packable {
  readonly live: LiveFile;
}

/** Which files become one: files of one partition and spec. */
export async function planCompaction(
  context: TableContext,
  state: SnapshotState,
  rule: CompactionRule,
  signal?: AbortSignal,
): Promise<CompactionPlan> {
  const { data } = await liveFiles(context, state, undefined, signal);
  return { baseVersion: state.version, groups: plannedGroups(debtOf(data, rule, state), rule, (group) => groupOf(state, group)) };
}

/** What there is to compact. */
export function debtOf(data: readonly LiveFile[], rule: CompactionRule, state: SnapshotState): CompactionDebt<Candidate> {
  const candidates = data.map((live): Candidate => ({ ...inputOf(live), deletedRows: deletedRowsOf(live), live }));
  const partitionOf = ({ live: { entry } }: Candidate): string => partitionKey(entry.file.specId, entry.file.partition);
  return compactionDebt(candidates, partitionOf, rule, clusteringOf(state));
}

function clusteringOf(state: SnapshotState): Clustering<Candidate> | undefined {
  const [first] = keyColumnsOf(state);
  if (first === undefined) return undefined;
  const column = findSource(state.icebergSchema, [first]);
  return { keyFrom: ({ live: { entry } }) => factsOfMetrics(entry.file, column)?.min };
}

/** The partition as people read it; nobody reads values out of it. */
function groupOf({ metadata, icebergSchema }: SnapshotState, group: readonly Candidate[]): RewriteGroup {
  const file = group[0]?.live.entry.file;
  const spec = file === undefined ? undefined : specById(metadata, file.specId);
  const partition = file === undefined || spec === undefined ? '' : partitionPath(spec, icebergSchema, file.partition);
  return { partitionValues: partition === '' ? {} : { partition }, inputs: group.map(({ live }) => inputOf(live)) };
}

function inputOf({ entry }: LiveFile): FileToRewrite {
  const { path, fileSizeBytes, recordCount } = entry.file;
  return { path, sizeBytes: fileSizeBytes, rowCount: recordCount };
}
