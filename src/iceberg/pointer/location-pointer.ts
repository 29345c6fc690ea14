import { FileSystemPointer, type FileSystemPointerParts } from './file-system-pointer.ts';
import { MetadataFilePointer, newestNumbered } from './metadata-file-pointer.ts';
import { isMetadataFile } from './metadata-names.ts';
import { findNewest } from './newest-version.ts';
import type { TablePointer } from './table-pointer.ts';

/**
 * The pointer of a table that is named by its location: of a file-system table, of a metadata file, or (to read) of the folder of a table
 * that is a catalog's. Where there is nothing yet, that of a file-system table to be.
 */
export async function locationPointer(parts: FileSystemPointerParts, signal?: AbortSignal): Promise<TablePointer> {
  if (isMetadataFile(parts.location)) return new MetadataFilePointer(parts);
  if ((await findNewest(parts.files, parts.location, signal)) !== undefined) return new FileSystemPointer(parts);
  if ((await newestNumbered(parts.files, parts.location, signal)) !== undefined) return new MetadataFilePointer(parts);
  return new FileSystemPointer(parts);
}
