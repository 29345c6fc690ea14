import { dataFilePath } from '../../table/partitioning/spread-path.ts';
import type { SpreadPaths } from '../../table/staged-file.ts';
import { childLocation, plainLocation } from '../location.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';

/** Where new files of a table go. */
export interface DataLocations {
  /** Directory of all data files, as the metadata spells locations. */
  readonly root: string;
  /** Files are put behind directories made of a hash. */
  readonly spread: SpreadPaths | undefined;
  /** Path below the root. `partitionPath`: without slashes at its ends; empty for unpartitioned tables. */
  readonly pathOf: (partitionPath: string, name: string) => string;
}

/**
 * `<location>/data` or `write.data.path`, with a directory for each partition; `write.object-storage.enabled`: behind directories made of a
 * hash, which spread files over an object store's key ranges.
 */
export function dataLocations(metadata: Pick<TableMetadata, 'location' | 'properties'>): DataLocations {
  const { location, properties } = metadata;
  const spreads = properties['write.object-storage.enabled']?.toLowerCase() === 'true';
  const older = spreads ? properties['write.object-storage.path'] : properties['write.folder-storage.path'];
  const stated = properties['write.data.path'] ?? older;
  const root = stated === undefined ? childLocation(location, 'data') : stated.replace(/(?<=.)\/+$/, '');
  const spread: SpreadPaths | undefined = spreads
    ? {
        context: plainLocation(root).startsWith(plainLocation(location)) ? '' : contextOf(location),
        partitioned: properties['write.object-storage.partitioned-paths']?.toLowerCase() !== 'false',
      }
    : undefined;
  return { root, spread, pathOf: (partitionPath, name) => dataFilePath(spread, partitionPath, name) };
}

/** The last two directories of the table's location, which tell tables of one root apart. */
function contextOf(location: string): string {
  return plainLocation(location).split('/').slice(-2).join('/');
}
