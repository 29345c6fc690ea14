import { quoteName, sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Analyzed } from '../plan/analyzed.ts';

/**
 * The engine's recursion. Each row has its level and the number of rows before that beside it. The rows that a level sees are those of the one
 * before, all of them, so that both numbers are had of any of them, whatever the branch does with its rows. Nothing is computed above the
 * recursion: who takes a few rows stops it there.
 */
export function recursionSql(
  plan: Extract<Analyzed, { readonly kind: 'recursion' }>,
  { anchor, step }: { readonly anchor: string; readonly step: string },
): string {
  const { id, limits, attributes, left, right } = plan;
  const name = quoteName(id);
  const columns = attributes.map((attribute) => quoteName(attribute.id)).join(', ');
  const cast = (side: Analyzed): string =>
    side.attributes
      .map((attribute, index) => `CAST(${quoteName(attribute.id)} AS ${typeSql((attributes[index] ?? attribute).field.type)})`)
      .join(', ');
  const level = bounded({ name, value: 'max("level") + 1', limit: limits.levels, what: 'level' });
  const rows = bounded({ name, value: 'max("rows") + count(*)', limit: limits.rows, what: 'row' });
  const first = `SELECT ${cast(left)}, CAST(0 AS BIGINT), CAST(0 AS BIGINT) FROM (${anchor}) AS "anchor"`;
  const next = `SELECT ${cast(right)}, ${level}, ${rows} FROM (${step}) AS "step"`;
  return `WITH RECURSIVE ${name}(${columns}, "level", "rows") AS (${first} UNION ALL ${next}) SELECT ${columns} FROM ${name}`;
}

interface Bound {
  readonly name: string;
  /** Over the rows of the level before. */
  readonly value: string;
  readonly limit: number;
  readonly what: 'level' | 'row';
}

function bounded({ name, value, limit, what }: Bound): string {
  const message = `[RECURSION_${what.toUpperCase()}_LIMIT_EXCEEDED] Recursion ${what} limit ${limit} reached but query has not exhausted, try increasing it.`;
  const raised = `CAST(error(${sqlText(message)}) AS BIGINT)`;
  return `(SELECT CASE WHEN ${value} > ${limit} THEN ${raised} ELSE ${value} END FROM ${name})`;
}
