import { AnalysisException } from '../../base/analysis-exception.ts';
import type { StructType } from '../../schema/types.ts';

/** Rows that have a column twice; case does not count. */
export function duplicateColumn(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_DUPLICATE_COLUMNS_FOUND',
    message: `Found duplicate column(s) in the data to save: ${name.toLowerCase()}`,
    parameters: { coltype: 'in the data to save', duplicateCols: name.toLowerCase() },
    hint: 'give the columns names that differ in more than case',
  });
}

/** Rows matched by place that have more or fewer columns than the table; with a path, structs that have more or fewer members. */
export function wrongArity(
  table: string,
  columns: { readonly table: StructType; readonly data: StructType },
  path: readonly string[] = [],
): AnalysisException {
  const [wanted, given] = [columns.table.fields.length, columns.data.fields.length];
  const problem = path.length > 0 ? `not enough nested fields in ${path.join('.')}` : manyOrFew(given, wanted);
  return new AnalysisException({
    errorClass: 'DELTA_INSERT_COLUMN_ARITY_MISMATCH',
    message: `Cannot write to '${table}', ${problem}; target table has ${wanted} column(s) but the inserted data has ${given} column(s)`,
    parameters: { tableName: table, columnName: problem, numColumns: String(wanted), insertColumns: String(given) },
    hint: 'name the columns that are inserted',
  });
}

function manyOrFew(given: number, wanted: number): string {
  return given < wanted ? 'not enough data columns' : 'too many data columns';
}
