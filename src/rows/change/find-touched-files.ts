import { present } from '../../base/assert.ts';
import type { HeldRelation } from '../../engine/engine.ts';
import type { Expression } from '../../expr/expression.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowTable } from '../row-table.ts';
import type { RowWork } from '../row-work.ts';
import { longOf } from './engine-counts.ts';
import type { HiddenNames } from './hidden-names.ts';
import type { RowScope } from './row-scope.ts';
import { fileIndexSql, holdTarget, rowPositionSql, withScan } from './target-scan.ts';
import type { RowPositions, TouchedFile } from './touched-file.ts';

/** The rows a condition holds for: which files have them, and how many there are. */
interface MatchedRows<File> {
  readonly files: readonly { readonly file: File; readonly matched: bigint; readonly rows: bigint | undefined }[];
  readonly matched: bigint;
  /** By file and position; there where the table marks rows. */
  positions(): RowPositions<File>;
  /** A scan's rows with clause 0 for those that match. */
  touched(scan: Relation): string;
}

/** One pass over the columns that the condition mentions. `candidates`: files that may have rows of it. */
export async function findMatchedRows<File>(
  table: RowTable<File>,
  candidates: readonly File[],
  condition: { readonly scope: RowScope; readonly bound: Expression; readonly hidden: HiddenNames },
): Promise<MatchedRows<File>> {
  const { hidden } = condition;
  const where = condition.scope.sql(condition.bound);
  const held = table.marksRows ? await holdPositions(table, candidates, where, hidden) : undefined;
  const counted = held === undefined ? await countByFile(table, candidates, where) : await countHeld(table.work, held, hidden);
  const files = counted.map(({ index, ...counts }) => ({ file: present(candidates[index], 'a scan knows its files'), ...counts }));
  return {
    files,
    matched: files.reduce((sum, { matched }) => sum + matched, 0n),
    positions: () => {
      const rows = present(held, 'positions are held where rows are marked');
      return { files: candidates, positions: { sql: `SELECT * FROM (${rows.sql}) ORDER BY 1, 2`, schema: rows.schema } };
    },
    touched: (scan) => `SELECT *, CASE WHEN ${where} THEN 0 END AS ${quoteName(hidden.clause)} FROM (${scan.sql})`,
  };
}

/** Files as a rewrite takes them. */
export function touchedFiles<File>(rows: MatchedRows<File>, action: 'update' | 'delete'): readonly TouchedFile<File>[] {
  return rows.files.map(({ file, matched, rows: all }) =>
    action === 'update' ? { file, wholly: false, updatedRows: matched } : { file, wholly: matched === all, updatedRows: 0n },
  );
}

/** Rows of rewritten files that stay as they are: none where rows are marked, whose files are not counted. */
export function copiedRows<File>({ files, matched }: MatchedRows<File>): bigint {
  return files.reduce((sum, file) => sum + (file.rows ?? file.matched), 0n) - matched;
}

interface FileCount {
  readonly index: number;
  readonly matched: bigint;
  readonly rows: bigint | undefined;
}

async function countByFile<File>(table: RowTable<File>, candidates: readonly File[], where: string): Promise<readonly FileCount[]> {
  const matched = `count(*) FILTER (WHERE ${where})`;
  return withScan(table.scan(candidates, { withPositions: true }), async (scan) => {
    const sql = `SELECT ${fileIndexSql}, ${matched}, count(*) FROM (${scan.sql}) GROUP BY 1 HAVING ${matched} > 0 ORDER BY 1`;
    const rows = await table.work.engine.rows(sql, table.work.signal);
    return rows.map(([index, some, all]) => ({ index: Number(index), matched: longOf(some), rows: longOf(all) }));
  });
}

async function holdPositions<File>(
  table: RowTable<File>,
  candidates: readonly File[],
  where: string,
  hidden: HiddenNames,
): Promise<HeldRelation> {
  const { work } = table;
  const scan = await holdTarget(table, candidates, { withPositions: true });
  const file = `${fileIndexSql} AS ${quoteName(hidden.file)}`;
  const position = `${rowPositionSql} AS ${quoteName(hidden.position)}`;
  const long = { type: { kind: 'long' as const }, nullable: false };
  const fields = [
    { name: hidden.file, ...long },
    { name: hidden.position, ...long },
  ];
  const sql = `SELECT ${file}, ${position} FROM (${scan.sql}) WHERE ${where}`;
  return work.holding(work.engine.materialize({ sql, schema: { kind: 'struct', fields } }, work.signal));
}

async function countHeld(work: RowWork, held: Relation, hidden: HiddenNames): Promise<readonly FileCount[]> {
  const rows = await work.engine.rows(`SELECT ${quoteName(hidden.file)}, count(*) FROM (${held.sql}) GROUP BY 1 ORDER BY 1`, work.signal);
  return rows.map(([index, some]) => ({ index: Number(index), matched: longOf(some), rows: undefined }));
}
