import { AnalysisException } from '../../base/analysis-exception.ts';
import { describeError, isServiceError } from '../../base/errors.ts';

/** A streaming query that ended because something failed; `cause` is what. */
export class StreamingQueryException extends AnalysisException {
  readonly queryId: string;
  readonly runId: string;

  constructor(query: { readonly id: string; readonly runId: string }, cause: unknown) {
    super({
      errorClass: 'STREAM_FAILED',
      kind: isServiceError(cause) ? cause.kind : 'internal',
      message: `Query [id = ${query.id}, runId = ${query.runId}] terminated with exception: ${describeError(cause)}`,
      hint: isServiceError(cause) ? cause.hint : undefined,
      parameters: { id: query.id, runId: query.runId },
      cause,
    });
    this.name = 'StreamingQueryException';
    this.queryId = query.id;
    this.runId = query.runId;
  }
}

export function streamFailed(query: { readonly id: string; readonly runId: string }, cause: unknown): StreamingQueryException {
  return new StreamingQueryException(query, cause);
}
