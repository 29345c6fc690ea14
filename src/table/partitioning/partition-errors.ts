import { AnalysisException } from '../../base/analysis-exception.ts';
import { schemaTree } from '../../schema/schema-tree.ts';
import type { StructType } from '../../schema/types.ts';

/** `_LEGACY_ERROR_TEMP_3060`: a table partitioned by what is no column of it. */
export function noPartitionColumn(columnName: string, struct: StructType): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_3060',
    message: `Couldn't find column ${columnName} in:\n${schemaTree(struct)}`,
    parameters: { columnName },
    hint: 'partition by columns of the table',
  });
}

/** `_LEGACY_ERROR_TEMP_3058`: a new table partitioned by a column twice in one way. */
export function partitionedTwice(duplicateColumns: string): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_3058',
    message: `Found duplicate column(s) in the partitioning: ${duplicateColumns}`,
    parameters: { checkType: 'in the partitioning', duplicateColumns },
  });
}
