import type { OpenEngine } from '../../engine/engine.ts';
import { hiddenNamed } from '../../table/hidden-columns.ts';
import type { FileScan, ScanFile, ScanStatistics } from '../../table/scan.ts';
import { deletedRowsOf } from '../deletes/deleted-rows.ts';
import { hasRowLineage } from '../metadata/format-features.ts';
import { mappedId, nameMappingProperty, parseNameMapping } from '../metadata/name-mapping.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { hiddenColumnsOf } from './hidden-columns.ts';
import type { LiveFile } from './live-files.ts';
import type { MetadataSource } from './manifests.ts';
import type { NameToId } from './name-to-id.ts';
import { readableFiles } from './readable-files.ts';

/** What reading rows needs. */
export interface ScanSource extends MetadataSource {
  readonly engine: OpenEngine;
}

/**
 * How the engine reads files of a state as rows of its schema, deletes applied.
 *
 * @param options.statistics what was looked at to find the files; default: the files alone.
 * @param options.hidden names of hidden columns that the scan has too; default: none.
 * @throws ServiceError `ICEBERG_FILE_MISSING` (not-found), `PARQUET_CORRUPT` (corrupt), `FILE_OUTSIDE_TABLE` (invalid); reading the scan throws
 * what its delete files throw.
 */
export async function fileScanOf(
  source: ScanSource,
  state: SnapshotState,
  files: readonly LiveFile[],
  options: { readonly statistics?: ScanStatistics | undefined; readonly hidden?: readonly string[] | undefined } = {},
  signal?: AbortSignal,
): Promise<FileScan> {
  const { metadata, icebergSchema } = state;
  const deletedRows = deletedRowsIn(source, state, files);
  return readableFiles(
    source,
    {
      metadata,
      schema: icebergSchema.struct,
      files: files.map((file) => ({ entry: file.entry, deletedRows: deletedRows(file) })),
      nameToId: tableNames(metadata),
      withLineage: hasRowLineage(metadata),
      statistics: options.statistics,
      hidden: options.hidden === undefined ? undefined : hiddenNamed(hiddenColumnsOf(metadata), options.hidden),
    },
    signal,
  );
}

/** For each of these files of a state what reads the ascending positions of its deleted rows; `undefined` where nothing was deleted. */
export function deletedRowsIn(
  source: ScanSource,
  state: SnapshotState,
  files: readonly LiveFile[],
): (file: LiveFile) => ScanFile['deletedRows'] {
  const { metadata, icebergSchema: schema } = state;
  return deletedRowsOf({ source, metadata, schema, nameToId: tableNames(metadata), engine: source.engine, files });
}

/** For files without field ids, where the table has a name mapping. */
export function tableNames({ properties }: TableMetadata): NameToId | undefined {
  return nameToIdOf(properties[nameMappingProperty]);
}

/** By the text of a name mapping. */
export function nameToIdOf(text: string | undefined): NameToId | undefined {
  if (text === undefined) return undefined;
  // Parsed for the first file that needs it: a mapping that nobody can read hurts no file with ids.
  let mapping: ReturnType<typeof parseNameMapping> | undefined;
  return (path) => {
    mapping ??= parseNameMapping(text);
    return mappedId(mapping, path);
  };
}
