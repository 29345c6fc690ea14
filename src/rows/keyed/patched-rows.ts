import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { KeyedRows, Patches } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { countRows } from '../change/engine-counts.ts';
import { touchedColumn } from '../change/rewrite-sql.ts';
import { holdTarget } from '../change/target-scan.ts';
import type { RowTable } from '../row-table.ts';
import { clauseOf, type FoundKeys } from './find-keys.ts';
import { keyEquality, withoutKeys } from './key-sql.ts';

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
  const { late, hidden } = found;
  const flagOf = (index: number): string => hidden.source(index);
  const given = flaggedPatches(patches, writtenSchema, flagOf);
  const held = (await work.holding(work.engine.hold(given.schema, [given], work.signal))).sql;
  const onTime = late === undefined ? held : withoutKeys(held, late.sql, { keyColumns, keyOf: (index) => hidden.value(index) });
  const stored = await storedRows(table, { patches, keyColumns }, found);
  const merged = { sql: patchedSql({ patches, keyColumns, schema: writtenSchema, flagOf }, onTime, stored), schema: writtenSchema };
  const rows = await work.holding(work.engine.materialize(merged, work.signal));
  return { rows, count: Number(await countRows(work, rows)) };
}

/** The rows as they are given: the columns of the table, and by each that a row may leave as it is whether it does. */
export function flaggedPatches({ rows, columns }: Patches, schema: StructType, flagOf: (index: number) => string): ColumnBatch {
  const flags = columns.map((_, index) => ({ name: flagOf(index), type: { kind: 'boolean' as const }, nullable: false }));
  return { ...rows, schema: { kind: 'struct', fields: [...schema.fields, ...flags] } };
}

/** What flagged patches become with the stored rows of their keys, which have what they may leave; `undefined`: there are none. */
export function patchedSql(
  of: {
    readonly patches: Pick<Patches, 'columns'>;
    readonly keyColumns: readonly string[];
    readonly schema: StructType;
    readonly flagOf: (index: number) => string;
  },
  flagged: string,
  stored: string | undefined,
): string {
  const columns = of.schema.fields.map(({ name }) => {
    const flag = of.patches.columns.indexOf(name);
    if (flag < 0) return `p.${quoteName(name)}`;
    const value = stored === undefined ? 'NULL' : `t.${quoteName(name)}`;
    return `CASE WHEN p.${quoteName(of.flagOf(flag))} THEN ${value} ELSE p.${quoteName(name)} END AS ${quoteName(name)}`;
  });
  const same = keyEquality(of.keyColumns, { left: (name) => `t.${quoteName(name)}`, right: (name) => `p.${quoteName(name)}` });
  const joined = stored === undefined ? '' : ` LEFT JOIN (${stored}) t ON ${same}`;
  return `SELECT ${columns.join(', ')} FROM (${flagged}) p${joined}`;
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
