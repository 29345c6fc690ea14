import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { KeyedRows, Patches } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { countRows } from '../change/engine-counts.ts';
import { touchedColumn } from '../change/rewrite-sql.ts';
import { holdTarget } from '../change/target-scan.ts';
import type { RowTable } from '../row-table.ts';
import { clauseOf, type FoundKeys } from './find-keys.ts';
import { keyEquality } from './key-sql.ts';

/** Rows as they become, and how many there are. */
export interface PatchedRows {
  readonly rows: Relation;
  readonly count: number;
}

/**
 * The rows of a batch that leave columns as they are, with the values that the table's row of their key has there; null where it has none. Those that are
 * late are left out.
 */
export async function patchedRows<File>(
  table: RowTable<File>,
  { patches, keyColumns }: KeyedRows,
  found: FoundKeys<File>,
): Promise<PatchedRows | undefined> {
  if (patches === undefined) return undefined;
  const { work, writtenSchema } = table;
  const onTime = withoutLate(await holdPatches(table, patches, found), found);
  const stored = await storedRows(table, { patches, keyColumns }, found);
  const columns = writtenSchema.fields.map(({ name }) => {
    const flag = patches.columns.indexOf(name);
    if (flag < 0) return `p.${quoteName(name)}`;
    const value = stored === undefined ? 'NULL' : `t.${quoteName(name)}`;
    return `CASE WHEN p.${quoteName(found.hidden.source(flag))} THEN ${value} ELSE p.${quoteName(name)} END AS ${quoteName(name)}`;
  });
  const same = keyEquality(keyColumns, { left: (name) => `t.${quoteName(name)}`, right: (name) => `p.${quoteName(name)}` });
  const joined = stored === undefined ? '' : ` LEFT JOIN (${stored}) t ON ${same}`;
  const merged = { sql: `SELECT ${columns.join(', ')} FROM (${onTime}) p${joined}`, schema: writtenSchema };
  const rows = await work.holding(work.engine.materialize(merged, work.signal));
  return { rows, count: Number(await countRows(work, rows)) };
}

async function holdPatches<File>(
  { work, writtenSchema }: RowTable<File>,
  { rows, columns }: Patches,
  { hidden }: FoundKeys<File>,
): Promise<string> {
  const flags = columns.map((_, index) => ({ name: hidden.source(index), type: { kind: 'boolean' as const }, nullable: false }));
  const schema: StructType = { kind: 'struct', fields: [...writtenSchema.fields, ...flags] };
  return (await work.holding(work.engine.hold(schema, [{ ...rows, schema }], work.signal))).sql;
}

function withoutLate<File>(patches: string, { late, hidden, keyColumns }: FoundKeys<File>): string {
  if (late === undefined) return patches;
  const same = keyEquality(keyColumns, {
    left: (_, index) => `l.${quoteName(hidden.value(index))}`,
    right: (name) => `p.${quoteName(name)}`,
  });
  return `SELECT * FROM (${patches}) p WHERE NOT EXISTS (SELECT 1 FROM (${late.sql}) l WHERE ${same})`;
}

/** Of the rows that are replaced what patches may ask for; `undefined`: there are none. */
async function storedRows<File>(
  table: RowTable<File>,
  { patches, keyColumns }: { readonly patches: Patches; readonly keyColumns: readonly string[] },
  { touched, hidden }: FoundKeys<File>,
): Promise<string | undefined> {
  if (touched === undefined) return undefined;
  const files = touched.files.map(({ file }) => file);
  const scan = await holdTarget(table, files, { withPositions: true });
  const columns = [...keyColumns, ...patches.columns].map(touchedColumn).join(', ');
  return `SELECT ${columns} FROM (${touched.among(scan, files)}) WHERE ${touchedColumn(hidden.clause)} = ${clauseOf.replace}`;
}
