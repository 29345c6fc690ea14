import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { countRows, longOf } from '../change/engine-counts.ts';
import { fileIndexSql, rowPositionSql } from '../change/target-scan.ts';
import type { RowWork } from '../row-work.ts';
import { keyEquality } from './key-sql.ts';

interface Copies {
  /** Rows that were copied into new files, with their places there. */
  readonly copies: Relation;
  /** Those of the rows they were copied from that the table still has. */
  readonly live: Relation;
  readonly keyColumns: readonly string[];
}

/**
 * The places of copied rows that the table has no more, by file and position, kept until the work ends. A row is told by its key, whatever order the
 * copies are in. `undefined`: keys do not tell, for some row has none or not one of its own, or for rows are live that were not copied.
 */
export async function deletedCopies(work: RowWork, { copies, live, keyColumns }: Copies): Promise<Relation | undefined> {
  const same = keyEquality(keyColumns, { left: (name) => `l.${quoteName(name)}`, right: (name) => `c.${quoteName(name)}` });
  const fields = ['file', 'position'].map((name): Field => ({ name, type: { kind: 'long' }, nullable: false }));
  const dead = await work.holding(
    work.engine.materialize(
      {
        sql: `SELECT c.${fileIndexSql}::BIGINT AS file, c.${rowPositionSql}::BIGINT AS position FROM (${copies.sql}) c WHERE NOT EXISTS (SELECT 1 FROM (${live.sql}) l WHERE ${same}) ORDER BY 1, 2`,
        schema: { kind: 'struct', fields },
      },
      work.signal,
    ),
  );
  const keys = keyColumns.map(quoteName);
  const distinct = `SELECT count(*), count(DISTINCT struct_pack(${keys.map((key, index) => `k${index} := ${key}`).join(', ')})) FILTER (WHERE ${keys.map((key) => `${key} IS NOT NULL`).join(' AND ')}) FROM (${copies.sql})`;
  const [counts = []] = await work.engine.rows(distinct, work.signal);
  const [copied, ofKeys] = counts.map(longOf);
  const left = (copied ?? 0n) - (await countRows(work, dead));
  return copied === ofKeys && left === (await countRows(work, live))
    ? { sql: `SELECT * FROM (${dead.sql}) ORDER BY 1, 2`, schema: dead.schema }
    : undefined;
}
