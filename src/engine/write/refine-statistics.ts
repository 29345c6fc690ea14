import type { DuckDBConnection } from '@duckdb/node-api';
import { quoteName, sqlText } from '../../expr/sql/engine-text.ts';
import { type StructLeaf, structLeaves } from '../../schema/type-tree.ts';
import type { StructType } from '../../schema/types.ts';
import type { CopiedFile } from './written-copy.ts';
import { boundOf, isOrdered, type LeafStatistics, leafStatistics } from './written-statistics.ts';

/** Text bounds longer than this prune nothing that a shorter one would not, and fill the log. */
const maxBoundLength = 4_096;

/**
 * Statistics of all leaves of the written files. What the engine did not say for certain while it wrote is computed by reading
 * those columns of those files again: NaN in files of several row groups, nulls among lists and maps, bounds lost to a group that has none.
 */
export async function exactStatistics(
  connection: DuckDBConnection,
  schema: StructType,
  files: readonly CopiedFile[],
): Promise<readonly (readonly LeafStatistics[])[]> {
  const leaves = structLeaves(schema);
  const known = files.map((file) => leaves.map((leaf) => leafStatistics(leaf, file.statistics, file.rowCount)));
  const doubtful = leaves.flatMap((leaf, index) => (known.some((row) => row[index]?.uncertain !== 'nothing') ? [{ leaf, index }] : []));
  const concerned = files.flatMap((file, index) =>
    known[index]?.some((entry) => entry.uncertain !== 'nothing') === true ? [{ file, index }] : [],
  );
  if (doubtful.length === 0 || concerned.length === 0) return known;
  const reader = await connection.runAndReadAll(
    refineSql(
      doubtful.map(({ leaf }) => leaf),
      concerned.map(({ file }) => file.path),
    ),
  );
  for (const row of reader.getRows()) {
    const file = concerned[Number(row[0])];
    const target = file === undefined ? undefined : known[file.index];
    if (file === undefined || target === undefined) continue;
    for (const [place, { leaf, index }] of doubtful.entries()) {
      const [count, nan, min, max] = row.slice(1 + place * columnsPerLeaf, 1 + (place + 1) * columnsPerLeaf);
      if (target[index]?.uncertain === 'nothing') continue;
      target[index] = {
        leaf,
        nullCount: file.file.rowCount - Number(count),
        bounds: nan === true ? undefined : boundsOf(leaf, min, max),
        uncertain: 'nothing',
      };
    }
  }
  return known;
}

const columnsPerLeaf = 4;

function refineSql(leaves: readonly StructLeaf[], paths: readonly string[]): string {
  const columns = leaves.flatMap((leaf) => {
    const [first, ...rest] = leaf.path;
    const value = rest.reduce((sql, name) => `struct_extract(${sql}, ${sqlText(name)})`, quoteName(first ?? ''));
    const floating = leaf.type.kind === 'float' || leaf.type.kind === 'double';
    const ordered = isOrdered(leaf.type);
    return [
      `count(${value})`,
      floating ? `bool_or(isnan(${value}))` : 'false',
      ordered ? `CAST(min(${value}) AS VARCHAR)` : 'NULL',
      ordered ? `CAST(max(${value}) AS VARCHAR)` : 'NULL',
    ];
  });
  const list = paths.map(sqlText).join(', ');
  const source = `read_parquet([${list}], hive_partitioning=false)`;
  return `SELECT file_index, ${columns.join(', ')} FROM ${source} GROUP BY file_index`;
}

function boundsOf(leaf: StructLeaf, min: unknown, max: unknown): LeafStatistics['bounds'] {
  const bounds = [min, max].map((text) =>
    typeof text === 'string' && text.length <= maxBoundLength ? boundOf(text, leaf.type) : undefined,
  );
  const [low, high] = bounds;
  return low === undefined || high === undefined ? undefined : { min: low, max: high };
}
