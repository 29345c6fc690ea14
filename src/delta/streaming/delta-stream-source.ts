import { throwIfAborted } from '../../base/abort.ts';
import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { StructType } from '../../schema/types.ts';
import { changeSchema } from '../../table/change-columns.ts';
import type { ChangeScan, ScanFile } from '../../table/scan.ts';
import type { StreamOptions, StreamSource } from '../../table/stream.ts';
import { toVersion } from '../../table/version.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { beforeFirstFile, isBefore, parseOffset, printOffset, type StreamOffset } from './stream-offset.ts';
import { checkStreamSchema, type StreamSchemaCheck } from './stream-schema.ts';
import { addedFiles, changedFiles, type IndexedFile, regrouped, startingFiles } from './version-files.ts';

const defaultMaxFiles = 1000;

/** Some files of one place in the sequence, and where the sequence goes on behind them. */
interface Step {
  readonly files: readonly IndexedFile[];
  readonly at: StreamOffset;
  /** Behind the last file. */
  readonly next: StreamOffset;
}

/**
 * A Delta table as a stream (FORMATS A15): the files of a first snapshot, if any, then those of each version in order. Rows of every version
 * are read by the schema the table had when the stream was opened; a version that does not fit it stops the stream.
 */
export class DeltaStreamSource implements StreamSource {
  readonly description: string;
  readonly schema: StructType;
  readonly changeFeed: boolean;
  readonly #context: OperationContext;
  readonly #opened: DeltaSnapshot;
  readonly #options: StreamOptions;
  #first: StreamOffset | undefined;
  #frozenAt: number | undefined;
  #startIsChecked = false;

  private constructor(context: OperationContext, opened: DeltaSnapshot, options: StreamOptions) {
    this.#context = context;
    this.#opened = opened;
    this.#options = options;
    this.changeFeed = options.changeFeed;
    this.description = `DeltaSource[${context.store.root.replace('file://', 'file:').replace(/\/$/, '')}]`;
    this.schema = options.changeFeed ? changeSchema(opened.schema) : opened.schema;
  }

  /** @throws AnalysisException when the start is outside the table's history. */
  static async open(context: OperationContext, options: StreamOptions, signal?: AbortSignal): Promise<DeltaStreamSource> {
    return new DeltaStreamSource(context, await context.refresh(signal), options);
  }

  async nextOffset(after: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const lastVersion = this.#frozenAt ?? (await this.#context.refresh(signal)).version;
    const start = after === undefined ? await this.#firstOffset(signal) : this.#parse(after);
    // Where "latest" was is known from the checkpoint alone: an empty batch writes it down.
    if (after === undefined && this.#options.start?.kind === 'latest') return this.#print(start);
    let end = start;
    let files = 0;
    let bytes = 0;
    for await (const step of this.#steps(start, lastVersion, signal)) {
      // What a version took away and what it brought belong together: its changes come in one batch, whatever the limits.
      const whole = this.changeFeed && !step.at.starting;
      const size = step.files.reduce((sum, { file }) => sum + file.sizeBytes, 0);
      if (whole && files > 0 && this.#isFull(files + step.files.length - 1, bytes + size)) return this.#print(end);
      for (const { index, file } of step.files) {
        if (!whole && files > 0 && this.#isFull(files, bytes + file.sizeBytes)) return this.#print(end);
        files += 1;
        bytes += file.sizeBytes;
        end = { ...step.at, index };
      }
      end = step.next;
      // The end of a batch that holds the first snapshot names the snapshot: nothing else may be in it.
      if (step.at.starting || this.#isFull(files, bytes)) break;
    }
    if (!isBefore(start, end)) return undefined;
    // Versions without rows alone make no batch; the next one passes them.
    return files === 0 && after !== undefined ? undefined : this.#print(end);
  }

  async freeze(signal?: AbortSignal): Promise<void> {
    this.#frozenAt = (await this.#context.refresh(signal)).version;
  }

  async batch(range: { readonly after: string | undefined; readonly until: string }, signal?: AbortSignal): Promise<readonly ChangeScan[]> {
    const until = this.#parse(range.until);
    const start = range.after === undefined ? await this.#firstOffset(signal, until) : this.#parse(range.after);
    const scans: ChangeScan[] = [];
    const lastVersion = until.index === beforeFirstFile && !until.starting ? until.version - 1 : until.version;
    for await (const step of this.#steps(start, lastVersion, signal)) {
      const wanted = step.files.filter(({ index, file }) => !isBefore(until, { ...step.at, index }) && !this.#isExcluded(file));
      scans.push(...regrouped(wanted));
      if (!isBefore(step.next, until)) break;
    }
    return scans;
  }

  /** The files from `start` on, a version (or the first snapshot) at a time, up to the newest version. */
  async *#steps(start: StreamOffset, lastVersion: number, signal: AbortSignal | undefined): AsyncGenerator<Step, void, undefined> {
    let at = start;
    await this.#checkStart(at, signal);
    if (at.starting) {
      const snapshot = await this.#context.snapshotAt(toVersion(at.version), signal);
      checkStreamSchema(this.#schemaCheck, snapshot.version, snapshot.metadata);
      const next = { version: at.version + 1, index: beforeFirstFile, starting: false };
      yield { files: behind(startingFiles(this.#context, snapshot, this.#opened), at.index), at, next };
      at = next;
    }
    for (; at.version <= lastVersion; at = { version: at.version + 1, index: beforeFirstFile, starting: false }) {
      throwIfAborted(signal);
      const files = behind(await this.#filesOf(at.version, signal), at.index);
      yield { files, at, next: { version: at.version + 1, index: beforeFirstFile, starting: false } };
    }
  }

  #isExcluded(file: ScanFile): boolean {
    const root = this.#context.store.root.replace(/^file:\/\//, '');
    const path = file.path.startsWith(root) ? file.path.slice(root.length) : file.path;
    return !this.changeFeed && this.#options.excludePaths?.test(path) === true;
  }

  async #filesOf(version: number, signal: AbortSignal | undefined): Promise<readonly IndexedFile[]> {
    const commit = await this.#commit(version, signal);
    if (commit === undefined) return [];
    const metadata = commit.actions.find((action) => action.kind === 'metaData');
    if (metadata?.kind === 'metaData') checkStreamSchema(this.#schemaCheck, version, metadata);
    const reading = { context: this.#context, readAs: this.#opened, signal };
    return this.changeFeed ? changedFiles(reading, version) : addedFiles(reading, commit, this.#options);
  }

  async #commit(version: number, signal: AbortSignal | undefined): Promise<DeltaCommit | undefined> {
    const commit = await this.#context.readCommit(toVersion(version), signal);
    if (commit !== undefined || this.#options.failOnDataLoss === false) return commit;
    throw new AnalysisException({
      errorClass: 'DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE',
      message: `table "${this.#context.name}": the log of version ${version} is gone, so its rows cannot be streamed any more`,
      hint: "set 'failOnDataLoss' to 'false' to go on with what is there, or start with an empty checkpoint folder",
    });
  }

  /**
   * Only versions that change the table tell what it is: the one before the first that is read has to be looked at. What a checkpoint says was read
   * fits the schema of that time, so a column dropped since then is found, though none of its rows are left to read.
   */
  async #checkStart(start: StreamOffset, signal: AbortSignal | undefined): Promise<void> {
    if (this.#startIsChecked || start.starting) return;
    this.#startIsChecked = true;
    const isBehindRead = start.index === beforeFirstFile && this.#first === undefined;
    const version = Math.max(0, isBehindRead ? start.version - 1 : start.version);
    if (version >= this.#opened.version) return;
    let snapshot: DeltaSnapshot;
    try {
      snapshot = await this.#context.snapshotAt(toVersion(version), signal);
    } catch (error) {
      // Its log is gone: what can still be read says what it needs, unless names in files and of columns may differ.
      if (this.#opened.mapping === 'none' && isServiceError(error, 'not-found', 'corrupt', 'invalid')) return;
      throw error;
    }
    checkStreamSchema(this.#schemaCheck, version, snapshot.metadata);
  }

  get #schemaCheck(): StreamSchemaCheck {
    const kind = this.#options.start?.kind;
    return { table: this.#context.name, opened: this.#opened, startIsGiven: kind !== undefined && kind !== 'snapshot' };
  }

  async #firstOffset(signal: AbortSignal | undefined, until?: StreamOffset): Promise<StreamOffset> {
    const kind = this.#options.start?.kind ?? 'snapshot';
    // The first batch repeated after a restart begins where it began then, which its end tells.
    if (until !== undefined && kind === 'latest') return until;
    if (until !== undefined && kind === 'snapshot') {
      return { version: until.starting ? until.version : until.version - 1, index: beforeFirstFile, starting: true };
    }
    this.#first ??= await this.#resolveStart(signal);
    return this.#first;
  }

  async #resolveStart(signal: AbortSignal | undefined): Promise<StreamOffset> {
    const start = this.#options.start ?? { kind: 'snapshot' };
    const latest = await this.#context.refresh(signal);
    const from = (version: number): StreamOffset => ({ version, index: beforeFirstFile, starting: false });
    switch (start.kind) {
      case 'snapshot':
        return { version: latest.version, index: beforeFirstFile, starting: true };
      case 'latest':
        return from(latest.version + 1);
      case 'version':
        if (start.version > latest.version + 1) await this.#context.snapshotAt(start.version, signal);
        return from(start.version);
      case 'timestamp':
        return from(await this.#firstVersionFrom(start.timestampMs, latest, signal));
    }
  }

  /** The first version committed at or after a time. */
  async #firstVersionFrom(timestampMs: number, latest: DeltaSnapshot, signal: AbortSignal | undefined): Promise<number> {
    let version = latest.version + 1;
    for (let candidate: number = latest.version; candidate >= 0; candidate -= 1) {
      let committedAt: number;
      try {
        committedAt = (await this.#context.snapshotAt(toVersion(candidate), signal)).committedAt;
      } catch (error) {
        // The log begins here.
        if (isServiceError(error, 'not-found', 'corrupt', 'invalid')) break;
        throw error;
      }
      if (committedAt < timestampMs) break;
      version = candidate;
    }
    return version;
  }

  #isFull(files: number, bytes: number): boolean {
    const maxBytes = this.#options.maxBytesPerTrigger;
    return files >= (this.#options.maxFilesPerTrigger ?? defaultMaxFiles) || (maxBytes !== undefined && bytes >= maxBytes);
  }

  #parse(text: string): StreamOffset {
    return parseOffset(this.#opened.tableId, text);
  }

  #print(offset: StreamOffset): string {
    return printOffset(this.#opened.tableId, offset);
  }
}

function behind(files: readonly IndexedFile[], index: number): readonly IndexedFile[] {
  return files.filter((file) => file.index > index);
}
