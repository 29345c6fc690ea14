import { readFileSync } from 'node:fs';
import { icebergVersions, newestMetadata, parseMetadata, plain } from './checks-iceberg.ts';
import { type Add, readLog } from './checks-log.ts';
import { rowTexts, withDuckDb } from './checks-table.ts';
import type { PipelineCase } from './process-workload.ts';

/** What does not hold of the twin of a drained pipeline: it has the table's files and rows, its offsets, and each version once. Shares nothing with the product. */
export async function twinFindings({ tableDir, twin }: PipelineCase): Promise<readonly string[]> {
  const location = twin === undefined ? undefined : newestMetadata(twin.tableDir, twin.place);
  if (location === undefined) return ['there is no twin'];
  const leader = readLog(tableDir);
  const { versions, snapshots, findings } = icebergVersions(parseMetadata(readFileSync(location, 'utf8')), {
    read: (file) => readFileSync(plain(file)),
    relative: (file) => plain(file).slice(tableDir.length + 1),
  });
  const live = new Map<string, Add>();
  for (const { adds, removes } of versions) {
    for (const { path } of removes) live.delete(path);
    for (const add of adds) live.set(add.path, add);
  }
  const shown = snapshots.map(({ summary }) => Number(summary['tidewater.leader-version'] ?? '-1'));
  const counts = (files: Iterable<Add>): string[] => [...files].map(({ path, stats }) => `${path} ${stats.numRecords}`).sort();
  const rows = await withDuckDb(async (db) => ({
    table: await rowTexts(db, tableDir, [...leader.live.values()]),
    twin: await rowTexts(db, tableDir, [...live.values()]),
  }));
  const marks = (of: readonly { readonly marks: ReadonlyMap<string, bigint> }[]): string =>
    [...new Map(of.flatMap((version) => [...version.marks]))].sort().join();
  return [
    ...findings,
    ...(counts(live.values()).join('\n') === counts(leader.live.values()).join('\n') ? [] : ['the twin has other files than its table']),
    ...(rows.twin.join('\n') === rows.table.join('\n') ? [] : [`the twin has ${rows.twin.length} rows, its table ${rows.table.length}`]),
    ...(shown.every((version, index) => version > (shown[index - 1] ?? -1))
      ? []
      : [`versions are not shown once, in order: ${shown.join(', ')}`]),
    ...(marks(versions) === marks(leader.versions) ? [] : ['the twin has other offsets than its table']),
  ];
}
