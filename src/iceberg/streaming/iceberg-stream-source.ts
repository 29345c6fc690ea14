import { throwIfAborted } from '../../base/abort.ts';
import type { StructType } from '../../schema/types.ts';
import type { ChangeScan } from '../../table/scan.ts';
import type { StreamOptions, StreamSource } from '../../table/stream.ts';
import { ancestorsOf, snapshotById } from '../ancestry.ts';
import type { ManifestEntry } from '../metadata/content-file.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';
import { tableNames } from '../scan/file-scan.ts';
import { entriesOf, manifestsOf } from '../scan/manifests.ts';
import { readableFiles } from '../scan/readable-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import { versionOf } from '../snapshot-state-of.ts';
import type { TableContext } from '../table-context.ts';
import { notAppended, offsetGone, schemaChanged, unknownForIceberg } from './stream-errors.ts';
import { parseOffset, printOffset, type StreamOffset } from './stream-offset.ts';

const defaultMaxFiles = 1000;

/** A file of the sequence, with the place behind it. */
interface PlacedFile {
  readonly entry: ManifestEntry;
  readonly snapshot: IcebergSnapshot;
  readonly behind: StreamOffset;
}

/**
 * An Iceberg table as a stream of appended rows: the files that each append added, in the order of the snapshots that lead to the newest,
 * from the oldest there is or from a time on. Rewrites of the same rows are passed over; deletes and overwrites are an error unless the
 * options pass them over. Rows are read by the schema the table had when the stream was opened.
 */
export class IcebergStreamSource implements StreamSource {
  readonly description: string;
  readonly schema: StructType;
  readonly changeFeed = false;
  readonly #context: TableContext;
  readonly #opened: SnapshotState;
  readonly #options: StreamOptions;
  #frozen: SnapshotState | undefined;

  private constructor(context: TableContext, opened: SnapshotState, options: StreamOptions) {
    this.#context = context;
    this.#opened = opened;
    this.#options = options;
    this.description = `IcebergSource[${opened.metadata.location}]`;
    this.schema = opened.schema;
  }

  /** @throws AnalysisException `UNSUPPORTED_FEATURE` for row changes and for versions to start from. */
  static async open(context: TableContext, options: StreamOptions, signal?: AbortSignal): Promise<IcebergStreamSource> {
    if (options.changeFeed) {
      throw unknownForIceberg(
        'readChangeFeed',
        'row changes come from CALL system.create_changelog_view(table => …), or as a feed to Kafka',
      );
    }
    if (options.start?.kind === 'version') {
      throw unknownForIceberg('startingVersion', 'start from a time: stream-from-timestamp, in milliseconds since the epoch');
    }
    if (options.ignoreChanges === true) {
      throw unknownForIceberg('ignoreChanges', 'pass overwrites over: streaming-skip-overwrite-snapshots');
    }
    if (options.excludePaths !== undefined) throw unknownForIceberg('excludeRegex', 'leave rows out with a condition on the stream');
    if (options.maxBytesPerTrigger !== undefined) {
      throw unknownForIceberg('maxBytesPerTrigger', 'give streaming-max-files-per-micro-batch or streaming-max-rows-per-micro-batch');
    }
    return new IcebergStreamSource(context, await context.refresh(signal), options);
  }

  async nextOffset(after: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const state = this.#frozen ?? (await this.#context.refresh(signal));
    if (after === undefined && this.#options.start?.kind === 'latest') return this.#latest(state, signal);
    const maxFiles = this.#options.maxFilesPerTrigger ?? defaultMaxFiles;
    const { maxBytesPerTrigger: maxBytes, maxRowsPerTrigger: maxRows } = this.#options;
    let end: StreamOffset | undefined;
    let [files, bytes, rows] = [0, 0, 0];
    for await (const { entry, behind } of this.#filesFrom(state, after === undefined ? undefined : parseOffset(after), signal)) {
      bytes += entry.file.fileSizeBytes;
      if (files > 0 && maxBytes !== undefined && bytes > maxBytes) break;
      files += 1;
      rows += entry.file.recordCount;
      end = behind;
      if (files >= maxFiles || (maxRows !== undefined && rows >= maxRows)) break;
    }
    return end === undefined ? undefined : printOffset(end);
  }

  async freeze(signal?: AbortSignal): Promise<void> {
    this.#frozen = await this.#context.refresh(signal);
  }

  async batch(range: { readonly after: string | undefined; readonly until: string }, signal?: AbortSignal): Promise<readonly ChangeScan[]> {
    const until = parseOffset(range.until);
    // What an empty first batch has written down.
    if (range.after === undefined && this.#options.start?.kind === 'latest') return [];
    const newest = await this.#context.refresh(signal);
    const placed: PlacedFile[] = [];
    for await (const file of this.#filesFrom(newest, range.after === undefined ? undefined : parseOffset(range.after), signal)) {
      placed.push(file);
      if (file.behind.snapshotId === until.snapshotId && file.behind.position >= until.position) break;
    }
    const last = placed.at(-1)?.snapshot;
    if (last === undefined) return [];
    const { metadata } = newest;
    const files = placed.map(({ entry }) => ({ entry }));
    const request = { metadata, schema: this.schema, files, nameToId: tableNames(metadata), withLineage: false };
    const scan = await readableFiles(this.#context, request, signal);
    return [{ version: versionOf(metadata, last), committedAtMicros: BigInt(last.timestampMs) * 1_000n, kind: 'insert', scan }];
  }

  /** The files behind a place, as far as the state goes. */
  async *#filesFrom(
    state: SnapshotState,
    from: StreamOffset | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<PlacedFile, void, undefined> {
    for (const snapshot of this.#snapshotsFrom(state, from)) {
      throwIfAborted(signal);
      const started = from?.snapshotId === snapshot.snapshotId ? from : undefined;
      if (!this.#isAppend(snapshot, started)) continue;
      const scanAllFiles = started?.scanAllFiles ?? false;
      const entries = await this.#entriesOf(state, snapshot, scanAllFiles, signal);
      const position = started?.position ?? 0;
      if (position < entries.length) this.#refuseNewSchema(snapshot);
      for (const [index, entry] of entries.entries()) {
        if (index < position) continue;
        yield { entry, snapshot, behind: { snapshotId: snapshot.snapshotId, position: index + 1, scanAllFiles } };
      }
    }
  }

  /** Oldest first: the snapshot of the place, and those behind it. */
  #snapshotsFrom({ metadata, snapshot: head }: SnapshotState, from: StreamOffset | undefined): readonly IcebergSnapshot[] {
    const lineage = [...ancestorsOf(metadata, head)].toReversed();
    const { start } = this.#options;
    if (from === undefined || from.snapshotId < 0n) {
      const since = start?.kind === 'timestamp' ? start.timestampMs : Number.NEGATIVE_INFINITY;
      const first = lineage.findIndex(({ timestampMs }) => timestampMs >= since);
      return first < 0 ? [] : lineage.slice(first);
    }
    const at = lineage.findIndex(({ snapshotId }) => snapshotId === from.snapshotId);
    if (at >= 0) return lineage.slice(at);
    const isExpired = snapshotById(metadata, from.snapshotId) === undefined;
    if (this.#options.failOnDataLoss === false && isExpired) return lineage;
    throw offsetGone(from.snapshotId, isExpired ? 'expired' : 'rolled-back');
  }

  #isAppend(snapshot: IcebergSnapshot, started: StreamOffset | undefined): boolean {
    switch (snapshot.summary['operation']) {
      case 'append':
        return true;
      case 'replace':
        return false;
      default:
        // The first snapshot of a stream of an earlier version was read as a whole, whatever made it.
        if (started?.scanAllFiles === true) return true;
        if (this.#isPassedOver(snapshot)) return false;
        throw notAppended(snapshot);
    }
  }

  #isPassedOver({ summary }: IcebergSnapshot): boolean {
    const { ignoreDeletes, skipChangeCommits } = this.#options;
    if (summary['operation'] === 'delete') return ignoreDeletes === true;
    return summary['operation'] === 'overwrite' && skipChangeCommits === true;
  }

  async #entriesOf(
    { metadata }: SnapshotState,
    snapshot: IcebergSnapshot,
    all: boolean,
    signal: AbortSignal | undefined,
  ): Promise<readonly ManifestEntry[]> {
    const found: ManifestEntry[] = [];
    for (const manifest of await manifestsOf(this.#context, metadata, snapshot, signal)) {
      if (manifest.content !== 'data' || !(all || manifest.addedSnapshotId === snapshot.snapshotId)) continue;
      const entries = await entriesOf(this.#context, metadata, manifest, signal);
      const isWanted = ({ status, snapshotId }: ManifestEntry): boolean =>
        all ? status !== 'deleted' : status === 'added' && snapshotId === snapshot.snapshotId;
      found.push(...entries.filter(isWanted));
    }
    return found;
  }

  #refuseNewSchema(snapshot: IcebergSnapshot): void {
    const { schemas } = this.#opened.metadata;
    const { schemaId } = snapshot;
    if (schemaId === undefined || schemas.some((schema) => schema.schemaId === schemaId)) return;
    throw schemaChanged(this.#context.name, snapshot);
  }

  /** Behind everything there is; of a table without snapshots nothing can be said yet. */
  async #latest(state: SnapshotState, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { snapshot } = state;
    if (snapshot === undefined) return undefined;
    const entries = await this.#entriesOf(state, snapshot, false, signal);
    return printOffset({ snapshotId: snapshot.snapshotId, position: entries.length, scanAllFiles: false });
  }
}
