import { AnalysisException } from '../base/analysis-exception.ts';

/** What needs the query engine was asked of a table that has none. */
export function engineNotAvailable(table: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'ENGINE_NOT_AVAILABLE',
    kind: 'unsupported',
    message: `table "${table}" was opened without the query engine`,
    hint: 'open it through a Session, or pass an engine',
  });
}
