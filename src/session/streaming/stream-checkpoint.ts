import { isJsonObject, parseJson, printJson } from '../../base/bigint-json.ts';
import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import type { ObjectStore } from '../../storage/object-store.ts';

const formatVersion = 'v1';
/** Batches that stay in the checkpoint, for people who look back. */
const keptBatches = 100;

/** A batch the checkpoint knows of. */
export interface LoggedBatch {
  readonly batchId: number;
  /** Where the batch ends, as its source prints it. */
  readonly until: string;
}

/**
 * The progress of one streaming query in a folder, in Spark's layout: `metadata`, `offsets/<batch>` written before a batch runs,
 * `commits/<batch>` after its sink took it. A batch with an offset and no commit is run again with the same offsets.
 */
export class StreamCheckpoint {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** The query's id: kept for ever, `freshId` the first time. */
  async queryId(freshId: string, signal?: AbortSignal): Promise<string> {
    const created = await this.#store.putIfAbsent('metadata', utf8(printJson({ id: freshId })), signal);
    if (created === 'created') return freshId;
    const metadata = parseJson(text(await this.#store.read('metadata', signal)), `${this.#store.root}/metadata`);
    const id = isJsonObject(metadata) ? metadata['id'] : undefined;
    if (typeof id === 'string') return id;
    throw corrupt(`${this.#store.root}/metadata`, 'has no "id"');
  }

  /** The last batch that began, and whether its sink took it. */
  async last(signal?: AbortSignal): Promise<{ readonly batch: LoggedBatch; readonly committed: boolean } | undefined> {
    const batchId = await this.#newest('offsets/', signal);
    if (batchId === undefined) return undefined;
    const committed = (await this.#store.head(`commits/${batchId}`, signal)) !== undefined;
    return { batch: await this.#read(batchId, signal), committed };
  }

  /** The end of a batch, which is where the one behind it starts. */
  async untilOf(batchId: number, signal?: AbortSignal): Promise<string> {
    return (await this.#read(batchId, signal)).until;
  }

  /**
   * Writes down that a batch begins.
   * @throws ServiceError `STREAM_CONCURRENT_UPDATE` (fenced) when another run of the query wrote the batch first.
   */
  async begin(batch: LoggedBatch, timestampMs: number): Promise<void> {
    const metadata = printJson({ batchWatermarkMs: 0, batchTimestampMs: timestampMs });
    const body = `${formatVersion}\n${metadata}\n${batch.until}`;
    if ((await this.#store.putIfAbsent(`offsets/${batch.batchId}`, utf8(body))) === 'exists') throw this.#overtaken(batch.batchId);
  }

  /** Writes down that the sink took the batch. */
  async commit(batchId: number): Promise<void> {
    await this.#store.putIfAbsent(`commits/${batchId}`, utf8(`${formatVersion}\n${printJson({ nextBatchWatermarkMs: 0 })}`));
    const expired = batchId - keptBatches;
    if (expired < 0) return;
    await this.#store.delete(`offsets/${expired}`);
    await this.#store.delete(`commits/${expired}`);
  }

  async #newest(prefix: string, signal: AbortSignal | undefined): Promise<number | undefined> {
    let newest: number | undefined;
    for await (const { path } of this.#store.list({ prefix }, signal)) {
      const name = path.slice(prefix.length);
      if (/^\d{1,15}$/.test(name) && (newest === undefined || Number(name) > newest)) newest = Number(name);
    }
    return newest;
  }

  async #read(batchId: number, signal: AbortSignal | undefined): Promise<LoggedBatch> {
    const path = `offsets/${batchId}`;
    const where = `${this.#store.root}/${path}`;
    let lines: readonly string[];
    try {
      lines = text(await this.#store.read(path, signal)).split('\n');
    } catch (error) {
      if (isServiceError(error, 'not-found')) throw corrupt(where, 'is missing');
      throw error;
    }
    const [version, , until] = lines;
    if (version !== formatVersion) throw corrupt(where, `has the version "${version ?? ''}", known is "${formatVersion}"`);
    if (until === undefined || until === '') throw corrupt(where, 'names no offset');
    return { batchId, until };
  }

  #overtaken(batchId: number): ServiceError {
    return serviceError.fenced(
      'STREAM_CONCURRENT_UPDATE',
      `the checkpoint ${this.#store.root} already has batch ${batchId}: another run of this query is active`,
      { hint: 'run one query per checkpoint folder; stop the other one first' },
    );
  }
}

function corrupt(where: string, what: string): ServiceError {
  return serviceError.corrupt('STREAM_CHECKPOINT_CORRUPT', `${where} ${what}`, {
    hint: 'restore the checkpoint folder, or start with an empty one (the stream then starts anew)',
  });
}

const utf8 = (value: string): Uint8Array => new TextEncoder().encode(value);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
