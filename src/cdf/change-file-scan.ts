import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { FileLayout, FileScan, StoredColumn } from '../table/scan.ts';
import { type ChangeFileRequest, changeTypeName, schemaInFile } from './change-file.ts';

/** How the engine reads a change file: all rows of it, the columns that it holds. */
export function changeFileScan(request: ChangeFileRequest, store: ObjectStore): FileScan {
  const { file, location } = request;
  const schema = schemaInFile(request);
  const isLocal = store.root.startsWith('file://');
  const root = isLocal ? fileURLToPath(store.root) : decodeURIComponent(store.root).replace(/\/+$/, '');
  return {
    schema,
    ...layoutOf(request, schema),
    files: [
      {
        path: isLocal ? resolve(root, file.path) : `${root}/${file.path}`,
        sizeBytes: file.sizeBytes,
        rowCount: undefined,
        partitionValues: file.layout === undefined ? {} : file.partitionValues,
      },
    ],
    readRange: (_, range, signal) => store.readRange(file.path, range, signal),
    within: { directories: [root], of: `the change feed of ${location}`, setting: 'none: a feed reads its own table alone' },
    statistics: { filesConsidered: 1, bytesConsidered: file.sizeBytes, filesSelected: 1, bytesSelected: file.sizeBytes },
  };
}

/** Columns by their names, where the log does not say more; the change type always. */
function layoutOf({ file: { layout } }: ChangeFileRequest, schema: StructType): FileLayout {
  const known = new Map(layout?.storedColumns.map((column) => [column.field.name, column]));
  const isStored = (name: string): boolean => layout === undefined || known.has(name) || name === changeTypeName;
  const stored = schema.fields.filter(({ name }) => isStored(name));
  return {
    storedColumns: stored.map(
      (field): StoredColumn => known.get(field.name) ?? { field, match: { by: 'name', name: field.name }, storedType: field.type },
    ),
    partitionColumns: layout?.partitionColumns.filter((column) => schema.fields.some(({ name }) => name === column)) ?? [],
    defaults: layout?.defaults,
  };
}
