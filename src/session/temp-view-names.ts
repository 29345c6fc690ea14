import { AnalysisException } from '../base/analysis-exception.ts';
import { invalidArgument } from './session-errors.ts';

/** A temporary view is found without regard to case. @throws AnalysisException `INVALID_ARGUMENT` for a name that would need quotes. */
export function viewKey(name: string): string {
  if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) return name.toLowerCase();
  throw invalidArgument(`"${name}" is not a name for a temporary view`, 'use letters, digits and underscores');
}

/** As `viewKey`, for a view that must not be there yet. @throws AnalysisException `TEMP_TABLE_OR_VIEW_ALREADY_EXISTS`. */
export function newViewKey(name: string, views: ReadonlyMap<string, unknown>): string {
  const key = viewKey(name);
  if (!views.has(key)) return key;
  throw viewExists(`\`${name}\``, 'use createOrReplaceTempView');
}

export function viewExists(shown: string, cure: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'TEMP_TABLE_OR_VIEW_ALREADY_EXISTS',
    sqlState: '42P07',
    message: `Cannot create the temporary view ${shown} because it already exists.`,
    hint: `choose a different name, or ${cure}`,
  });
}
