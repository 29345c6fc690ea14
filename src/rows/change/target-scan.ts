import { type HeldRelation, type ScanOptions, scanColumns } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { RowTable } from '../row-table.ts';

/** SQL of the scan's column that says which of the files a row is of. */
export const fileIndexSql: string = quoteName(scanColumns.fileIndex);
/** SQL of the scan's column that says where in its file a row is. */
export const rowPositionSql: string = quoteName(scanColumns.rowPosition);

/** Reads files; kept until the operation ends. */
export function holdTarget<File>(table: RowTable<File>, files: readonly File[], options?: ScanOptions): Promise<HeldRelation> {
  return table.work.holding(table.scan(files, options));
}

/** Runs `use` over a scan that ends with it. */
export async function withScan<Result>(scanning: Promise<HeldRelation>, use: (scan: HeldRelation) => Promise<Result>): Promise<Result> {
  const scan = await scanning;
  try {
    return await use(scan);
  } finally {
    await scan.dispose();
  }
}
