import { throwIfAborted } from '../base/abort.ts';
import { assert, assertNever } from '../base/assert.ts';
import { partitionOfKey } from '../kafka/murmur2.ts';
import type { ChangeEncoder, EncodedChanges, EncodeTask } from '../protocol/change-event.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import type { ChangeFileRequest, ChangePiece, PhaseCounts } from './change-file.ts';
import { ChangeFileReader, type ChangeFileReaderParts } from './change-file-reader.ts';
import { changeTypes, deleteCode, insertCode, postimageCode, preimageCode } from './change-order.ts';
import { CloudEventEnvelope, cloudEventContentType } from './cloud-event.ts';
import { type SchemaPrefixes, schemaPrefixes } from './connect-schema.ts';
import { afterEnvelope, type ChangeEvent, DebeziumEnvelope, type EventEnvelope, FlatEnvelope, type Operation } from './envelope.ts';
import { EventHeaders } from './event-headers.ts';
import { FeedFilter } from './feed-filter.ts';
import { JsonBuffer } from './json-buffer.ts';
import { PartitionedBatches } from './partitioned-batches.ts';
import type { RowWriters } from './row-writers.ts';
import { withSelectedColumns } from './selected-columns.ts';
import { type Segment, segmentsOf } from './version-segments.ts';

/** Reads change files and prints their rows as record batches. One at a time: the caller serialises calls. */
export class ParquetChangeEncoder implements ChangeEncoder {
  readonly #reader: ChangeFileReader;
  // Rows by phase of the files of the version at hand, so that a resumed run skips files without reading them again.
  #counts: { readonly version: string; readonly byPath: Map<string, PhaseCounts> } | undefined;

  constructor(parts: ChangeFileReaderParts) {
    this.#reader = new ChangeFileReader(parts);
  }

  /** @throws ServiceError as `ChangeFileReader.open`, `CDF_PARTITION_VALUE_INVALID`, `CDF_ROW_TOO_LARGE`, `CDF_COLUMN_UNKNOWN`, `CDF_FILTER_INVALID`, `CDF_FILTER_FAILED`. */
  async encode(asked: EncodeTask, signal?: AbortSignal): Promise<EncodedChanges> {
    const task = { ...withSelectedColumns(asked), filter: filterOf(asked), readSchema: asked.changes.schema };
    assert(task.maxRows > 0 && task.fromOrdinal >= 0, `a run takes rows from ${task.fromOrdinal} on, at most ${task.maxRows}`);
    const run = new EncodingRun(task);
    const complete = await this.#append(run, task, signal);
    if (complete) await this.#reader.close(task.changes.files.map((file) => requestOf(task, file)));
    return run.finish(complete);
  }

  /** Appends rows until the run is full; answers whether none is left. */
  async #append(run: EncodingRun, task: FilteredTask, signal: AbortSignal | undefined): Promise<boolean> {
    let firstOrdinal = 0;
    for (const segment of segmentsOf(task.changes.files)) {
      throwIfAborted(signal);
      const count = (await this.#countsOf(task, segment.file, signal))[segment.phase];
      const position = Math.max(0, run.ordinal - firstOrdinal);
      if (position < count && task.filter?.mayMatch(segment.file) === false) run.skip(count - position);
      else if (position < count && !(await this.#appendSegment(run, { task, segment, position }, signal))) return false;
      firstOrdinal += count;
    }
    return true;
  }

  async #appendSegment(
    run: EncodingRun,
    from: { readonly task: FilteredTask; readonly segment: Segment; readonly position: number },
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (run.isFull()) return false;
    const { file, phase } = from.segment;
    const opened = await this.#reader.open(requestOf(from.task, file), signal);
    let { position } = from;
    while (position < opened.counts[phase]) {
      if (run.isFull()) return false;
      throwIfAborted(signal);
      position += run.append(await opened.pieceAt(phase, position));
    }
    return true;
  }

  async #countsOf(task: FilteredTask, file: ChangeFile, signal: AbortSignal | undefined): Promise<PhaseCounts> {
    if (file.rowCount !== undefined && file.kind === 'insert') return { removals: 0, additions: file.rowCount };
    if (file.rowCount !== undefined && file.kind === 'delete') return { removals: file.rowCount, additions: 0 };
    const version = [task.spec.location, task.changes.version, ...task.spec.keyColumns].join('\u0000');
    if (this.#counts?.version !== version) this.#counts = { version, byPath: new Map() };
    const { byPath } = this.#counts;
    const known = byPath.get(file.path);
    if (known !== undefined) return known;
    const { counts } = await this.#reader.open(requestOf(task, file), signal);
    byPath.set(file.path, counts);
    return counts;
  }
}

/** A task with the columns that are published, and what else is to be known of the table's. */
interface FilteredTask extends EncodeTask {
  readonly filter: FeedFilter | undefined;
  readonly readSchema: StructType;
}

function filterOf({ spec, changes }: EncodeTask): FeedFilter | undefined {
  return spec.where === undefined ? undefined : FeedFilter.of(spec.where, changes.schema);
}

/** What the condition is about is read although it may not be published. */
function requestOf({ spec, changes, filter, readSchema }: FilteredTask, file: ChangeFile): ChangeFileRequest {
  const published = changes.schema;
  const isRead = (name: string): boolean =>
    published.fields.some((field) => field.name === name) || filter?.columns.includes(name) === true;
  const schema: StructType = { kind: 'struct', fields: readSchema.fields.filter(({ name }) => isRead(name)) };
  return { location: spec.location, changes: { ...changes, schema }, file, keyColumns: spec.keyColumns, published, filter };
}

/** The records of one run, as they are made. */
class EncodingRun {
  readonly #task: EncodeTask;
  readonly #text: JsonBuffer = new JsonBuffer();
  readonly #batches: PartitionedBatches;
  readonly #headers: RunHeaders;
  readonly #values: EventEnvelope | FlatEnvelope;
  readonly #schemas: SchemaPrefixes | undefined;
  readonly #keyed: boolean;
  readonly #events = { c: 0, u: 0, d: 0, r: 0 };
  readonly #flatRows: [number, number, number, number] = [0, 0, 0, 0];
  #ordinal: number;
  #skipped = 0;

  constructor(task: EncodeTask) {
    this.#task = task;
    this.#ordinal = task.fromOrdinal;
    this.#keyed = task.spec.keyColumns.length > 0;
    this.#batches = new PartitionedBatches(task.spec);
    this.#headers = headersOf(task);
    this.#values = envelopeOf(task);
    this.#schemas = task.spec.schemas ? schemaPrefixes(task.spec, task.changes.schema) : undefined;
  }

  /** Ordinal of the next row. */
  get ordinal(): number {
    return this.#ordinal;
  }

  isFull(): boolean {
    const { fromOrdinal, maxRows, maxBytes } = this.#task;
    return this.#ordinal - fromOrdinal - this.#skipped >= maxRows || (this.#ordinal > fromOrdinal && this.#batches.sizeBytes >= maxBytes);
  }

  /** Appends the rows of a piece until the run is full; answers how many. */
  append(piece: ChangePiece): number {
    const { order, pairStarts } = piece;
    let position = 0;
    while (position < order.length && !this.isFull()) {
      const row = order[position] ?? 0;
      if (pairStarts[position] === 1) {
        this.#appendPair(piece, row, order[position + 1] ?? 0);
        position += 2;
      } else {
        if (piece.matches?.[row] === 0) this.#ordinal += 1;
        else this.#appendOne(piece, row);
        position += 1;
      }
    }
    return position;
  }

  /** Passes over rows that are none of the feed's and that nobody has to read: they do not fill the run. */
  skip(rows: number): void {
    this.#ordinal += rows;
    this.#skipped += rows;
  }

  finish(complete: boolean): EncodedChanges {
    const sizeBytes = this.#batches.sizeBytes;
    const byType = Object.fromEntries(changeTypes.map((type, code) => [type, this.#flatRows[code] ?? 0]));
    return {
      batches: this.#batches.finish(),
      untilOrdinal: this.#ordinal,
      complete,
      rowsByOperation: this.#task.spec.envelope === 'flat' ? byType : { ...this.#events },
      sizeBytes,
    };
  }

  /** An update that brings a row into the feed is an insert, and one that takes it out a delete, each under the number of its own image. */
  #appendPair({ rows, matches }: ChangePiece, before: number, after: number): void {
    const [was, is] = [matches?.[before] !== 0, matches?.[after] !== 0];
    if (!was) this.#ordinal += 1;
    if (was !== is) this.#appendRow(rows, was ? { row: before, code: deleteCode } : { row: after, code: insertCode });
    if (!is) this.#ordinal += 1;
    if (!was || !is) return;
    if (this.#values instanceof FlatEnvelope) {
      this.#appendFlat(this.#values, rows, { row: before, code: preimageCode });
      this.#appendFlat(this.#values, rows, { row: after, code: postimageCode });
    } else this.#appendEvent(this.#values, rows, { operation: 'u', before, after, ordinal: this.#ordinal });
  }

  #appendOne({ rows, codes }: ChangePiece, row: number): void {
    this.#appendRow(rows, { row, code: codes[row] ?? insertCode });
  }

  #appendRow(rows: RowWriters, { row, code }: { readonly row: number; readonly code: number }): void {
    const ordinal = this.#ordinal;
    if (this.#values instanceof FlatEnvelope) this.#appendFlat(this.#values, rows, { row, code });
    else if (code === deleteCode || code === preimageCode) {
      this.#appendEvent(this.#values, rows, { operation: 'd', before: row, after: -1, ordinal });
    } else this.#appendEvent(this.#values, rows, { operation: this.#task.snapshot ? 'r' : 'c', before: -1, after: row, ordinal });
  }

  #appendFlat(envelope: FlatEnvelope, rows: RowWriters, event: { readonly row: number; readonly code: number }): void {
    const keyEnd = this.#openRecord(rows, event.row);
    envelope.append(this.#text, rows, event);
    this.#flatRows[event.code] = (this.#flatRows[event.code] ?? 0) + 1;
    this.#append(keyEnd, this.#closeValue(), this.#headers.row);
    this.#ordinal += 1;
  }

  #appendEvent(envelope: EventEnvelope, rows: RowWriters, event: ChangeEvent): void {
    const { operation, before, after } = event;
    const keyEnd = this.#openRecord(rows, after < 0 ? before : after);
    const hasValue = envelope.append(this.#text, rows, event);
    if (hasValue) this.#append(keyEnd, this.#closeValue(), this.#headers[operation]);
    else this.#append(keyEnd, -1, this.#headers.deletion);
    const { tombstones } = this.#task.spec;
    if (operation === 'd' && hasValue && this.#keyed && tombstones) this.#append(keyEnd, -1, this.#headers.tombstone);
    this.#events[operation] += 1;
    this.#ordinal += operation === 'u' ? 2 : 1;
  }

  /** Starts the text of a record with its key; answers where the key ends, -1 without one. */
  #openRecord(rows: RowWriters, row: number): number {
    this.#text.clear();
    let keyEnd = -1;
    if (this.#keyed) {
      if (this.#schemas !== undefined) this.#text.chunk(this.#schemas.key);
      rows.key(this.#text, row);
      if (this.#schemas !== undefined) this.#text.byte(endOfObject);
      keyEnd = this.#text.length;
    }
    if (this.#schemas !== undefined) this.#text.chunk(this.#schemas.value);
    return keyEnd;
  }

  /** Answers where the value ends. */
  #closeValue(): number {
    if (this.#schemas !== undefined) this.#text.byte(endOfObject);
    return this.#text.length;
  }

  #append(keyEnd: number, valueEnd: number, headers: EventHeaders): void {
    const { spec, changes } = this.#task;
    this.#batches.append(this.#text, {
      partition: keyEnd < 0 ? this.#ordinal % spec.partitions : partitionOfKey(this.#text.bytes, keyEnd, spec.partitions),
      keyEnd,
      valueEnd,
      timestampMs: changes.committedAt,
      headers: headers.at(this.#ordinal),
    });
  }
}

const endOfObject = 0x7d;

function envelopeOf(task: EncodeTask): EventEnvelope | FlatEnvelope {
  switch (task.spec.envelope) {
    case 'debezium':
      return new DebeziumEnvelope(task);
    case 'flat':
      return new FlatEnvelope(task.changes);
    case 'after':
      return afterEnvelope;
    case 'cloudevents':
      return new CloudEventEnvelope(task);
    default:
      return assertNever(task.spec.envelope);
  }
}

/** By operation; of a row of the flat envelope; of a delete that is a tombstone itself; of a tombstone behind a delete. */
type RunHeaders = Readonly<Record<Operation | 'row' | 'deletion' | 'tombstone', EventHeaders>>;

function headersOf({ spec, changes, snapshot }: EncodeTask): RunHeaders {
  const { version, committedAt, link } = changes;
  const common = { version, committedAtMs: committedAt, snapshot, origin: spec, link: link?.id, tombstone: false };
  const contentType = spec.envelope === 'cloudevents' ? cloudEventContentType : undefined;
  const of = (operation: Operation): EventHeaders => new EventHeaders({ ...common, operation, contentType });
  return {
    c: of('c'),
    u: of('u'),
    d: of('d'),
    r: of('r'),
    row: new EventHeaders(common),
    deletion: new EventHeaders({ ...common, operation: 'd', tombstone: true }),
    tombstone: new EventHeaders({ ...common, tombstone: true }),
  };
}
