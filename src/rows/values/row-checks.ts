import type { AnalysisException } from '../../base/analysis-exception.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Relation } from '../../table/relation.ts';

/** Something no row may be. */
export interface RowCheck {
  /** Engine SQL over the rows' columns: true for a row that breaks it; false or null for others. */
  readonly broken: string;
  /** Engine SQL of the values the message shows, of type VARCHAR. */
  readonly values: readonly string[];
  /** The refusal, with the values of a row that breaks it; null is `undefined`. */
  error(values: readonly (string | undefined)[]): AnalysisException;
}

/**
 * Refuses rows of which one breaks a check: the first check of the list that any row breaks. Reads the rows once when all are fine, twice
 * otherwise, not at all without checks.
 */
export async function refuseBrokenRows(engine: Engine, rows: Relation, checks: readonly RowCheck[], signal?: AbortSignal): Promise<void> {
  if (checks.length === 0) return;
  const tests = checks.map(({ broken }) => `coalesce(bool_or(${broken}), false)`);
  const [outcome = []] = await engine.rows(`SELECT ${tests.join(', ')} FROM (${rows.sql})`, signal);
  const check = checks[outcome.indexOf(true)];
  if (check === undefined) return;
  const values = check.values.length === 0 ? 'NULL' : check.values.join(', ');
  const [row = []] = await engine.rows(`SELECT ${values} FROM (${rows.sql}) WHERE ${check.broken} LIMIT 1`, signal);
  throw check.error(check.values.map((_, index) => textOf(row[index])));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
