import { AnalysisException } from '../../base/analysis-exception.ts';
import type { MergeClause } from '../../table/row-operations.ts';

const kinds: Readonly<Record<MergeClause['on'], { readonly word: string; readonly errorClass: string }>> = {
  matched: { word: 'MATCHED', errorClass: 'NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION' },
  'not-matched': { word: 'NOT MATCHED [BY TARGET]', errorClass: 'NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION' },
  'not-matched-by-source': { word: 'NOT MATCHED BY SOURCE', errorClass: 'NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION' },
};

/** Clauses behind one without a condition could never apply. */
export function unreachableClause(on: MergeClause['on']): AnalysisException {
  const { word, errorClass } = kinds[on];
  return new AnalysisException({
    errorClass,
    sqlState: '42613',
    message: `When there are more than one ${word} clauses in a MERGE statement, only the last ${word} clause can omit the condition.`,
  });
}
