import { AnalysisException } from '../../../base/analysis-exception.ts';
import type { Expression } from '../../../expr/expression.ts';
import type { MergeClause } from '../../../table/row-operations.ts';
import { historyText, type Side } from '../row-scope.ts';

const usageReference = 'https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge';

/** A row of the table for which several source rows want something. */
export function multipleMatches(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE',
    sqlState: '21506',
    message: `Cannot perform Merge as multiple source rows matched and attempted to modify the same
target row in the Delta table in possibly conflicting ways. By SQL semantics of Merge,
when multiple source rows match on the same target row, the result may be ambiguous
as it is unclear which source row should be used to update or delete the matching
target row. You can preprocess the source table to eliminate the possibility of
multiple matches. Please refer to
${usageReference}`,
    parameters: { usageReference },
    hint: 'reduce the source to one row for each key before merging',
  });
}

export function missingWhen(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_MERGE_MISSING_WHEN',
    sqlState: '42601',
    message: 'There must be at least one WHEN clause in a MERGE statement.',
  });
}

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

/** A name in a clause that none of the columns it may use has. */
export function unresolvedInMerge(sqlExpr: string, place: { readonly clause: string; readonly sides: readonly Side[] }): AnalysisException {
  const cols = place.sides
    .flatMap(({ alias, schema }) => schema.fields.map((field) => (alias === undefined ? field.name : `${alias}.${field.name}`)))
    .join(', ');
  return new AnalysisException({
    errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION',
    sqlState: '42601',
    message: `Cannot resolve ${sqlExpr} in ${place.clause} given columns ${cols}.`,
    parameters: { sqlExpr, clause: place.clause, cols },
  });
}

/** A condition that would answer differently each time it is asked. */
export function randomMergeCondition(bound: Expression, clause: string): AnalysisException {
  const operation = `${clause} of MERGE operation`;
  const expression = `(condition = ${historyText(bound)}).`;
  return new AnalysisException({
    errorClass: 'DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED',
    kind: 'unsupported',
    sqlState: '0AKDC',
    message: `Non-deterministic functions are not supported in the ${operation} ${expression}`,
    parameters: { operation, expression },
  });
}

export function duplicateInsertColumns(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_DUPLICATE_COLUMNS_ON_INSERT',
    sqlState: '42701',
    message: 'Duplicate column names in INSERT clause',
  });
}
