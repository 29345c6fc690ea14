import { AnalysisException } from '../../base/analysis-exception.ts';
import type { StructType } from '../../schema/types.ts';

/** @throws AnalysisException `COLUMN_ALREADY_EXISTS` when two columns have the same name, in the same spelling. */
export function refuseDuplicateNames(schema: StructType): void {
  const seen = new Set<string>();
  for (const { name } of schema.fields) {
    if (seen.has(name)) {
      throw new AnalysisException({
        errorClass: 'COLUMN_ALREADY_EXISTS',
        sqlState: '42711',
        message: `The column \`${name}\` already exists. Choose another name or rename the existing column.`,
        hint: 'join on the name instead of a condition, or drop or rename one of the columns',
        parameters: { columnName: `\`${name}\`` },
      });
    }
    seen.add(name);
  }
}
