import { throwIfAborted } from '../../base/abort.ts';
import { present } from '../../base/assert.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { KeyEntries } from '../../table/key-index.ts';
import type { Relation } from '../../table/relation.ts';
import { fileIndexSql, rowPositionSql, withScan } from '../change/target-scan.ts';
import { entryWords, fileWord, positionWord } from '../key-index/entries.ts';
import type { RowWork } from '../row-work.ts';
import { type IndexSearch, longs, putWords, wordsOf } from './index-search.ts';
import { carriedSql, hashedSql } from './index-sql.ts';

/** Reads files that are not covered, as many as are taken in at once; gives how many are covered now. */
export async function takeIn<File>({ table, files, known, index, rowsAtOnce, keyFields, orderFields }: IndexSearch<File>): Promise<number> {
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
    for (const [index, half] of [a, b].entries()) putWords(half, entries, { width, high: 2 * index, low: 2 * index + 1 });
    putWords(file, entries, { width, low: fileWord });
    putWords(position, entries, { width, low: positionWord });
    for (const [index, values] of others.entries())
      putWords(values, entries, { width, low: entryWords(index), high: entryWords(index) + 1 });
    yield entries;
  }
}
