import { present } from '../../base/assert.ts';
import { partitionPoint } from '../../base/partition-point.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { type Column, type ColumnBatch, longColumn } from '../../schema/columns.ts';
import type { KeyHashes, KeyPlaces } from '../../table/key-index.ts';
import type { Relation } from '../../table/relation.ts';
import { fileIndexSql, rowPositionSql } from '../change/target-scan.ts';
import { hashWords } from '../key-index/entries.ts';
import type { RowWork } from '../row-work.ts';
import { type IndexSearch, longs, putWords, wordsOf } from './index-search.ts';
import { hashedSql, uncarriedSql } from './index-sql.ts';
import { keyName } from './key-sql.ts';
import type { KeyedRowTable } from './keyed-row-table.ts';

/** The live rows of the keys in the files that are covered, with their places. `undefined`: the index has failed, or covers none. */
export async function indexedRows<File>(
  search: IndexSearch<File>,
  covered: readonly number[],
  given: Relation,
): Promise<Relation | undefined> {
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
    for (const [index, half] of columns.entries())
      putWords(wordsOf(half), hashes, { width: hashWords, high: 2 * index, low: 2 * index + 1 });
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
  const at = partitionPoint(0, marks.length / 2, (index) => (marks[2 * index] ?? 0) < position);
  return marks[2 * at] === position;
}
