import type { JsonObject } from '../../base/bigint-json.ts';
import type { MergeStatement } from './merge-statement.ts';

/** What the history of a format may say of a MERGE beside what it says of every row operation. */
export interface MergeOutcome {
  /** Its conditions and clauses. */
  readonly operationParameters: JsonObject;
  readonly counts: MergeCounts;
  /** Monotonic time at which the source was held. */
  readonly heldMs: number;
}

/** Rows of a MERGE by what happened to them. */
export interface MergeCounts {
  readonly source: bigint;
  readonly matchedUpdated: bigint;
  readonly matchedDeleted: bigint;
  readonly notMatchedBySourceUpdated: bigint;
  readonly notMatchedBySourceDeleted: bigint;
}

/** @param rowsByClause changed rows, by the clauses for matched rows and then those for rows without a source row. */
export function mergeCounts(statement: MergeStatement, rowsByClause: readonly bigint[], source: bigint): MergeCounts {
  const { matched, notMatchedBySource } = statement;
  const actions = [...matched, ...notMatchedBySource].map(({ action }) => action);
  const count = (action: 'update' | 'delete', isMatched: boolean): bigint =>
    actions.reduce((sum, candidate, clause) => {
      const counted = candidate === action && clause < matched.length === isMatched;
      return counted ? sum + (rowsByClause[clause] ?? 0n) : sum;
    }, 0n);
  return {
    source,
    matchedUpdated: count('update', true),
    matchedDeleted: count('delete', true),
    notMatchedBySourceUpdated: count('update', false),
    notMatchedBySourceDeleted: count('delete', false),
  };
}
