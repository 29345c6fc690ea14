import { mapBounded } from '../../base/map-bounded.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { entriesOf, type MetadataSource, manifestsAtOnce } from '../scan/manifests.ts';
import { ValidationException } from './commit-errors.ts';
import type { ManifestWriter } from './manifest-writer.ts';
import { fileKey, type Removal } from './removal.ts';

/** Manifests after files were taken out of them. */
export interface FilteredManifests {
  /** In their order; those that say nothing of live files any more are left out. */
  readonly manifests: readonly ManifestFile[];
  /** How many were written anew. */
  readonly replaced: number;
  readonly removed: readonly ContentFile[];
  /** Entries of files that another entry had removed already. */
  readonly duplicates: number;
}

/** One manifest with and without the files. Of a manifest that stays as it is, `after` is that manifest. */
interface Filtered {
  readonly after: ManifestFile;
  readonly removed: readonly ContentFile[];
}

/**
 * Takes files out of manifests: those that contain them are written anew, the files marked as deleted by the snapshot; all others are
 * shared. A manifest is filtered once, however often the commit is tried.
 */
export class ManifestFilter {
  readonly #source: MetadataSource;
  readonly #writer: ManifestWriter;
  readonly #done = new Map<string, Filtered>();

  constructor(source: MetadataSource, writer: ManifestWriter) {
    this.#source = source;
    this.#writer = writer;
  }

  /** @throws ValidationException `Missing required files to delete: …` for named files that must be live and are not, and as `Removal.concerns`. */
  async apply(
    metadata: TableMetadata,
    manifests: readonly ManifestFile[],
    removal: Removal,
    signal: AbortSignal | undefined,
  ): Promise<FilteredManifests> {
    const live = manifests.filter(hasLiveFiles);
    const all = removal.isEmpty
      ? live.map((manifest): Filtered => ({ after: manifest, removed: [] }))
      : await mapBounded(live, manifestsAtOnce, (manifest) => this.#filter(metadata, manifest, removal, signal));
    const found = new Set<string>();
    const removed: ContentFile[] = [];
    let duplicates = 0;
    for (const file of all.flatMap((one) => one.removed)) {
      const key = fileKey(file);
      if (found.has(key)) duplicates += 1;
      else removed.push(file);
      found.add(key);
    }
    const missing = [...removal.named].filter(([key]) => !found.has(key)).map(([, file]) => file.path);
    if (missing.length > 0 && removal.mustBeThere) throw new ValidationException(`Missing required files to delete: ${shortList(missing)}`);
    return {
      manifests: all.map(({ after }) => after),
      replaced: all.filter(({ after }, index) => after !== live[index]).length,
      removed,
      duplicates,
    };
  }

  async #filter(metadata: TableMetadata, manifest: ManifestFile, removal: Removal, signal: AbortSignal | undefined): Promise<Filtered> {
    const done = this.#done.get(manifest.path);
    if (done !== undefined) return done;
    if (!removal.mayConcern(manifest)) return { after: manifest, removed: [] };
    const live = (await entriesOf(this.#source, metadata, manifest, signal)).filter(({ status }) => status !== 'deleted');
    const removed: ContentFile[] = [];
    const entries = live.map((entry): ManifestEntry => {
      if (!removal.concerns(entry)) return { ...entry, status: 'existing' };
      removed.push(entry.file);
      return { ...entry, status: 'deleted', snapshotId: this.#writer.snapshotId };
    });
    if (removed.length === 0) return { after: manifest, removed };
    const { specId, content } = manifest;
    const filtered = { after: await this.#writer.write(metadata, { specId, content, entries }, signal), removed };
    this.#done.set(manifest.path, filtered);
    return filtered;
  }
}

/** Whether a manifest has files that are live. Counts may be unknown in format version 1. */
function hasLiveFiles({ addedFiles, existingFiles }: ManifestFile): boolean {
  return addedFiles === undefined || existingFiles === undefined || addedFiles + existingFiles > 0;
}

/** Messages name at most so many files. */
const maxListed = 20;

export function shortList(paths: readonly string[]): string {
  const more = paths.length > maxListed ? `, … (${paths.length} in all)` : '';
  return paths.slice(0, maxListed).join(', ') + more;
}
