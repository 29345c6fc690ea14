import { AnalysisException } from '../base/analysis-exception.ts';
import { isServiceError } from '../base/errors.ts';
import { parentLocation } from '../iceberg/location.ts';
import { tableFiles } from '../iceberg/open-table-files.ts';
import { readMetadataFile } from '../iceberg/pointer/metadata-files.ts';
import type { LoadedMetadata } from '../iceberg/pointer/table-pointer.ts';
import type { TableFiles } from '../iceberg/table-files.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';

/**
 * The metadata of a table that is to get a name; `undefined`: there is no such file.
 *
 * @throws AnalysisException `INVALID_ARGUMENT` for a directory; as `readMetadataFile`.
 */
export async function registeredMetadata(
  given: string,
  { name, openStore }: { readonly name: string; readonly openStore: OpenObjectStore },
  signal: AbortSignal | undefined,
): Promise<LoadedMetadata | undefined> {
  const location = given.replace(/(?<=[^/])\/+$/, '');
  const files = tableFiles({ name, openStore, roots: () => [parentLocation(location)] });
  try {
    return await readMetadataFile(files, location, signal);
  } catch (error) {
    if (!isServiceError(error, 'not-found')) throw error;
    if (await hasFiles(files, location, signal)) throw isDirectory(given);
    return undefined;
  }
}

async function hasFiles(files: TableFiles, location: string, signal: AbortSignal | undefined): Promise<boolean> {
  for await (const file of files.list(location, signal)) if (file.location !== location) return true;
  return false;
}

function isDirectory(location: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'INVALID_ARGUMENT',
    message: `metadata_file "${location}" is a directory`,
    hint: 'give one metadata file, the newest ….metadata.json in the directory metadata of the table: which of several counts, only a catalog knows',
    parameters: { path: location },
  });
}
