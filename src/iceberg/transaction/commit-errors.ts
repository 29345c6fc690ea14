import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeError } from '../../base/errors.ts';

/**
 * Somebody else committed what this change cannot be put behind (https://iceberg.apache.org/docs/latest/reliability/). Nothing of it became
 * visible; the whole operation can be run again.
 */
export class ValidationException extends AnalysisException {
  constructor(message: string, hint = 'run the operation again: it starts from the newest snapshot of the table') {
    super({ errorClass: 'VALIDATION_FAILED', alias: 'ValidationException', kind: 'conflict', message, hint });
    this.name = 'ValidationException';
  }
}

/** Others were first as often as the table's properties allow trying. Nothing of the commit became visible. */
export class CommitFailedException extends AnalysisException {
  constructor(table: string, detail: string) {
    super({
      errorClass: 'COMMIT_FAILED',
      alias: 'CommitFailedException',
      kind: 'conflict',
      message: `cannot commit to table "${table}": ${detail}`,
      hint: 'run the operation again when fewer writers are at work, or raise commit.retry.num-retries',
      parameters: { tableName: table },
    });
    this.name = 'CommitFailedException';
  }
}

/** The commit may have landed and could not be found. What it wrote may be part of the table: nothing of it may be deleted. */
export class CommitStateUnknownException extends AnalysisException {
  constructor(table: string, cause: unknown) {
    super({
      errorClass: 'COMMIT_STATE_UNKNOWN',
      alias: 'CommitStateUnknownException',
      kind: 'unknown-outcome',
      message: `table "${table}": the commit may or may not have landed: ${describeError(cause)}`,
      hint: 'look for it in the table before running the operation again; nothing was deleted, orphan files are removed by remove_orphan_files',
      parameters: { tableName: table },
      cause,
    });
    this.name = 'CommitStateUnknownException';
  }
}
