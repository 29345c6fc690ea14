import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import { type WrittenDataFiles, writeDataFiles } from '../../commit/file-writer.ts';
import { KnownSchemas } from '../../ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../ingest/decode/record-decoder.ts';
import type { BatchStager, PassReason, RejectedRecord, StageResult, StageTask } from '../../protocol/sealed-batch.ts';
import { describeFields } from '../../schema/describe-type.ts';
import type { OpenStoreWith } from '../../storage/object-store.ts';
import type { StagedFile } from '../../table/staged-file.ts';
import { type DecodedRecordBatch, decodeRecordBatch } from './decode-batch.ts';
import { schemasNeeded } from './with-schemas.ts';

export interface BatchStagerOptions {
  readonly openStore: OpenStoreWith;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  readonly maxNestingDepth: number;
  /** What one record batch may unpack to; a larger one is rejected as a whole. Default: that of `RecordCursor`. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Rows of so many bytes of unpacked records are written before more are decoded. Default 256 MiB. */
  readonly maxDecodedBytes?: number | undefined;
  /** Told before each record batch of a task, with its number. */
  readonly onStep?: ((index: number) => void) | undefined;
}

const maxDecoders = 16;
const defaultMaxDecodedBytes = 256 * 1024 * 1024;

/** The whole way of a sealed batch in one thread: decompress, decode, encode, store. One task at a time. */
export class InThreadBatchStager implements BatchStager {
  readonly #options: BatchStagerOptions;
  /** Decoders by table layout: a warmed-up decoder is several times faster than a fresh one. */
  readonly #decoders = new Map<string, RecordDecoder>();
  readonly #schemas = new KnownSchemas();

  constructor(options: BatchStagerOptions) {
    this.#options = options;
  }

  async stage(task: StageTask, signal?: AbortSignal): Promise<StageResult> {
    const { maxUnpackedBytes, maxDecodedBytes = defaultMaxDecodedBytes, onStep, clock } = this.#options;
    this.#schemas.forgetUnknown();
    this.#schemas.add(task.decode.schemas ?? []);
    const decoder = this.#decoderFor(task);
    const bytes = new Uint8Array(task.batch.bytes);
    const staged = new Staged();
    let decodedBytes = 0;
    let startedMs = clock.monotonicMs();
    for (const [index, packed] of task.batch.recordBatches.entries()) {
      onStep?.(index);
      const decoded = decodeRecordBatch(bytes.subarray(packed.start, packed.end), packed, decoder, maxUnpackedBytes);
      staged.add(packed.topic, decoded);
      decodedBytes += decoded.unpackedBytes;
      if (decodedBytes < maxDecodedBytes) continue;
      staged.decodeMs += clock.monotonicMs() - startedMs;
      await this.#write(task, decoder, staged, signal);
      decodedBytes = 0;
      startedMs = clock.monotonicMs();
    }
    staged.decodeMs += clock.monotonicMs() - startedMs;
    await this.#write(task, decoder, staged, signal);
    return staged.result();
  }

  /** Writes the rows that are in the decoder, in files of their own. */
  async #write(task: StageTask, decoder: RecordDecoder, staged: Staged, signal: AbortSignal | undefined): Promise<void> {
    const { clock, openStore, failpoint } = this.#options;
    const missing = this.#schemas.takeMissing();
    if (missing.length > 0) throw schemasNeeded(missing);
    const batch = decoder.finish();
    if (batch.rowCount === 0) return;
    const { location, storage } = task.write;
    const fileNameStem = staged.parts === 0 ? task.fileNameStem : `${task.fileNameStem}-part${staged.parts}`;
    const store = openStore(location, storage);
    staged.wrote(batch.rowCount, await writeDataFiles({ batch, spec: task.write, store, fileNameStem, clock, failpoint, signal }));
  }

  #decoderFor(task: StageTask): RecordDecoder {
    const { schema, partitionColumns } = task.write;
    const { sources, unknownMembers, value, key } = task.decode;
    const layout = JSON.stringify([describeFields(schema.fields), unknownMembers, partitionColumns, sources, value, key]);
    const known = this.#decoders.get(layout);
    if (known !== undefined) {
      // A task that failed half-way may have left rows behind.
      known.reset();
      return known;
    }
    if (this.#decoders.size >= maxDecoders) this.#decoders.clear();
    const { maxNestingDepth: maxDepth, maxUnpackedBytes } = this.#options;
    const options = { maxDepth, maxUnpackedBytes, partitionColumns, schemas: this.#schemas };
    const decoder = new RecordDecoder(schema, task.decode, options);
    this.#decoders.set(layout, decoder);
    return decoder;
  }
}

/** What came of the record batches so far. */
class Staged {
  decodeMs = 0;
  /** How often rows were written. */
  parts = 0;
  readonly #rejects: RejectedRecord[] = [];
  readonly #passedOver = new Map<PassReason, number>();
  readonly #recordsByTopic = new Map<string, number>();
  readonly #files: StagedFile[] = [];
  #rowCount = 0;
  #encodeMs = 0;
  #storeMs = 0;

  add(topic: string, { rejects, passedOver, read }: DecodedRecordBatch): void {
    for (const reject of rejects) this.#rejects.push(reject);
    for (const reason of passedOver) this.#passedOver.set(reason, (this.#passedOver.get(reason) ?? 0) + 1);
    this.#recordsByTopic.set(topic, (this.#recordsByTopic.get(topic) ?? 0) + read);
  }

  wrote(rowCount: number, { files, encodeMs, storeMs }: WrittenDataFiles): void {
    this.parts += 1;
    this.#rowCount += rowCount;
    this.#files.push(...files);
    this.#encodeMs += encodeMs;
    this.#storeMs += storeMs;
  }

  result(): StageResult {
    return {
      files: this.#files,
      rowCount: this.#rowCount,
      rejects: this.#rejects,
      passedOver: Object.fromEntries(this.#passedOver),
      recordsByTopic: Object.fromEntries(this.#recordsByTopic),
      timings: { decodeMs: this.decodeMs, encodeMs: this.#encodeMs, storeMs: this.#storeMs },
    };
  }
}
