import type { DeltaTable } from '../../src/delta/delta-table.ts';
import { toVersion } from '../../src/table/version.ts';
import type { LocalTables } from './local-tables.ts';

/** A change of one row as JSON text of its columns. */
export interface RowChange {
  readonly version: number;
  readonly type: string;
  readonly row: string;
}

/** The change feed of versions `from` to `until`, both included, in the order of versions; within one by type and row. */
export async function changesOf(tables: LocalTables, table: DeltaTable, from: number, until: number): Promise<readonly RowChange[]> {
  const { engine } = tables;
  const changes: RowChange[] = [];
  for await (const change of table.changeScans({ from: toVersion(from), until: toVersion(until) })) {
    const scan = await engine.scan(change.scan);
    const columns = scan.schema.fields.map((field) => field.name).filter((name) => name !== '_change_type');
    const row = `to_json(struct_pack(${columns.map((name) => `"${name}" := "${name}"`).join(', ')}))`;
    const type = change.kind === 'recorded' ? '_change_type' : `'${change.kind}'`;
    const rows = await engine.rows(`SELECT ${type}, CAST(${row} AS VARCHAR) FROM (${scan.sql}) ORDER BY ALL`);
    for (const [kind, text] of rows) changes.push({ version: change.version, type: String(kind), row: String(text) });
    await scan.dispose();
  }
  return changes.toSorted((left, right) => left.version - right.version || compare(left.type, right.type) || compare(left.row, right.row));
}

/** Rows after changes; fails when a change takes away a row that is not there. */
export function foldChanges(rows: readonly string[], changes: readonly RowChange[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  const add = (row: string, by: number): void => {
    const count = (counts.get(row) ?? 0) + by;
    if (count === 0) counts.delete(row);
    else counts.set(row, count);
  };
  for (const { type, row } of changes) add(row, type === 'insert' || type === 'update_postimage' ? 1 : -1);
  return [...counts]
    .flatMap(([row, count]) => {
      if (count < 0) throw new RangeError(`${row} was taken away ${-count} times too often`);
      return new Array<string>(count).fill(row);
    })
    .toSorted(compare);
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
