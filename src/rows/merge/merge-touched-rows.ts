import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Relation } from '../../table/relation.ts';
import { longOf } from '../change/engine-counts.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import type { RowClause } from '../change/rewrite-sql.ts';
import { fileIndexSql, rowPositionSql } from '../change/target-scan.ts';
import type { RowPositions, TouchedFile } from '../change/touched-file.ts';
import type { RowWork } from '../row-work.ts';

/** Rows of the table that a MERGE changes, known by file and position. */
export interface TouchedRows<File> {
  readonly files: readonly TouchedFile<File>[];
  readonly rowsByClause: readonly bigint[];
  /** The rows of a scan of `files`, each with its clause and the source's columns where it has one. */
  among(scan: Relation, files: readonly File[]): string;
  positions(): RowPositions<File>;
}

interface TouchedSearch<File> {
  /** File (index into `files`), position, clause, and carried columns; each row once. */
  readonly rows: Relation;
  readonly files: readonly File[];
  readonly hidden: HiddenNames;
  readonly clauses: readonly RowClause[];
  readonly carried: readonly string[];
}

/** Counts the rows by file and clause; `undefined`: there are none. */
export async function countTouched<File>(work: RowWork, search: TouchedSearch<File>): Promise<TouchedRows<File> | undefined> {
  const { hidden, clauses, files, rows } = search;
  const [file, position, clause] = [hidden.file, hidden.position, hidden.clause].map(quoteName);
  const counted = await work.engine.rows(`SELECT ${file}, ${clause}, count(*) FROM (${rows.sql}) GROUP BY ALL`, work.signal);
  if (counted.length === 0) return undefined;
  const rowsByClause = clauses.map(() => 0n);
  const updated = new Map<number, bigint>();
  for (const [index, place, count] of counted.map((row) => row.map(longOf))) {
    const at = Number(place ?? 0n);
    rowsByClause[at] = (rowsByClause[at] ?? 0n) + (count ?? 0n);
    const updates = clauses[at]?.kind === 'update' ? (count ?? 0n) : 0n;
    updated.set(Number(index ?? 0n), (updated.get(Number(index ?? 0n)) ?? 0n) + updates);
  }
  return {
    files: files.flatMap((candidate, index): readonly TouchedFile<File>[] => {
      const updatedRows = updated.get(index);
      return updatedRows === undefined ? [] : [{ file: candidate, wholly: false, updatedRows }];
    }),
    rowsByClause,
    among: (scan, group) => amongSql(search, scan, group),
    positions: () => ({
      files,
      positions: {
        sql: `SELECT ${file ?? ''}, ${position ?? ''} FROM (${rows.sql}) ORDER BY 1, 2`,
        schema: { kind: 'struct', fields: rows.schema.fields.slice(0, 2) },
      },
    }),
  };
}

/**
 * Files have another place in the scan of a group than in the search. The places are a list, not a relation to join with: the engine must
 * see that these are fewer rows than the scan's, or it holds the scan in memory and streams these.
 */
function amongSql<File>({ rows, files, hidden, carried }: TouchedSearch<File>, scan: Relation, group: readonly File[]): string {
  const columns = [hidden.clause, ...carried].map((name) => `m.${quoteName(name)}`);
  const [file, position] = [hidden.file, hidden.position].map(quoteName);
  const places = new Map(group.map((member, index) => [member, index]));
  const same = files.length === group.length && files.every((member, index) => places.get(member) === index);
  const touched = same
    ? rows.sql
    : `SELECT * REPLACE ([${files.map((member) => places.get(member) ?? -1).join(', ')}][${file} + 1] AS ${file}) FROM (${rows.sql})`;
  return `SELECT t.*, ${columns.join(', ')} FROM (${scan.sql}) t LEFT JOIN (${touched}) m ON m.${file} = t.${fileIndexSql} AND m.${position} = t.${rowPositionSql}`;
}
