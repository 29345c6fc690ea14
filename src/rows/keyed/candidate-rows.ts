import { present } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import { printType } from '../../expr/print-expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { fieldOf } from '../../schema/columns.ts';
import type { Field } from '../../schema/types.ts';
import type { IndexedFile } from '../../table/key-index.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { fileIndexSql, holdTarget, rowPositionSql } from '../change/target-scan.ts';
import { takeIn } from './index-files.ts';
import type { IndexSearch } from './index-search.ts';
import { canCarry } from './index-sql.ts';
import { indexedRows } from './indexed-places.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';

/** Rows that may have keys of the batch, with their places, key columns and order columns. */
export interface CandidateRows {
  readonly rows: Relation;
  /** Files that were read for them. */
  readonly filesLookedAt: number;
}

/**
 * Asks the index where it is faster, for the files that it covers, and reads the others; it takes in some of these first. Whatever happens to the
 * index, all rows that have keys of the batch are among these.
 *
 * @param given the keys of the batch, as `namedKeys`.
 */
export async function candidateRows<File>(
  table: KeyedRowTable<File>,
  keyed: KeyedRows,
  { files, given }: { readonly files: readonly File[]; readonly given: Relation },
): Promise<CandidateRows> {
  const search = await searchOf(table, keyed, files);
  if (search === undefined) return { rows: await holdTarget(table, files, { withPositions: true }), filesLookedAt: files.length };
  const taken = await takeIn(search);
  const { index, known } = search;
  const covered = known.flatMap((file, at) => (file !== undefined && index.covers(file) ? [at] : []));
  const found = await indexedRows(search, covered, given);
  const isFound = new Set(found === undefined ? [] : covered);
  const others = files.flatMap((file, at) => (isFound.has(at) ? [] : [{ file, at }]));
  const parts = [found, others.length === 0 ? undefined : await scannedRows(search, others)].filter((part) => part !== undefined);
  if (index.isUntidy) {
    const all = await table.filesFor(undefined);
    index.tidy(all.flatMap((file) => identified(table, file) ?? []));
  }
  const filesLookedAt = others.length + taken;
  return {
    rows: { sql: parts.map(({ sql }) => sql).join(' UNION ALL '), schema: present(parts[0], 'there are files').schema },
    filesLookedAt,
  };
}

/** `undefined`: the index is not asked. */
async function searchOf<File>(
  table: KeyedRowTable<File>,
  { keyColumns, orderColumns, keys, index: indexes }: KeyedRows,
  files: readonly File[],
): Promise<IndexSearch<File> | undefined> {
  if (indexes === undefined || files.length === 0) return undefined;
  const known = files.map((file) => identified(table, file));
  const rows = known.reduce((sum, file) => sum + (file?.rowCount ?? 0), 0);
  const [keyFields, orderFields] = [keyColumns, orderColumns].map((names) =>
    names.map((name) => present(fieldOf(table.schema, name), 'a key column is one of the table')),
  );
  if (keyFields === undefined || orderFields === undefined || !orderFields.every(canCarry)) return undefined;
  if (!indexes.pays({ rows, keys: keys.rowCount })) return undefined;
  const columns = printJson([...keyFields, ...orderFields].map(columnText));
  const index = await indexes.of({ tableId: table.tableId, columns, carried: orderFields.length });
  const { rowsAtOnce } = indexes;
  return index === undefined ? undefined : { table, files, known, index, rowsAtOnce, keyFields, orderFields };
}

/** What the values of a column depend on beside the file. */
function columnText({ name, type, id, metadata }: Field): string {
  const said = Object.entries(metadata ?? {}).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return [name, printType(type), id ?? '', ...said.map(([key, value]) => `${key}=${String(value)}`)].join(' ');
}

function identified<File>(table: KeyedRowTable<File>, file: File): IndexedFile | undefined {
  const rowCount = table.storedRows(file);
  return rowCount === undefined || rowCount > 0xffff_ffff ? undefined : { ...table.placeOf(file), rowCount };
}

async function scannedRows<File>(
  { table, keyFields, orderFields }: IndexSearch<File>,
  others: readonly { readonly file: File; readonly at: number }[],
): Promise<Relation> {
  const fields = [...keyFields, ...orderFields];
  const scan = await holdTarget(
    table,
    others.map(({ file }) => file),
    { withPositions: true },
  );
  const places = `[${others.map(({ at }) => at).join(', ')}][${fileIndexSql} + 1] AS ${fileIndexSql}`;
  const sql = `SELECT ${fields.map(({ name }) => quoteName(name)).join(', ')}, ${places}, ${rowPositionSql} FROM (${scan.sql})`;
  return { sql, schema: { kind: 'struct', fields } };
}
