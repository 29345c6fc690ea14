import type { DataType } from '../../schema/types.ts';
import { lowerForTypes, standInSql } from '../lower/lower.ts';
import { type Analyzed, nameable } from '../plan/analyzed.ts';
import type { Analysis } from './analysis.ts';

/**
 * Types of a node's columns as the engine sees them, without reading rows: sources stand in by none, and so do the rows of the queries
 * around.
 *
 * @throws ServiceError `ENGINE_QUERY_INVALID`: what the engine has against the query.
 */
export async function describedTypes({ execution, scope }: Analysis, node: Analyzed): Promise<readonly DataType[]> {
  const sql = await lowerForTypes(execution, node, { mentions: 'stand-in' });
  const around = scope.outer.flatMap(nameable);
  const text =
    around.length === 0 ? sql : `SELECT "described".* FROM (${standInSql(around)}) AS "around" CROSS JOIN LATERAL (${sql}) AS "described"`;
  const { fields } = await execution.engine.describe(text, execution.signal);
  return fields.map(({ type }) => type);
}
