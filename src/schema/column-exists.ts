import { AnalysisException, type AnalysisExceptionOptions } from '../base/analysis-exception.ts';

/** `COLUMN_ALREADY_EXISTS`: two columns, or members of a struct, with one name. */
export function columnExists(name: string, options: Pick<AnalysisExceptionOptions, 'hint' | 'alias'> = {}): AnalysisException {
  return new AnalysisException({
    errorClass: 'COLUMN_ALREADY_EXISTS',
    ...options,
    message: `The column \`${name}\` already exists. Choose another name or rename the existing column.`,
    parameters: { columnName: `\`${name}\`` },
  });
}
