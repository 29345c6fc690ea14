import { assert, present } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import { type WrittenDataFiles, writeDataFiles } from '../../commit/file-writer.ts';
import { KeyFold } from '../../commit/keyed/key-fold.ts';
import type { OpenEngine } from '../../engine/engine.ts';
import { KnownSchemas } from '../../ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../ingest/decode/record-decoder.ts';
import { DivisionKeys } from '../../ingest/divide/division-keys.ts';
import { placeOf, type RowNeeds } from '../../ingest/evolve/row-needs.ts';
import { RowTransform } from '../../ingest/transform/row-transform.ts';
import type { TransformedRows } from '../../ingest/transform/transformed-rows.ts';
import type { BatchStager, PackedRecordBatch, PassReason, RejectedRecord, StageResult, StageTask } from '../../protocol/sealed-batch.ts';
import type { TableNeed } from '../../protocol/table-needs.ts';
import { columnBytes } from '../../schema/column-bytes.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import { describeFields } from '../../schema/describe-type.ts';
import { takeRows } from '../../schema/take.ts';
import type { StructType } from '../../schema/types.ts';
import type { OpenStoreWith } from '../../storage/object-store.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import type { StagedFile } from '../../table/staged-file.ts';
import { type DecodeBatchOptions, type DecodedRecordBatch, decodeRecordBatch, refuseUnmatched, rejectedRows } from './decode-batch.ts';
import { RowPlaces } from './row-places.ts';
import { schemasNeeded } from './with-schemas.ts';

export interface BatchStagerOptions {
  /** Where files go. Needed unless rows are kept. */
  readonly openStore?: OpenStoreWith | undefined;
  /** Takes the rows in place of files, with the columns that a keyed table adds. */
  readonly keepRows?: ((rows: ColumnBatch) => void) | undefined;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
  /** What computes transforms; started by the first of them. Needed by tasks that have one. */
  readonly openEngine?: OpenEngine | undefined;
  readonly maxNestingDepth: number;
  /** What one record batch may unpack to; a larger one is rejected as a whole. Default: that of `RecordCursor`. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Rows of so many bytes of unpacked records are written before more are decoded. Default 256 MiB. */
  readonly maxDecodedBytes?: number | undefined;
  /** What the last rows of the keys of one task may take. Default 256 MiB. */
  readonly maxFoldedBytes?: number | undefined;
  /** Told before each record batch of a task, with its number. */
  readonly onStep?: ((index: number) => void) | undefined;
}

const maxLayouts = 16;
const defaultMaxDecodedBytes = 256 * 1024 * 1024;
const defaultMaxFoldedBytes = 256 * 1024 * 1024;
/** What is decoded at a time shares the memory of a thread with what is kept of each key. */
const partBesideFold = 1 / 4;

/** The whole way of a sealed batch in one thread: decompress, decode, encode, store. One task at a time. */
export class InThreadBatchStager implements BatchStager {
  readonly #options: BatchStagerOptions;
  /** By table layout: a warmed-up decoder is several times faster than a fresh one, and a transform is compiled once. */
  readonly #layouts = new Map<string, Layout>();
  readonly #schemas = new KnownSchemas();

  constructor(options: BatchStagerOptions) {
    this.#options = options;
  }

  async stage(task: StageTask, signal?: AbortSignal): Promise<StageResult> {
    const { maxFoldedBytes = defaultMaxFoldedBytes, onStep, clock } = this.#options;
    const maxDecodedBytes = this.#maxDecodedBytes(task);
    this.#schemas.forgetUnknown();
    this.#schemas.add(task.decode.schemas ?? []);
    const { decoder, transform } = await this.#layoutFor(task);
    const places = transform === undefined ? undefined : new RowPlaces();
    const bytes = new Uint8Array(task.batch.bytes);
    const { keyed } = task.decode;
    const staged = new Staged(keyed === undefined ? undefined : new KeyFold(task.write.schema, keyed, maxFoldedBytes));
    let decodedBytes = 0;
    let startedMs = clock.monotonicMs();
    for (const [index, packed] of task.batch.recordBatches.entries()) {
      onStep?.(index);
      places?.startBatch(index);
      const decoded = this.#decode(task, packed, bytes.subarray(packed.start, packed.end), { decoder, onRow: places?.add });
      places?.truncate(decoder.rowCount);
      staged.add(index, packed.topic, decoded);
      decodedBytes += decoded.unpackedBytes;
      if (decodedBytes < maxDecodedBytes) continue;
      staged.decodeMs += clock.monotonicMs() - startedMs;
      if (!staged.callsFor(decoder.takeNeeds())) await this.#write(task, { decoder, transform, places }, staged, signal);
      else decoder.reset();
      places?.clear();
      places?.startBatch(index);
      decodedBytes = 0;
      startedMs = clock.monotonicMs();
    }
    staged.decodeMs += clock.monotonicMs() - startedMs;
    if (!staged.callsFor(decoder.takeNeeds())) {
      await this.#write(task, { decoder, transform, places }, staged, signal);
      await this.#writeFolded(task, staged, signal);
    }
    return staged.result();
  }

  #maxDecodedBytes({ decode }: StageTask): number {
    const { maxDecodedBytes = defaultMaxDecodedBytes } = this.#options;
    return decode.keyed === undefined ? maxDecodedBytes : maxDecodedBytes * partBesideFold;
  }

  #decode(
    { decode }: StageTask,
    packed: PackedRecordBatch,
    bytes: Uint8Array,
    { decoder, onRow }: { readonly decoder: RecordDecoder } & Pick<DecodeBatchOptions, 'onRow'>,
  ): DecodedRecordBatch {
    const { maxUnpackedBytes, maxNestingDepth: maxDepth } = this.#options;
    const { replays, division: part } = decode;
    if (packed.unmatched !== true && (part === undefined || packed.topic !== replays?.topic))
      return decodeRecordBatch(bytes, packed, decoder, { maxUnpackedBytes, onRow, replays });
    const { spec, index } = present(part, 'a table with records that no table takes is one of a divided route');
    const keys = new DivisionKeys(spec, { maxDepth, maxUnpackedBytes, schemas: this.#schemas });
    if (packed.unmatched === true) return refuseUnmatched(bytes, packed, keys, { spec, maxUnpackedBytes });
    return decodeRecordBatch(bytes, packed, decoder, { maxUnpackedBytes, onRow, replays, division: { spec, index, keys } });
  }

  /** Refuses what cannot be decoded or computed, before there is a record. @throws as `RecordDecoder` and `RowTransform` do. */
  async prepare(task: Pick<StageTask, 'write' | 'decode'>): Promise<void> {
    await this.#layoutFor(task);
  }

  /** Writes the rows that are in the decoder, or are made of them, in files of their own. */
  async #write(task: StageTask, { decoder, transform, places }: Filled, staged: Staged, signal: AbortSignal | undefined): Promise<void> {
    const missing = this.#schemas.takeMissing();
    if (missing.length > 0) throw schemasNeeded(missing);
    const { emptiedAt } = decoder;
    const batch = decoder.finish();
    if (transform === undefined || places === undefined) {
      if (emptiedAt !== undefined) present(staged.fold, 'only the rows of a keyed table all end').empty();
      const rows = emptiedAt === undefined ? batch : takeRows(batch, rowNumbers(emptiedAt, batch.rowCount));
      await this.#writeRows(task, [rows], batch.rowCount, staged, signal);
      return;
    }
    assert(emptiedAt === undefined, 'events that truncate a table are not applied behind a transform');
    const { clock } = this.#options;
    const maxDecodedBytes = this.#maxDecodedBytes(task);
    const held = { rows: [] as ColumnBatch[], records: 0, bytes: 0 };
    let startedMs = clock.monotonicMs();
    for await (const made of transform.apply(batch)) {
      staged.rejectRows(this.#rejected(task, places, made));
      staged.addTransformed(made);
      held.rows.push(made.rows);
      held.records += made.records;
      held.bytes += made.rows.columns.reduce((sum, column) => sum + columnBytes(column), 0);
      if (held.bytes < maxDecodedBytes) continue;
      staged.transformMs += clock.monotonicMs() - startedMs;
      await this.#writeRows(task, held.rows.splice(0), held.records, staged, signal);
      [held.records, held.bytes] = [0, 0];
      startedMs = clock.monotonicMs();
    }
    staged.transformMs += clock.monotonicMs() - startedMs;
    await this.#writeRows(task, held.rows, held.records, staged, signal);
  }

  #rejected({ batch, decode }: StageTask, places: RowPlaces, { failed }: TransformedRows): readonly PlacedReject[] {
    if (failed.length === 0) return [];
    const bytes = new Uint8Array(batch.bytes);
    return [...places.byBatch(failed)].flatMap(([index, failures]) => {
      const packed = present(batch.recordBatches[index], 'a row is of a record batch of its task');
      const rejects = rejectedRows(bytes.subarray(packed.start, packed.end), packed, failures, {
        maxUnpackedBytes: this.#options.maxUnpackedBytes,
        replays: decode.replays,
      });
      return rejects.map((reject) => ({ index, reject }));
    });
  }

  async #writeRows(
    task: StageTask,
    batches: readonly ColumnBatch[],
    records: number,
    staged: Staged,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const batch = concatBatches(rowsSchema(task), batches);
    if (staged.fold !== undefined) {
      if (batch.rowCount > 0) staged.fold.add(batch);
      staged.folded(records);
      return;
    }
    if (batch.rowCount === 0) return;
    const written = await this.#writeFiles(task, batch, staged.parts, signal);
    staged.wrote(batch.rowCount, records, written);
  }

  /** Of a keyed table: what is left of all rows of the task. */
  async #writeFolded(task: StageTask, staged: Staged, signal: AbortSignal | undefined): Promise<void> {
    const folded = staged.fold?.take();
    if (folded === undefined) return;
    const { rows, keyed } = folded;
    staged.keyed = keyed;
    if (rows.rowCount > 0) staged.wrote(rows.rowCount, 0, await this.#writeFiles(task, rows, staged.parts, signal));
  }

  #writeFiles(task: StageTask, batch: ColumnBatch, part: number, signal: AbortSignal | undefined): Promise<WrittenDataFiles> {
    const { clock, failpoint, keepRows } = this.#options;
    if (keepRows !== undefined) {
      keepRows(batch);
      return Promise.resolve({ files: [], encodeMs: 0, storeMs: 0 });
    }
    const openStore = present(this.#options.openStore, 'a stager of files has a store');
    const { location, storage } = task.write;
    const fileNameStem = part === 0 ? task.fileNameStem : `${task.fileNameStem}-part${part}`;
    const store = openStore(location, storage);
    return writeDataFiles({ batch, spec: task.write, store, fileNameStem, clock, failpoint, signal });
  }

  async #layoutFor(task: Pick<StageTask, 'write' | 'decode'>): Promise<Layout> {
    const { partitionColumns } = task.write;
    const schema = rowsSchema(task);
    const { sources, unknownMembers, value, key, transform, evolve, keyed } = task.decode;
    const name = JSON.stringify([
      describeFields(schema.fields),
      unknownMembers,
      partitionColumns,
      sources,
      value,
      key,
      transform,
      evolve,
      keyed,
    ]);
    const known = this.#layouts.get(name);
    if (known !== undefined) {
      // A task that failed half-way may have left rows behind.
      known.decoder.reset();
      return known;
    }
    if (this.#layouts.size >= maxLayouts) this.close();
    const { maxNestingDepth: maxDepth, maxUnpackedBytes, openEngine } = this.#options;
    const options = { maxDepth, maxUnpackedBytes, schemas: this.#schemas };
    // What partitions the table is made by the transform.
    const layout: Layout =
      transform === undefined
        ? { decoder: new RecordDecoder(schema, task.decode, { ...options, partitionColumns }), transform: undefined }
        : {
            decoder: new RecordDecoder(transform.record, task.decode, options),
            transform: await RowTransform.prepare(
              transform,
              { schema, partitionColumns },
              present(openEngine, 'a stager of transforms has an engine'),
            ),
          };
    this.#layouts.set(name, layout);
    return layout;
  }

  /** Gives back what transforms hold of the engine. The next task makes it anew. */
  close(): void {
    for (const { transform } of this.#layouts.values()) transform?.close();
    this.#layouts.clear();
  }
}

/** The table's columns, those of key and order required whatever the table says, and what rows say besides. */
function rowsSchema({ write: { schema }, decode: { keyed } }: Pick<StageTask, 'write' | 'decode'>): StructType {
  if (keyed === undefined) return schema;
  const { keyColumns, orderColumns, deleted, absent } = keyed;
  const required = new Set([...keyColumns, ...orderColumns]);
  const fields = schema.fields.map((field) => (required.has(field.name) ? { ...field, nullable: false } : field));
  const added = [...(deleted.kind === 'added' ? [deleted.field] : []), ...(absent === undefined ? [] : [absent.field])];
  return { kind: 'struct', fields: [...fields, ...added] };
}

function rowNumbers(from: number, until: number): Int32Array {
  return Int32Array.from({ length: until - from }, (_, index) => from + index);
}

/** How a table's records become rows. */
interface Layout {
  readonly decoder: RecordDecoder;
  readonly transform: RowTransform | undefined;
}

/** A decoder with rows in it, and where they are from if that may be asked. */
interface Filled extends Layout {
  readonly places: RowPlaces | undefined;
}

interface PlacedReject {
  /** Of its record batch. */
  readonly index: number;
  readonly reject: RejectedRecord;
}

/** What came of the record batches so far. */
class Staged {
  decodeMs = 0;
  transformMs = 0;
  /** How often rows were written. */
  parts = 0;
  keyed: KeyedRows | undefined;
  /** Takes the rows of a keyed table. */
  readonly fold: KeyFold | undefined;
  readonly #rejects: PlacedReject[] = [];
  #inOrder = true;
  readonly #passedOver = new Map<PassReason, number>();
  readonly #recordsByTopic = new Map<string, number>();
  readonly #unmet = new Map<string, number>();
  readonly #files: StagedFile[] = [];
  readonly #needs = new Map<string, TableNeed>();
  readonly #left = new Map<string, string>();
  #rowCount = 0;
  #recordsWithRows = 0;
  #unreadMembers = 0;
  #replayed = 0;
  #encodeMs = 0;
  #storeMs = 0;

  constructor(fold: KeyFold | undefined) {
    this.fold = fold;
  }

  /** `index`: of the record batch. */
  add(index: number, topic: string, { rejects, passedOver, unread, replayed, read }: DecodedRecordBatch): void {
    this.#unreadMembers += unread;
    this.#replayed += replayed;
    for (const reject of rejects) this.#rejects.push({ index, reject });
    for (const reason of passedOver) this.#passOver(reason, 1);
    this.#recordsByTopic.set(topic, (this.#recordsByTopic.get(topic) ?? 0) + read);
  }

  addTransformed({ filtered, empty, unmet }: TransformedRows): void {
    this.#passOver('filtered', filtered);
    this.#passOver('no-elements', empty);
    for (const [name, count] of unmet) this.#unmet.set(name, (this.#unmet.get(name) ?? 0) + count);
  }

  rejectRows(rejects: readonly PlacedReject[]): void {
    for (const reject of rejects) this.#rejects.push(reject);
    if (rejects.length > 0) this.#inOrder = false;
  }

  /** Whether the table must change first, for these records or earlier ones: the batch is read to its end for what else it calls for, and not written. */
  callsFor({ needs, left }: RowNeeds): boolean {
    for (const need of needs) if (!this.#needs.has(placeOf(need))) this.#needs.set(placeOf(need), need);
    for (const { name, why } of left) this.#left.set(name, why);
    return this.#needs.size > 0;
  }

  #passOver(reason: PassReason, count: number): void {
    if (count > 0) this.#passedOver.set(reason, (this.#passedOver.get(reason) ?? 0) + count);
  }

  /** Rows of so many records are in the fold. */
  folded(records: number): void {
    this.#recordsWithRows += records;
  }

  wrote(rowCount: number, records: number, { files, encodeMs, storeMs }: WrittenDataFiles): void {
    this.parts += 1;
    this.#rowCount += rowCount;
    this.#recordsWithRows += records;
    this.#files.push(...files);
    this.#encodeMs += encodeMs;
    this.#storeMs += storeMs;
  }

  result(): StageResult {
    const rejects = this.#inOrder ? this.#rejects : this.#rejects.toSorted(inSourceOrder);
    return {
      files: this.#files,
      rowCount: this.#rowCount,
      ...(this.keyed === undefined ? {} : { keyed: this.keyed }),
      recordsWithRows: this.#recordsWithRows,
      rejects: rejects.map(({ reject }) => reject),
      ...(this.#replayed === 0 ? {} : { replayed: this.#replayed }),
      passedOver: Object.fromEntries(this.#passedOver),
      unreadMembers: this.#unreadMembers,
      unmet: Object.fromEntries(this.#unmet),
      recordsByTopic: Object.fromEntries(this.#recordsByTopic),
      ...(this.#needs.size === 0 ? {} : { needs: [...this.#needs.values()] }),
      ...(this.#left.size === 0 ? {} : { left: [...this.#left].map(([name, why]) => ({ name, why })) }),
      timings: { decodeMs: this.decodeMs, transformMs: this.transformMs, encodeMs: this.#encodeMs, storeMs: this.#storeMs },
    };
  }
}

/** As decoding would have found them. */
function inSourceOrder(left: PlacedReject, right: PlacedReject): number {
  if (left.index !== right.index) return left.index - right.index;
  return left.reject.offset < right.reject.offset ? -1 : 1;
}
