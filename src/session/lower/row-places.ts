import { unsupported } from '../../base/unsupported-feature.ts';
import type { Expression } from '../../expr/expression.ts';
import { expressionSql } from '../../expr/sql/engine-sql.ts';
import { asksForPlaces, rowPlace } from '../plan/row-place.ts';
import { columnSql } from './column-sql.ts';

/** Rows with the place of each among them, in the order they come in. */
export function withPlaces(from: string): string {
  return `(SELECT *, row_number() OVER () - 1 AS ${placeSql()} FROM ${from})`;
}

/** All columns of such rows but the place. */
export function starWithoutPlace(placed: boolean): string {
  return placed ? `* EXCLUDE (${placeSql()})` : '*';
}

function placeSql(): string {
  return expressionSql(rowPlace, columnSql);
}

/** @throws AnalysisException `UNSUPPORTED_FEATURE` for the clause, if rows have no place there. */
export function requireNoPlaces(clause: string, expressions: readonly Expression[]): void {
  if (asksForPlaces(expressions)) throw unsupported(`rand(seed) in ${clause}`, 'compute it in a select list before');
}
