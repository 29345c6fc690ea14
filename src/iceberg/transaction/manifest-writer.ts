import { mapBounded } from '../../base/map-bounded.ts';
import type { StagedFiles } from '../../table/staged-presence.ts';
import type { ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { IcebergSnapshot, TableMetadata } from '../metadata/table-metadata.ts';
import { type WrittenManifest, writeManifest } from '../metadata/write-manifest.ts';
import { writeManifestList } from '../metadata/write-manifest-list.ts';
import type { TableContext } from '../table-context.ts';
import { metadataFolder } from './commit-settings.ts';

/** What writing a commit's manifests needs of the table's context. */
export type WriterContext = Pick<TableContext, 'files' | 'ids' | 'clock'>;

/** Deletes that run at the same time. */
const deletesAtOnce = 8;

export interface ManifestContent {
  readonly specId: number;
  readonly content: ManifestFile['content'];
  readonly entries: readonly ManifestEntry[];
}

/** The manifests and manifest lists of one commit: what it has written, so that nothing stays behind when it fails. */
export class ManifestWriter {
  readonly snapshotId: bigint;
  readonly #context: WriterContext;
  readonly #commitId: string;
  readonly #manifests = new Map<string, readonly ManifestEntry[]>();
  readonly #lists: string[] = [];
  #sinceMs: number | undefined;

  constructor(context: WriterContext, snapshotId: bigint) {
    this.#context = context;
    this.snapshotId = snapshotId;
    this.#commitId = context.ids.uuid();
  }

  /** Entries of a manifest of this commit; `undefined` for others. */
  entriesOf(path: string): readonly ManifestEntry[] | undefined {
    return this.#manifests.get(path);
  }

  wrote(path: string): boolean {
    return this.#manifests.has(path);
  }

  /** Of a list and its manifests: what this commit has written. */
  stagedOf(list: string, manifests: readonly ManifestFile[]): StagedFiles {
    return { paths: [...manifests.map(({ path }) => path).filter((path) => this.wrote(path)), list], sinceMs: this.#sinceMs };
  }

  /** Entries with `unassignedSequenceNumber` get the number of the snapshot that the manifest becomes part of. */
  async write(metadata: TableMetadata, content: ManifestContent, signal: AbortSignal | undefined): Promise<ManifestFile> {
    return this.#put(metadata, content, await this.#encode(metadata, content), signal);
  }

  /** As many manifests as it takes for none to be much larger than the target. */
  async writeSplit(
    metadata: TableMetadata,
    content: ManifestContent,
    targetBytes: number,
    signal: AbortSignal | undefined,
  ): Promise<readonly ManifestFile[]> {
    const whole = await this.#encode(metadata, content);
    const parts = Math.min(content.entries.length, Math.max(1, Math.ceil(whole.bytes.byteLength / Math.max(1, targetBytes))));
    if (parts <= 1) return [await this.#put(metadata, content, whole, signal)];
    const size = Math.ceil(content.entries.length / parts);
    const manifests: ManifestFile[] = [];
    for (let from = 0; from < content.entries.length; from += size) {
      manifests.push(await this.write(metadata, { ...content, entries: content.entries.slice(from, from + size) }, signal));
    }
    return manifests;
  }

  /** The list of a snapshot that is about to be committed. */
  async writeList(
    metadata: TableMetadata,
    snapshot: Pick<IcebergSnapshot, 'snapshotId' | 'parentSnapshotId' | 'sequenceNumber' | 'firstRowId'>,
    manifests: readonly ManifestFile[],
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const name = `snap-${this.snapshotId}-${this.#lists.length + 1}-${this.#commitId}.avro`;
    const location = `${metadataFolder(metadata.location, metadata.properties)}/${name}`;
    const bytes = await writeManifestList({
      formatVersion: metadata.formatVersion,
      snapshotId: snapshot.snapshotId,
      parentSnapshotId: snapshot.parentSnapshotId,
      sequenceNumber: snapshot.sequenceNumber,
      firstRowId: snapshot.firstRowId,
      manifests,
      codec: metadata.properties[codecProperty],
    });
    this.#lists.push(location);
    this.#sinceMs ??= this.#context.clock.monotonicMs();
    await this.#context.files.put(location, bytes, signal);
    return location;
  }

  /** Deletes what was written and is not part of the table: all, or all but what the committed snapshot refers to. Never throws. */
  async discard(kept?: { readonly list: string; readonly manifests: readonly ManifestFile[] }): Promise<void> {
    const needed = new Set(kept?.manifests.map(({ path }) => path));
    if (kept !== undefined) needed.add(kept.list);
    const leftovers = [...this.#lists, ...this.#manifests.keys()].filter((path) => !needed.has(path));
    // What cannot be deleted stays until orphan files are removed.
    await mapBounded(leftovers, deletesAtOnce, async (path) => {
      await this.#context.files.discard(path).catch(() => undefined);
    });
  }

  #encode(metadata: TableMetadata, { specId, content, entries }: ManifestContent): Promise<WrittenManifest> {
    return writeManifest({ metadata, specId, content, snapshotId: this.snapshotId, entries, codec: metadata.properties[codecProperty] });
  }

  async #put(
    { location, properties }: TableMetadata,
    { entries }: ManifestContent,
    { bytes, description }: WrittenManifest,
    signal: AbortSignal | undefined,
  ): Promise<ManifestFile> {
    const path = `${metadataFolder(location, properties)}/${this.#commitId}-m${this.#manifests.size}.avro`;
    // Known before it is there: what is put half must be deleted too.
    this.#manifests.set(path, entries);
    this.#sinceMs ??= this.#context.clock.monotonicMs();
    await this.#context.files.put(path, bytes, signal);
    return { ...description, path };
  }
}

const codecProperty = 'write.manifest.compression-codec';
