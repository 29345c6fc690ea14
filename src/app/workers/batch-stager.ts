import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import { writeDataFiles } from '../../commit/file-writer.ts';
import { RecordDecoder } from '../../ingest/decode/record-decoder.ts';
import type { BatchStager, RejectedRecord, StageResult, StageTask } from '../../protocol/sealed-batch.ts';
import { describeFields } from '../../schema/describe-type.ts';
import type { OpenStoreWith } from '../../storage/object-store.ts';
import { decodeRecordBatch } from './decode-batch.ts';

export interface BatchStagerOptions {
  readonly openStore: OpenStoreWith;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  readonly maxNestingDepth: number;
  /** Told before each record batch of a task, with its number. */
  readonly onStep?: ((index: number) => void) | undefined;
}

const maxDecoders = 16;

/** The whole way of a sealed batch in one thread: decompress, decode, encode, store. One task at a time. */
export class InThreadBatchStager implements BatchStager {
  readonly #options: BatchStagerOptions;
  /** Decoders by table layout: a warmed-up decoder is several times faster than a fresh one. */
  readonly #decoders = new Map<string, RecordDecoder>();

  constructor(options: BatchStagerOptions) {
    this.#options = options;
  }

  async stage(task: StageTask, signal?: AbortSignal): Promise<StageResult> {
    const { clock, openStore, failpoint } = this.#options;
    const startedMs = clock.monotonicMs();
    const decoder = this.#decoderFor(task);
    const { rejects, recordsByTopic } = decodeBatch(task, decoder, this.#options.onStep);
    const columns = decoder.finish();
    const decodedMs = clock.monotonicMs();
    const written =
      columns.rowCount === 0
        ? { files: [], encodeMs: 0, storeMs: 0 }
        : await writeDataFiles({
            batch: columns,
            spec: task.write,
            store: openStore(task.write.location, task.write.storage),
            fileNameStem: task.fileNameStem,
            clock,
            failpoint,
            signal,
          });
    const timings = { decodeMs: decodedMs - startedMs, encodeMs: written.encodeMs, storeMs: written.storeMs };
    return { files: written.files, rowCount: columns.rowCount, rejects, recordsByTopic, timings };
  }

  #decoderFor(task: StageTask): RecordDecoder {
    const { schema, partitionColumns } = task.write;
    const sources = task.decode.sources.map((source) => `${source.kind}:${'name' in source ? source.name : ''}`);
    const layout = [describeFields(schema.fields), task.decode.unknownMembers, partitionColumns.join('\u0001'), ...sources].join('\0');
    const known = this.#decoders.get(layout);
    if (known !== undefined) {
      // A task that failed half-way may have left rows behind.
      known.reset();
      return known;
    }
    if (this.#decoders.size >= maxDecoders) this.#decoders.clear();
    const decoder = new RecordDecoder(schema, task.decode, { maxDepth: this.#options.maxNestingDepth, partitionColumns });
    this.#decoders.set(layout, decoder);
    return decoder;
  }
}

interface Decoded {
  readonly rejects: readonly RejectedRecord[];
  readonly recordsByTopic: Readonly<Record<string, number>>;
}

function decodeBatch(task: StageTask, decoder: RecordDecoder, onStep: BatchStagerOptions['onStep']): Decoded {
  const bytes = new Uint8Array(task.batch.bytes);
  const rejects: RejectedRecord[] = [];
  const recordsByTopic = new Map<string, number>();
  for (const [index, packed] of task.batch.recordBatches.entries()) {
    onStep?.(index);
    const decoded = decodeRecordBatch(bytes.subarray(packed.start, packed.end), packed, decoder);
    for (const reject of decoded.rejects) rejects.push(reject);
    recordsByTopic.set(packed.topic, (recordsByTopic.get(packed.topic) ?? 0) + decoded.read);
  }
  return { rejects, recordsByTopic: Object.fromEntries(recordsByTopic) };
}
