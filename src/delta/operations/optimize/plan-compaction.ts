import { type Clustering, type CompactionDebt, compactionDebt, type Packable, plannedGroups } from '../../../rows/files/pack-files.ts';
import { keyColumnsOf } from '../../../table/keyed.ts';
import type { CompactionPlan, CompactionRule, FileToRewrite, RewriteGroup } from '../../../table/operations.ts';
import { type AddFile, physicalRows } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { TableKnowledge } from '../../scan/select-files.ts';
import { partitionKeys } from './partition-key.ts';

export interface CompactionAbility {
  /** Files with deletion vectors are rewritten too, without their deleted rows; only the query engine can do that. Default: left alone. */
  readonly deletionVectors?: boolean | undefined;
}

/** A file of the snapshot that compaction can rewrite. */
interface Candidate extends Packable {
  readonly file: AddFile;
}

/** Which files of the snapshot become one file each: files of one partition (by typed value). Pure: the same snapshot gives the same plan. */
export function planCompaction(snapshot: DeltaSnapshot, options: CompactionRule & CompactionAbility): CompactionPlan {
  return { baseVersion: snapshot.version, groups: plannedGroups(debtOf(snapshot, options), options, groupOf) };
}

/** What there is to compact. */
export function debtOf(snapshot: DeltaSnapshot, options: CompactionRule & CompactionAbility): CompactionDebt<Candidate> {
  const keyOf = partitionKeys(snapshot);
  return compactionDebt(candidates(snapshot, options), ({ file }) => keyOf(file.partitionValues), options, clusteringOf(snapshot));
}

function clusteringOf(snapshot: DeltaSnapshot): Clustering<Candidate> | undefined {
  const [first] = keyColumnsOf(snapshot);
  if (first === undefined) return undefined;
  const knowledge = new TableKnowledge(snapshot, [[first]]);
  return { keyFrom: ({ file }) => knowledge.of(file).column([first])?.min };
}

function* candidates(snapshot: DeltaSnapshot, { deletionVectors = false }: CompactionAbility): Generator<Candidate> {
  for (const file of snapshot.files()) {
    if (file.deletionVector !== undefined && !deletionVectors) continue;
    yield { ...inputOf(file), deletedRows: file.deletionVector?.cardinality, file };
  }
}

function groupOf(group: readonly Candidate[]): RewriteGroup {
  return { partitionValues: group[0]?.file.partitionValues ?? {}, inputs: group.map(({ file }) => inputOf(file)) };
}

function inputOf(file: AddFile): FileToRewrite {
  return { path: file.storedPath, sizeBytes: file.sizeBytes, rowCount: physicalRows(file.stats) };
}
