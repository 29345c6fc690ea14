import { type HeldRelation, type ScanOptions, scanColumns } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { type AddFile, liveRows } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { countRows } from './engine-counts.ts';
import type { RowWork } from './row-work.ts';

/** SQL of the scan's column that says which of the files a row is of. */
export const fileIndexSql: string = quoteName(scanColumns.fileIndex);
/** SQL of the scan's column that says where in its file a row is. */
export const rowPositionSql: string = quoteName(scanColumns.rowPosition);

/** Reads live files; kept until the operation ends. */
export function holdTarget(work: RowWork, files: readonly AddFile[], options?: ScanOptions): Promise<HeldRelation> {
  return work.holding(scanOf(work, work.snapshot, files, options));
}

/** Runs `use` over a scan of the files, with the columns of `snapshot`, that ends with it. */
export async function withTarget<Result>(
  work: RowWork,
  target: { readonly snapshot: DeltaSnapshot; readonly files: readonly AddFile[]; readonly options?: ScanOptions | undefined },
  use: (scan: HeldRelation) => Promise<Result>,
): Promise<Result> {
  const scan = await scanOf(work, target.snapshot, target.files, target.options);
  try {
    return await use(scan);
  } finally {
    await scan.dispose();
  }
}

function scanOf(work: RowWork, snapshot: DeltaSnapshot, files: readonly AddFile[], options?: ScanOptions): Promise<HeldRelation> {
  return work.engine.scan(fileScanOf(work.context, snapshot, files), options, work.signal);
}

/** Rows the files hold for a reader: by their statistics, and counted where those do not say. */
export async function countPhysicalRows(work: RowWork, files: readonly AddFile[]): Promise<readonly number[]> {
  if (files.length === 0) return [];
  return withTarget(work, { snapshot: work.snapshot, files, options: { withPositions: true, withDeletedRows: true } }, async (scan) => {
    const rows = await work.engine.rows(`SELECT ${fileIndexSql}, count(*) FROM (${scan.sql}) GROUP BY ALL`, work.signal);
    const counts = new Map(rows.map(([index, count]) => [Number(index), Number(count)]));
    return files.map((_, index) => counts.get(index) ?? 0);
  });
}

/** Rows of the files that a reader gets. */
export async function countLiveRows(work: RowWork, files: readonly AddFile[]): Promise<bigint> {
  const known = files.map(liveRows);
  const uncounted = files.filter((_, index) => known[index] === undefined);
  const sum = BigInt(known.reduce<number>((total, rows) => total + (rows ?? 0), 0));
  if (uncounted.length === 0) return sum;
  return withTarget(work, { snapshot: work.snapshot, files: uncounted }, async (scan) => {
    return sum + (await countRows(work, scan));
  });
}
