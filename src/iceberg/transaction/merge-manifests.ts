import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { entriesOf, type MetadataSource } from '../scan/manifests.ts';
import { bySpec } from './by-spec.ts';
import type { ManifestSettings } from './commit-settings.ts';
import type { ManifestWriter } from './manifest-writer.ts';

/** Manifests after small ones were put together. */
export interface MergedManifests {
  readonly manifests: readonly ManifestFile[];
  /** How many manifests of earlier snapshots were taken up in others. */
  readonly replaced: number;
}

/**
 * Puts small manifests of one kind together, those of one partition spec at a time, from the oldest on, up to the target size. The group with
 * the first manifest, this commit's own, waits until it has `minCountToMerge` members, so that not every commit rewrites the last one's.
 * What was merged once is not merged again, however often the commit is tried.
 */
export class ManifestMerger {
  readonly #source: MetadataSource;
  readonly #writer: ManifestWriter;
  readonly #done = new Map<string, ManifestFile>();

  constructor(source: MetadataSource, writer: ManifestWriter) {
    this.#source = source;
    this.#writer = writer;
  }

  async merge(
    metadata: TableMetadata,
    manifests: readonly ManifestFile[],
    settings: ManifestSettings,
    signal: AbortSignal | undefined,
  ): Promise<MergedManifests> {
    const [first] = manifests;
    if (first === undefined || !settings.merge) return { manifests, replaced: 0 };
    const merged: ManifestFile[] = [];
    let replaced = 0;
    for (const [, members] of bySpec(manifests)) {
      for (const bin of packFromEnd(members, settings.targetBytes)) {
        if (bin.length === 1 || (bin.includes(first) && bin.length < settings.minCountToMerge)) merged.push(...bin);
        else {
          merged.push(await this.#mergeBin(metadata, bin, signal));
          replaced += bin.filter(({ path }) => !this.#writer.wrote(path)).length;
        }
      }
    }
    return { manifests: merged, replaced };
  }

  async #mergeBin(metadata: TableMetadata, bin: readonly ManifestFile[], signal: AbortSignal | undefined): Promise<ManifestFile> {
    const key = bin.map(({ path }) => path).join('\0');
    const done = this.#done.get(key);
    if (done !== undefined) return done;
    const entries: ManifestEntry[] = [];
    for (const manifest of bin) {
      const own = this.#writer.entriesOf(manifest.path);
      for (const entry of own ?? (await entriesOf(this.#source, metadata, manifest, signal))) {
        // What this snapshot adds and deletes is said as such; what earlier ones deleted is left out.
        if (own !== undefined) entries.push(entry);
        else if (entry.status !== 'deleted') entries.push({ ...entry, status: 'existing' });
      }
    }
    const { specId, content } = bin[0] ?? { specId: metadata.defaultSpecId, content: 'data' };
    const merged = await this.#writer.write(metadata, { specId, content, entries }, signal);
    this.#done.set(key, merged);
    return merged;
  }
}

/** Groups neighbours up to a size, from the last on: the one that is left small is the first. */
function packFromEnd(manifests: readonly ManifestFile[], targetBytes: number): readonly (readonly ManifestFile[])[] {
  const bins: ManifestFile[][] = [];
  let bytes = 0;
  for (const manifest of manifests.toReversed()) {
    const bin = bins[0];
    if (bin === undefined || bytes + manifest.length > targetBytes) {
      bins.unshift([manifest]);
      bytes = manifest.length;
    } else {
      bin.unshift(manifest);
      bytes += manifest.length;
    }
  }
  return bins;
}
