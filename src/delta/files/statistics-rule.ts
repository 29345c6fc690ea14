import { structLeaves } from '../../schema/type-tree.ts';
import { clusteringColumnsOf } from '../clustering.ts';
import { physicalPartitionColumns, physicalSchema } from '../column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { StatisticsRule } from '../stats-text.ts';

/** Which statistics the table wants of its files. */
export function statisticsRule(snapshot: DeltaSnapshot): StatisticsRule {
  return { indexed: indexedColumns(snapshot), tightBounds: supportsDeletionVectors(snapshot) };
}

/** A table that may get deletion vectors says of each file that its bounds are exact, as long as they are. */
function supportsDeletionVectors(snapshot: DeltaSnapshot): boolean {
  return snapshot.settings.deletionVectors && snapshot.protocol.writerFeatures?.includes('deletionVectors') === true;
}

/** The leaf columns that get statistics, by physical path: those a property names, else so many from the left; clustering columns always. */
function indexedColumns(snapshot: DeltaSnapshot): (path: readonly string[]) => boolean {
  const { schema, mapping } = snapshot;
  const named = snapshot.settings.statisticsColumnNames?.map(statisticsPath);
  const partitions = new Set(physicalPartitionColumns(schema, snapshot.partitionColumns, mapping));
  const stored = structLeaves(physicalSchema(schema, mapping));
  const leaves = structLeaves(schema).map(({ path }, index) => ({ logical: path, stored: stored[index]?.path ?? path }));
  const candidates = leaves.filter((leaf) => !partitions.has(leaf.stored[0] ?? ''));
  const limit = snapshot.settings.statisticsColumns;
  const chosen =
    named === undefined
      ? candidates.slice(0, limit < 0 ? candidates.length : limit)
      : candidates.filter((leaf) => named.some((name) => isPrefix(name, leaf.logical)));
  const clustered = clusteringColumnsOf(schema, snapshot.domains());
  chosen.push(...candidates.filter((leaf) => clustered.some((path) => isPrefix(path, leaf.logical))));
  const keys = new Set(chosen.map((leaf) => leaf.stored.join('\0')));
  return (path) => keys.has(path.join('\0'));
}

function isPrefix(name: readonly string[], path: readonly string[]): boolean {
  return name.length <= path.length && name.every((part, index) => part.toLowerCase() === path[index]?.toLowerCase());
}

/** `a.b` or `` `a`.`b.c` `` as a path. */
export function statisticsPath(name: string): readonly string[] {
  const parts = [...name.matchAll(/`((?:[^`]|``)*)`|([^`.]+)/g)];
  return parts.map(([, quoted, plain]) => quoted?.replaceAll('``', '`') ?? plain?.trim() ?? '');
}
