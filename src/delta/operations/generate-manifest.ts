import { fileURLToPath } from 'node:url';
import { AnalysisException } from '../../base/analysis-exception.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { comparePaths } from '../../storage/path.ts';
import type { AddFile } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from './operation-context.ts';

const manifestFolder = '_symlink_format_manifest/';
const writeConcurrency = 8;

/**
 * Writes, for each partition, a text file with the places of the table's data files, one a line: what engines read that take lists of
 * files (`_symlink_format_manifest/<partition>/manifest`). Manifests of partitions that have no files any more are deleted. Each manifest is
 * replaced as a whole; those of different partitions are not replaced at once.
 *
 * @throws AnalysisException `DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS` (0A000),
 * `DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING` (0AKDC): such an engine would see wrong rows or columns.
 */
export async function generateManifest(context: OperationContext, signal?: AbortSignal): Promise<void> {
  const snapshot = await context.refresh(signal);
  const files = [...snapshot.files()];
  refuseUnreadable(snapshot, files);
  const manifests = new Map<string, string[]>();
  // A table without partitions has its manifest even when it has no files.
  if (snapshot.partitionColumns.length === 0) manifests.set(`${manifestFolder}manifest`, []);
  for (const file of files) {
    const path = `${manifestFolder}${partitionFolder(snapshot, file)}manifest`;
    const places = manifests.get(path) ?? [];
    places.push(placeOf(context.store.root, file));
    manifests.set(path, places);
  }
  const write = async ([path, places]: readonly [string, readonly string[]]): Promise<void> => {
    const lines = [...places].sort(comparePaths).map((place) => `${place}\n`);
    await context.store.put(path, new TextEncoder().encode(lines.join('')), signal);
  };
  await mapBounded([...manifests], writeConcurrency, write, signal);
  for await (const { path } of context.store.list({ prefix: manifestFolder }, signal)) {
    if (path.endsWith('/manifest') && !manifests.has(path)) await context.store.delete(path, signal);
  }
}

/** The folder a file of the partition lies in, which other engines read the partition's values from. */
function partitionFolder(snapshot: DeltaSnapshot, file: AddFile): string {
  if (snapshot.partitionColumns.length === 0) return '';
  const folder = file.storedPath.slice(0, file.storedPath.lastIndexOf('/') + 1);
  return isAbsolute(folder)
    ? folder
        .split('/')
        .slice(-1 - snapshot.partitionColumns.length)
        .join('/')
    : folder;
}

/** As the readers of such manifests take paths: not percent-encoded. */
function placeOf(root: string, file: AddFile): string {
  const base = root.startsWith('file://') ? `file://${fileURLToPath(root)}` : root;
  return isAbsolute(file.storedPath) ? `file://${file.storedPath}` : `${base.replace(/\/$/, '')}/${file.storedPath}`;
}

function isAbsolute(path: string): boolean {
  return /^([a-z][a-z0-9+.-]*:|\/)/i.test(path);
}

function refuseUnreadable(snapshot: DeltaSnapshot, files: readonly AddFile[]): void {
  if (snapshot.mapping !== 'none') {
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING',
      message:
        'Manifest generation is not supported for tables that leverage column mapping, as external readers cannot read these Delta tables. See Delta documentation for more details.',
    });
  }
  if (files.every((file) => file.deletionVector === undefined)) return;
  throw new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS',
    message:
      "The 'GENERATE symlink_format_manifest' command is not supported on table versions with deletion vectors.\n" +
      "If you need to generate manifests, consider disabling deletion vectors on this table using 'ALTER TABLE table SET TBLPROPERTIES (delta.enableDeletionVectors = false)'.",
    hint: 'run REORG TABLE … APPLY (PURGE) first',
  });
}
