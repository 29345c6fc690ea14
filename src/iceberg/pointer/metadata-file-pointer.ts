import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { TableFiles } from '../table-files.ts';
import { readMetadataFile } from './metadata-files.ts';
import { fileNameOf, isMetadataFile, numberIn } from './metadata-names.ts';
import { metadataFolderOf, tableDirectoryOf } from './newest-version.ts';
import type { LoadedMetadata, SwapOutcome, TablePointer } from './table-pointer.ts';

/**
 * A table by one of its metadata files, or by the folder of a table whose catalog is not at hand: to read. Of a folder the file with the
 * highest number counts, which may be one that its catalog has not taken.
 */
export class MetadataFilePointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly: string = 'the table is opened without its catalog';
  readonly #parts: { readonly location: string; readonly files: TableFiles };

  constructor(parts: { readonly name: string; readonly location: string; readonly files: TableFiles }) {
    this.name = parts.name;
    this.#parts = parts;
  }

  /** The directory that was opened, or that the metadata file is in. */
  ownPlaces(): readonly string[] {
    const { location } = this.#parts;
    return [isMetadataFile(location) ? tableDirectoryOf(location) : location];
  }

  async load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    const { files, location } = this.#parts;
    const newest = isMetadataFile(location) ? location : await newestNumbered(files, location, signal);
    // A metadata file never changes.
    if (newest === undefined || newest === known?.metadataLocation) return newest === undefined ? undefined : known;
    try {
      return await readMetadataFile(files, newest, signal);
    } catch (error) {
      if (isServiceError(error, 'not-found')) return undefined;
      throw error;
    }
  }

  /** @throws AnalysisException `ICEBERG_TABLE_READ_ONLY`, always. */
  swap(): Promise<SwapOutcome> {
    return Promise.reject(
      new AnalysisException({
        errorClass: 'ICEBERG_TABLE_READ_ONLY',
        kind: 'unsupported',
        message: `${this.name} is opened by its metadata at ${this.#parts.location}, without its catalog, and can only be read`,
        hint: 'name the table through its catalog, or register the metadata file in one',
        parameters: { tableName: this.name },
      }),
    );
  }
}

/** The metadata file with the highest number in a table's folder, the latest written when two share it. */
export async function newestNumbered(files: TableFiles, tableLocation: string, signal?: AbortSignal): Promise<string | undefined> {
  const folder = `${metadataFolderOf(tableLocation)}/`;
  let newest: { readonly number: number; readonly modifiedMs: number; readonly location: string } | undefined;
  for await (const { location, modifiedMs } of files.list(folder, signal)) {
    const name = fileNameOf(location);
    const number = location.length === folder.length + name.length ? numberIn(name) : undefined;
    if (number === undefined) continue;
    const later = newest === undefined || number > newest.number || (number === newest.number && modifiedMs > newest.modifiedMs);
    if (later) newest = { number, modifiedMs, location };
  }
  return newest?.location;
}
