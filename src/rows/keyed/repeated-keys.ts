import type { Engine } from '../../engine/engine.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { FileScan } from '../../table/scan.ts';

/** Keys that several rows of a scan have, as text. */
export async function repeatedKeys(
  engine: Engine,
  scan: FileScan,
  { keyColumns, limit }: { readonly keyColumns: readonly string[]; readonly limit: number },
  signal?: AbortSignal,
): Promise<readonly string[]> {
  if (scan.files.length === 0) return [];
  const rows = await engine.scan(scan, {}, signal);
  try {
    const columns = keyColumns.map((name) => quoteName(name)).join(', ');
    const texts = keyColumns.map((name) => `coalesce(CAST(${quoteName(name)} AS VARCHAR), 'NULL')`).join(`, ', ', `);
    const sql = `SELECT concat(${texts}) FROM (${rows.sql}) GROUP BY ${columns} HAVING count(*) > 1 ORDER BY ALL LIMIT ${limit}`;
    const found = await engine.rows(sql, signal);
    return found.map(([text]) => String(text));
  } finally {
    await rows.dispose();
  }
}
