import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { messageRules } from './engine-messages.ts';
import { refusedQuery } from './refused-query.ts';

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
  return new AnalysisException({ errorClass, message, cause: error });
}

function translated(error: Error): unknown {
  for (const { pattern, errorClass, message } of messageRules) {
    const found = pattern.exec(error.message);
    if (found !== null) return new AnalysisException({ errorClass, message: message(found), cause: error });
  }
  return error;
}

function changesGone(cause: Error): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_CHANGE_DATA_FILE_NOT_FOUND',
    kind: 'not-found',
    message:
      'a file with change rows of the range is no longer there: it was deleted by VACUUM, or when the table was cleaned up otherwise',
    hint: 'start the read at a later version; to keep changes longer raise delta.deletedFileRetentionDuration before the next VACUUM',
    cause,
  });
}
