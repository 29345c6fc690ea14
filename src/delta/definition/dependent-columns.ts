import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { columnsOf } from '../../expr/expression-tree.ts';
import { parseExpression } from '../../expr/parse/parse-expression.ts';
import { overlaps } from '../../schema/column-path.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { visitFields } from '../feature-catalogue.ts';

export const constraintPrefix = 'delta.constraints.';

/**
 * Refuses to rename or drop a column that a CHECK constraint or a generated column refers to.
 *
 * @throws AnalysisException (42K09) `DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE`, `DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE`.
 */
export function checkNothingDependsOn(snapshot: DeltaSnapshot, path: readonly string[], operation: string): void {
  const constraints = constraintsOn(snapshot, path);
  if (constraints.length > 0) {
    throw depends('DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE', {
      message: `Cannot ${operation} column ${path.join('.')} because this column is referenced by the following check constraint(s):\n${constraints.join('\n')}`,
      parameters: { operation, columnName: path.join('.'), constraints: constraints.join('\n') },
      hint: 'drop the constraint first',
    });
  }
  const generated = generatedFrom(snapshot, path);
  if (generated.length === 0) return;
  throw depends('DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE', {
    message: `Cannot ${operation} column ${path.join('.')} because this column is referenced by the following generated column(s):\n${generated.join('\n')}`,
    parameters: { operation, columnName: path.join('.'), generatedColumns: generated.join('\n') },
    hint: 'generated columns keep the columns they are made of',
  });
}

/**
 * Refuses another type for such a column.
 *
 * @throws AnalysisException (42K09) `DELTA_CONSTRAINT_DATA_TYPE_MISMATCH`, `DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH`.
 */
export function checkTypeIsFree(snapshot: DeltaSnapshot, path: readonly string[], from: DataType, to: DataType): void {
  const parameters = { columnName: path.join('.'), columnType: sqlTypeName(from), dataType: sqlTypeName(to) };
  const sentence = `Column ${path.join('.')} has data type ${parameters.columnType} and cannot be altered to data type ${parameters.dataType} because this column is referenced by the following`;
  const constraints = constraintsOn(snapshot, path);
  if (constraints.length > 0) {
    throw depends('DELTA_CONSTRAINT_DATA_TYPE_MISMATCH', {
      message: `${sentence} check constraint(s):\n${constraints.join('\n')}`,
      parameters: { ...parameters, constraints: constraints.join('\n') },
      hint: 'drop the constraint, change the type, add the constraint again',
    });
  }
  const generated = generatedFrom(snapshot, path);
  if (generated.length === 0) return;
  throw depends('DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH', {
    message: `${sentence} generated column(s):\n${generated.join('\n')}`,
    parameters: { ...parameters, generatedColumns: generated.join('\n') },
    hint: 'generated columns keep the columns they are made of',
  });
}

function constraintsOn(snapshot: DeltaSnapshot, path: readonly string[]): readonly string[] {
  return Object.entries(snapshot.properties)
    .filter(([key, text]) => key.startsWith(constraintPrefix) && mentions(text, path))
    .map(([key, text]) => `${key.slice(constraintPrefix.length)} -> ${text}`);
}

function generatedFrom(snapshot: DeltaSnapshot, path: readonly string[]): readonly string[] {
  const found: string[] = [];
  visitFields(snapshot.schema, (field, own) => {
    const text = field.metadata?.['delta.generationExpression'];
    if (typeof text === 'string' && (mentions(text, path) || overlaps(own, path))) found.push(`${own.join('.')} -> ${text}`);
  });
  return found;
}

/** Text that cannot be parsed may mention anything. */
function mentions(text: string, path: readonly string[]): boolean {
  try {
    return columnsOf(parseExpression(text)).some((column) => overlaps([...qualified(column)], path) || overlaps(column.path, path));
  } catch (error) {
    if (isServiceError(error, 'invalid', 'unsupported')) return true;
    throw error;
  }
}

/** Without a table in sight the first part of `a.b` is a column, whatever the parser took it for. */
function qualified(column: { readonly path: readonly string[]; readonly qualifier: string | undefined }): readonly string[] {
  return column.qualifier === undefined ? column.path : [column.qualifier, ...column.path];
}

function depends(
  errorClass: string,
  options: { readonly message: string; readonly parameters: Readonly<Record<string, string>>; readonly hint: string },
): AnalysisException {
  return new AnalysisException({ errorClass, ...options });
}
