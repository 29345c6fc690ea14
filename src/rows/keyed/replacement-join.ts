import { quoteName } from '../../expr/sql/engine-sql.ts';
import { keyEquality } from './key-sql.ts';

interface Replacements {
  readonly keyColumns: readonly string[];
  /** SQL that finds rows of the first side to be replaced, which it has as `m`. */
  readonly isReplaced: string;
  /** What is taken of the rows in their place, which are `s`. */
  readonly columns: readonly string[];
}

/**
 * Rows, and beside those that are replaced the row of the same key in `staged`. Whether a row is replaced is asked in the comparison of its key:
 * of a condition beside it, over one side of an outer join, the engine makes a comparison of each row with each.
 */
export function joinReplacements(rows: string, staged: string, { keyColumns, isReplaced, columns }: Replacements): string {
  const same = keyEquality(keyColumns, {
    left: (name, index) => (index === 0 ? `CASE WHEN ${isReplaced} THEN m.${quoteName(name)} END` : `m.${quoteName(name)}`),
    right: (name) => `s.${quoteName(name)}`,
  });
  return `SELECT m.*, ${columns.join(', ')} FROM (${rows}) m LEFT JOIN (${staged}) s ON ${same}`;
}
