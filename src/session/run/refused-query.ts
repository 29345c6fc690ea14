import { AnalysisException } from '../../base/analysis-exception.ts';

const classes: readonly { readonly pattern: RegExp; readonly errorClass: string; readonly hint?: string }[] = [
  {
    pattern: /must appear in the GROUP BY clause/u,
    errorClass: 'MISSING_AGGREGATION',
    hint: 'add the column to GROUP BY, or use any_value(column) if it does not matter which value you get',
  },
  {
    pattern: /aggregates? .*cannot be nested|cannot contain aggregates|aggregate function calls cannot/iu,
    errorClass: 'NESTED_AGGREGATE_FUNCTION',
  },
  { pattern: /window function/iu, errorClass: 'UNSUPPORTED_EXPR_FOR_WINDOW' },
  { pattern: /Set operations can only apply|same number of (?:result )?columns/iu, errorClass: 'NUM_COLUMNS_MISMATCH' },
  {
    pattern: /Subquery returns \d+ columns/iu,
    errorClass: 'INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN',
  },
  {
    pattern: /No function matches|Cannot (?:compare|mix|combine|cast)|[Cc]ould not (?:choose|convert)|Type mismatch|data type/u,
    errorClass: 'DATATYPE_MISMATCH',
  },
];

/** What the engine has against a query before it runs, in the family of errors a user of the dialect knows. */
export function refusedQuery(error: Error): AnalysisException {
  const known = classes.find(({ pattern }) => pattern.test(error.message));
  return new AnalysisException({
    errorClass: known?.errorClass ?? 'INVALID_QUERY',
    message: readable(error.message),
    hint: known?.hint,
    cause: error,
  });
}

// Columns have names of ours in the engine's text: the user's, and a number.
function readable(message: string): string {
  return (
    message
      .replace(/^(?:binder|parser|catalog|conversion): /u, '')
      .replaceAll(/#\d+(?=["\s,.)]|$)/gu, '')
      .split('\n')[0] ?? message
  );
}
