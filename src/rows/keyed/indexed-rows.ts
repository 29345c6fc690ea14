import { throwIfAborted } from '../../base/abort.ts';
import { present } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import { printType } from '../../expr/print-expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { type Column, type ColumnBatch, fieldOf, longColumn } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { IndexedFile, KeyEntries, KeyHashes, KeyPlaces, TableKeyIndex } from '../../table/key-index.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { Relation } from '../../table/relation.ts';
import { fileIndexSql, holdTarget, rowPositionSql, withScan } from '../change/target-scan.ts';
import { entryWords, fileWord, hashWords, positionWord } from '../key-index/entries.ts';
import type { RowWork } from '../row-work.ts';
import { canCarry, carriedSql, hashedSql, uncarriedSql } from './index-sql.ts';
import { keyName } from './key-sql.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';

/** Rows that may have keys of the batch, with their places, key columns and order columns. */
export interface CandidateRows {
  readonly rows: Relation;
  /** Files that were read for them. */
  readonly filesLookedAt: number;
}

interface Search<File> {
  readonly table: KeyedRowTable<File>;
  readonly files: readonly File[];
  /** `undefined`: how many rows it has is not known, and it is read. */
  readonly known: readonly (IndexedFile | undefined)[];
  readonly index: TableKeyIndex;
  readonly rowsAtOnce: number;
  readonly keyFields: readonly Field[];
  readonly orderFields: readonly Field[];
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
  const found = await foundRows(search, covered, given);
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
): Promise<Search<File> | undefined> {
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

/** Reads files that are not covered, as many as are taken in at once; gives how many are covered now. */
async function takeIn<File>({ table, files, known, index, rowsAtOnce, keyFields, orderFields }: Search<File>): Promise<number> {
  const next: number[] = [];
  let rows = 0;
  for (const [at, file] of known.entries()) {
    if (file === undefined || index.covers(file)) continue;
    if (rows > 0 && rows + file.rowCount > rowsAtOnce) break;
    next.push(at);
    rows += file.rowCount;
  }
  if (next.length === 0) return 0;
  const chosen = next.map((at) => present(files[at], 'it is one of the files'));
  const isTaken = await withScan(table.scan(chosen, { withPositions: true, withDeletedRows: true }), async (scan) => {
    const keySql = (at: number): string => quoteName(keyFields[at]?.name ?? '');
    const others = [fileIndexSql, rowPositionSql, ...orderFields.map(carriedSql)];
    const hashed = hashedSql({ rows: scan.sql, fields: keyFields, columnSql: keySql, salt: index.salt, others });
    const entries = { sql: `${hashed} ORDER BY a, b`, schema: longs(['a', 'b', ...others.map((_, at) => `o${at}`)]) };
    return index.add(
      next.map((at) => present(known[at], 'it is one of the files')),
      entriesOf(table.work, entries, orderFields.length),
    );
  });
  return isTaken ? next.length : 0;
}

async function* entriesOf(work: RowWork, relation: Relation, carried: number): AsyncGenerator<KeyEntries, void, undefined> {
  const width = entryWords(carried);
  for await (const { rowCount, columns } of work.engine.read(relation, work.signal)) {
    throwIfAborted(work.signal);
    const entries = new Uint32Array(rowCount * width);
    const [a, b, file, position, ...others] = columns.map(wordsOf);
    const copy = (from: Uint32Array | undefined, high: boolean, to: number): void => {
      for (let row = 0; row < rowCount; row += 1) entries[row * width + to] = from?.[2 * row + (high ? 1 : 0)] ?? 0;
    };
    for (const [index, hash] of [a, b].entries()) {
      copy(hash, true, 2 * index);
      copy(hash, false, 2 * index + 1);
    }
    copy(file, false, fileWord);
    copy(position, false, positionWord);
    for (const [index, values] of others.entries()) {
      copy(values, false, entryWords(index));
      copy(values, true, entryWords(index) + 1);
    }
    yield entries;
  }
}

/** Low and high words of 64-bit numbers in turn. */
function wordsOf(column: Column): Uint32Array {
  const values = column.layout === 'fixed' && column.nullCount === 0 ? column.values : undefined;
  const numbers = present(values instanceof BigInt64Array ? values : undefined, 'the index is of 64-bit numbers without nulls');
  return new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length * 2);
}

/** `undefined`: the index has failed. */
async function foundRows<File>(search: Search<File>, covered: readonly number[], given: Relation): Promise<Relation | undefined> {
  if (covered.length === 0) return undefined;
  const { table, files, known, index, keyFields, orderFields } = search;
  const { work } = table;
  const keySql = (at: number): string => quoteName(keyName(at));
  const others = keyFields.map((_, at) => keySql(at));
  const hashed = hashedSql({ rows: given.sql, fields: keyFields, columnSql: keySql, salt: index.salt, others });
  const numbered = `SELECT *, row_number() OVER (ORDER BY a, b) - 1 AS n FROM (${hashed})`;
  const keys = await work.holding(work.engine.materialize({ sql: numbered, schema: longs(['n']) }, work.signal));
  const hashes = await hashesOf(work, { sql: `SELECT a, b FROM (${keys.sql}) ORDER BY n`, schema: longs(['a', 'b']) });
  const places = await index.find(
    hashes,
    covered.map((at) => present(known[at], 'it is one of the files')),
    work.signal,
  );
  if (places === undefined) return undefined;
  const live = await livePlaces(table, places, covered, files);
  const held = await work.holding(work.engine.hold(live.schema, [live], work.signal));
  const columns = [
    ...keyFields.map(({ name }, at) => `k.o${at} AS ${quoteName(name)}`),
    ...orderFields.map((field, at) => `${uncarriedSql(field, `p.c${at}`)} AS ${quoteName(field.name)}`),
    `p.file AS ${fileIndexSql}`,
    `p.pos AS ${rowPositionSql}`,
  ];
  const sql = `SELECT ${columns.join(', ')} FROM (${held.sql}) p JOIN (${keys.sql}) k ON k.n = p.n`;
  return { sql, schema: { kind: 'struct', fields: [...keyFields, ...orderFields] } };
}

async function hashesOf(work: RowWork, relation: Relation): Promise<KeyHashes> {
  const pieces: Uint32Array[] = [];
  for await (const { rowCount, columns } of work.engine.read(relation, work.signal)) {
    const hashes = new Uint32Array(rowCount * hashWords);
    for (const [index, column] of columns.entries()) {
      const words = wordsOf(column);
      for (let row = 0; row < rowCount; row += 1) {
        hashes[row * hashWords + 2 * index] = words[2 * row + 1] ?? 0;
        hashes[row * hashWords + 2 * index + 1] = words[2 * row] ?? 0;
      }
    }
    pieces.push(hashes);
  }
  const all = new Uint32Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** Places of rows that are not deleted in this version. `covered`: which of the table's files the index calls how. */
async function livePlaces<File>(
  table: KeyedRowTable<File>,
  places: KeyPlaces,
  covered: readonly number[],
  files: readonly File[],
): Promise<ColumnBatch> {
  const touched = [...new Set(places.files.subarray(0, places.count))];
  const deleted = await table.deletedRows(touched.map((at) => present(files[covered[at] ?? -1], 'it is one of the files')));
  const marks = new Map<number, Uint32Array>();
  for (const [index, at] of touched.entries()) {
    const positions = await deleted[index]?.(table.work.signal);
    if (positions !== undefined) marks.set(at, new Uint32Array(positions.buffer, positions.byteOffset, positions.length * 2));
  }
  const live: number[] = [];
  for (let place = 0; place < places.count; place += 1)
    if (!hasPosition(marks.get(places.files[place] ?? -1), places.positions[place] ?? 0)) live.push(place);
  const column = (value: (place: number) => bigint): Column => longColumn(BigInt64Array.from(live, value));
  return {
    schema: longs(['n', 'file', 'pos', ...places.carried.map((_, index) => `c${index}`)]),
    rowCount: live.length,
    columns: [
      column((place) => BigInt(places.keys[place] ?? 0)),
      column((place) => BigInt(covered[places.files[place] ?? -1] ?? -1)),
      column((place) => BigInt(places.positions[place] ?? 0)),
      ...places.carried.map((values) => column((place) => values[place] ?? 0n)),
    ],
  };
}

/** @param marks ascending numbers of 64 bits, low words first. */
function hasPosition(marks: Uint32Array | undefined, position: number): boolean {
  if (marks === undefined) return false;
  let low = 0;
  let high = marks.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((marks[2 * middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return marks[2 * low] === position;
}

async function scannedRows<File>(
  { table, keyFields, orderFields }: Search<File>,
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

function longs(names: readonly string[]): StructType {
  return { kind: 'struct', fields: names.map((name) => ({ name, type: { kind: 'long' }, nullable: false })) };
}
