import { join } from 'node:path';
import type { WrittenFile } from '../../src/engine/engine.ts';
import type { StructType } from '../../src/schema/types.ts';
import type { FileScan } from '../../src/table/scan.ts';

/** A scan of files under a directory as they were written: same names, same types. */
export function scanOf(
  schema: StructType,
  directory: string,
  files: readonly Pick<WrittenFile, 'path' | 'sizeBytes' | 'rowCount' | 'partitionValues'>[],
  partitionColumns: readonly string[] = [],
): FileScan {
  return {
    schema,
    storedColumns: schema.fields
      .filter((field) => !partitionColumns.includes(field.name))
      .map((field) => ({ field, match: { by: 'name', name: field.name }, storedType: field.type })),
    partitionColumns,
    files: files.map((file) => ({
      path: join(directory, file.path),
      sizeBytes: file.sizeBytes,
      rowCount: file.rowCount,
      partitionValues: Object.fromEntries(partitionColumns.map((name, index) => [name, file.partitionValues[index]])),
    })),
    statistics: { filesConsidered: files.length, bytesConsidered: 0, filesSelected: files.length, bytesSelected: 0 },
  };
}
