import type { LoadedMetadata } from '../../pointer/table-pointer.ts';
import { entriesOf, type MetadataSource, manifestsOf } from '../../scan/manifests.ts';

/** Names of files that belong to a file-system table without being referred to. */
export const versionHintName = 'version-hint.text';

/**
 * Every location that a table's newest metadata refers to: of the data of each of its snapshots, of its manifests and lists, of its earlier
 * metadata and of statistics. A location may come several times.
 *
 * @throws ServiceError when a manifest cannot be read: nothing is known then.
 */
export async function* referredFiles(source: MetadataSource, loaded: LoadedMetadata, signal?: AbortSignal): AsyncGenerator<string> {
  const { metadata, metadataLocation } = loaded;
  if (metadataLocation !== undefined) yield metadataLocation;
  for (const { metadataFile } of metadata.metadataLog) yield metadataFile;
  for (const { statisticsPath } of [...metadata.statistics, ...metadata.partitionStatistics]) yield statisticsPath;
  const seen = new Set<string>();
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList !== undefined) yield snapshot.manifestList;
    for (const manifest of await manifestsOf(source, metadata, snapshot, signal)) {
      if (seen.has(manifest.path)) continue;
      seen.add(manifest.path);
      yield manifest.path;
      for (const { file } of await entriesOf(source, metadata, manifest, signal)) yield file.path;
    }
  }
}
