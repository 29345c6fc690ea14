import { throwIfAborted } from '../base/abort.ts';
import { present } from '../base/assert.ts';
import { isServiceError } from '../base/errors.ts';
import type { OpenEngine } from '../engine/engine.ts';
import { describeFields } from '../schema/describe-type.ts';
import type { ObjectStore, OpenStoreWith } from '../storage/object-store.ts';
import type { ChangeFile } from '../table/changes.ts';
import { changesGone } from '../table/changes-gone.ts';
import type { ChangeFileRequest, OpenChangeFile } from './change-file.ts';
import { heldChangeFile } from './held-change-file.ts';
import { RowMatcher } from './row-matcher.ts';
import { scannedChangeFile } from './scanned-change-file.ts';
import { slicedChangeFile } from './sliced-change-file.ts';
import { type ReadOtherFile, streamedChangeFile } from './streamed-change-file.ts';

/** Larger files are read by the engine, which holds a piece of them at a time. */
const defaultMaxHeldBytes: number = 16 * 1024 * 1024;
/** Feeds take turns: each finds its file as it left it. */
const maxOpenFiles = 4;

export interface ChangeFileReaderParts {
  readonly openStore: OpenStoreWith;
  readonly openEngine: OpenEngine;
  /** Absent: there are no files that need it. */
  readonly readOther?: ReadOtherFile | undefined;
  /** Stored bytes of a file up to which they are held in memory. Default: 16 MiB. */
  readonly maxHeldBytes?: number | undefined;
}

/** Opens change files and keeps the last ones open, so that successive runs over one file read it once. One call at a time. */
export class ChangeFileReader {
  readonly #parts: ChangeFileReaderParts;
  readonly #matcher: RowMatcher;
  readonly #open = new Map<string, OpenChangeFile>();
  #store: { readonly location: string; readonly storage: ChangeFile['storage']; readonly store: ObjectStore } | undefined;

  constructor(parts: ChangeFileReaderParts) {
    this.#parts = parts;
    this.#matcher = new RowMatcher(parts.openEngine);
  }

  /**
   * The file, until `close` or until others were opened.
   *
   * @throws ServiceError `CDF_GAP` (kind not-found) when the file is gone, `CDF_FILE_CORRUPT` (kind corrupt) when it does not hold what the
   * log says, `CDF_KEY_COLUMN_UNKNOWN` (kind invalid), and what the engine throws.
   */
  async open(request: ChangeFileRequest, signal?: AbortSignal): Promise<OpenChangeFile> {
    const identity = identityOf(request);
    const known = this.#open.get(identity);
    if (known !== undefined) {
      this.#open.delete(identity);
      this.#open.set(identity, known);
      return known;
    }
    throwIfAborted(signal);
    for (const [oldest, file] of this.#open) {
      if (this.#open.size < maxOpenFiles) break;
      this.#open.delete(oldest);
      await file.close();
    }
    const opened = await this.#read(request, signal);
    this.#open.set(identity, opened);
    return opened;
  }

  /** Closes the files of a version that was read to its end. */
  async close(requests: Iterable<ChangeFileRequest>): Promise<void> {
    if (this.#open.size === 0) return;
    for (const request of requests) {
      const identity = identityOf(request);
      const file = this.#open.get(identity);
      this.#open.delete(identity);
      await file?.close();
    }
  }

  async #read(request: ChangeFileRequest, signal: AbortSignal | undefined): Promise<OpenChangeFile> {
    const { file, location } = request;
    const store = this.#storeOf(file.location ?? location, file.storage);
    const isHeld = file.layout === undefined && file.sizeBytes <= (this.#parts.maxHeldBytes ?? defaultMaxHeldBytes);
    const { other } = file;
    const tools = { store, matcher: this.#matcher };
    try {
      if (other !== undefined) {
        const readOther = present(this.#parts.readOther, 'files of other formats have a reader');
        return await streamedChangeFile(request, { ...tools, other, readOther }, signal);
      }
      if (isHeld && file.kind === 'recorded') return await heldChangeFile(request, tools, signal);
      if (isHeld) return await slicedChangeFile(request, tools, signal);
      return await scannedChangeFile(request, { ...tools, engine: await this.#parts.openEngine() }, signal);
    } catch (cause) {
      if (!isServiceError(cause, 'not-found')) throw cause;
      throw changesGone(location, request.changes.version, `file "${file.path}" is gone`, { cause });
    }
  }

  #storeOf(location: string, storage: ChangeFile['storage']): ObjectStore {
    if (this.#store?.location !== location || this.#store.storage !== storage) {
      this.#store = { location, storage, store: this.#parts.openStore(location, storage) };
    }
    return this.#store.store;
  }
}

function identityOf(request: ChangeFileRequest): string {
  const { location, changes, file, keyColumns, published = changes.schema, filter } = request;
  // Versions may show different rows of one file, or find its columns elsewhere.
  const isOfVersion =
    file.deletedRows !== undefined || file.onlyRows !== undefined || file.layout !== undefined || file.other !== undefined;
  const version = isOfVersion ? changes.version : 'all';
  return [
    file.location ?? location,
    file.kind,
    file.path,
    version,
    describeFields(changes.schema.fields),
    describeFields(published.fields),
    filter?.where ?? '',
    ...keyColumns,
  ].join('\u0000');
}
