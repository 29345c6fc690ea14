import type { Engine } from '../../src/engine/engine.ts';
import { quoteName } from '../../src/expr/sql/engine-sql.ts';
import type { QueryableTable, Snapshot } from '../../src/table/table.ts';

/** What a table that tracks rows says of one of them. */
export interface TrackedRow {
  readonly rowId: bigint;
  readonly commitVersion: bigint;
  readonly value: string;
}

/** All rows of a table with the columns `id` (its key) and `v`, at a snapshot or the newest version. */
export async function trackedRows(engine: Engine, table: QueryableTable, at?: Snapshot): Promise<ReadonlyMap<bigint, TrackedRow>> {
  const scan = await table.scan(at ?? (await table.refresh()));
  const { rowTracking } = scan;
  if (rowTracking === undefined) throw new TypeError(`table ${table.name} does not track rows`);
  const rows = await engine.scan(scan, { withRowTracking: true });
  try {
    const columns = `CAST(id AS BIGINT), ${quoteName(rowTracking.rowId)}, ${quoteName(rowTracking.commitVersion)}, v`;
    const found = await engine.rows(`SELECT ${columns} FROM (${rows.sql}) ORDER BY 1`);
    return new Map(
      found.map(([id, rowId, commitVersion, value]) => [
        BigInt(String(id)),
        { rowId: BigInt(String(rowId)), commitVersion: BigInt(String(commitVersion)), value: String(value) },
      ]),
    );
  } finally {
    await rows.dispose();
  }
}
