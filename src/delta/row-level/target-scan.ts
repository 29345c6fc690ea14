import type { HeldRelation, ScanOptions } from '../../engine/engine.ts';
import { countRows } from '../../rows/change/engine-counts.ts';
import { fileIndexSql, withScan } from '../../rows/change/target-scan.ts';
import { type AddFile, liveRows } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import type { DeltaRowWork } from './row-work.ts';

/** Runs `use` over a scan of the files, with the columns of `snapshot`, that ends with it. */
export async function withTarget<Result>(
  work: DeltaRowWork,
  target: { readonly snapshot: DeltaSnapshot; readonly files: readonly AddFile[]; readonly options?: ScanOptions | undefined },
  use: (scan: HeldRelation) => Promise<Result>,
): Promise<Result> {
  const { snapshot, files, options } = target;
  return withScan(work.engine.scan(fileScanOf(work.context, snapshot, files), options, work.signal), use);
}

/** Rows the files hold for a reader: by their statistics, and counted where those do not say. */
export async function countPhysicalRows(work: DeltaRowWork, files: readonly AddFile[]): Promise<readonly number[]> {
  if (files.length === 0) return [];
  return withTarget(work, { snapshot: work.snapshot, files, options: { withPositions: true, withDeletedRows: true } }, async (scan) => {
    const rows = await work.engine.rows(`SELECT ${fileIndexSql}, count(*) FROM (${scan.sql}) GROUP BY ALL`, work.signal);
    const counts = new Map(rows.map(([index, count]) => [Number(index), Number(count)]));
    return files.map((_, index) => counts.get(index) ?? 0);
  });
}

/** Rows of the files that a reader gets. */
export async function countLiveRows(work: DeltaRowWork, files: readonly AddFile[]): Promise<bigint> {
  const known = files.map(liveRows);
  const uncounted = files.filter((_, index) => known[index] === undefined);
  const sum = BigInt(known.reduce<number>((total, rows) => total + (rows ?? 0), 0));
  if (uncounted.length === 0) return sum;
  return withTarget(work, { snapshot: work.snapshot, files: uncounted }, async (scan) => {
    return sum + (await countRows(work, scan));
  });
}
