import { columnExists } from '../../schema/column-exists.ts';
import type { StructType } from '../../schema/types.ts';

/** @throws AnalysisException `COLUMN_ALREADY_EXISTS` when two columns have the same name, in the same spelling. */
export function refuseDuplicateNames(schema: StructType): void {
  const seen = new Set<string>();
  for (const { name } of schema.fields) {
    if (seen.has(name)) throw columnExists(name, { hint: 'join on the name instead of a condition, or drop or rename one of the columns' });
    seen.add(name);
  }
}
