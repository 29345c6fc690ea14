import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { messageRules } from './engine-messages.ts';
import { refusedQuery } from './refused-query.ts';

/** States of the errors that expressions raise while rows are computed. */
const sqlStates: Readonly<Record<string, string>> = {
  DIVIDE_BY_ZERO: '22012',
  REMAINDER_BY_ZERO: '22012',
  CAST_INVALID_INPUT: '22018',
  INVALID_ARRAY_INDEX: '22003',
  INVALID_ARRAY_INDEX_IN_ELEMENT_AT: '22003',
  INVALID_INDEX_OF_ZERO: '22003',
  NUMERIC_VALUE_OUT_OF_RANGE: '22003',
  ILLEGAL_DAY_OF_WEEK: '22009',
  INVALID_FRACTION_OF_SECOND: '22023',
  INVALID_PARAMETER_VALUE: '22023',
  INVALID_FORMAT: '42601',
  USER_RAISED_EXCEPTION: 'P0001',
  DATETIME_FIELD_OUT_OF_BOUNDS: '22023',
  CANNOT_DECODE_URL: '22546',
  INVALID_UTF8_STRING: '22029',
  CANNOT_PARSE_TIMESTAMP: '22007',
  INVALID_URL: '22P02',
  CONVERSION_INVALID_INPUT: '22018',
  RECURSION_LEVEL_LIMIT_EXCEEDED: '42836',
  RECURSION_ROW_LIMIT_EXCEEDED: '42836',
};

/**
 * What went wrong with a query before it ran or while rows were computed, as users of the dialect know it: the errors our expressions raise
 * carry their class in brackets; a file of change rows that is gone was vacuumed. Other errors pass through.
 *
 * @param readsChanges whether change rows were read.
 */
export function evaluationError(error: unknown, readsChanges: boolean): unknown {
  if (!isServiceError(error) || error instanceof AnalysisException) return error;
  if (readsChanges && error.code === 'ENGINE_FILE_MISSING') return changesGone(error);
  if (error.code === 'ENGINE_QUERY_INVALID') return refusedQuery(error);
  if (error.code !== 'ENGINE_QUERY_FAILED') return error;
  const raised = /^invalid input: \[([A-Z_\d]+(?:\.[A-Z_\d]+)?)\] ([^]*)$/.exec(error.message);
  const [, errorClass, message] = raised ?? [];
  if (errorClass === undefined || message === undefined) return translated(error);
  const [family = ''] = errorClass.split('.');
  return new AnalysisException({ errorClass, sqlState: sqlStates[family], message, cause: error });
}

function translated(error: Error): unknown {
  for (const { pattern, errorClass, sqlState, message } of messageRules) {
    const found = pattern.exec(error.message);
    if (found !== null) return new AnalysisException({ errorClass, sqlState, message: message(found), cause: error });
  }
  return error;
}

function changesGone(cause: Error): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CHANGE_DATA_FILE_NOT_FOUND',
    sqlState: '42K03',
    kind: 'not-found',
    message:
      'a file with change rows of the range is no longer there: it was deleted by VACUUM, or when the table was cleaned up otherwise',
    hint: 'start the read at a later version; to keep changes longer raise delta.deletedFileRetentionDuration before the next VACUUM',
    cause,
  });
}
