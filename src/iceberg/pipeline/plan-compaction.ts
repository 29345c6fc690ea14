import { type CompactionDebt, compactionDebt, type Packable } from '../../rows/files/pack-files.ts';
import type { CompactionPlan, CompactionRule, FileToRewrite, RewriteGroup } from '../../table/operations.ts';
import { partitionPath } from '../metadata/partition-path.ts';
import { specById } from '../metadata/partition-type.ts';
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
  const { groups } = debtOf(data, rule);
  return { baseVersion: state.version, groups: groups.slice(0, rule.maxGroups).map((group) => groupOf(state, group)) };
}

/** What there is to compact. */
export function debtOf(data: readonly LiveFile[], rule: CompactionRule): CompactionDebt<Candidate> {
  const candidates = data.map((live): Candidate => ({ ...inputOf(live), deletedRows: deletedRowsOf(live), live }));
  return compactionDebt(candidates, ({ live: { entry } }) => partitionKey(entry.file.specId, entry.file.partition), rule);
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
