import { throwIfAborted } from '../base/abort.ts';
import { assert } from '../base/assert.ts';
import { partitionOfKey } from '../kafka/murmur2.ts';
import type { ChangeEncoder, EncodedChanges, EncodeTask } from '../protocol/change-event.ts';
import type { StructType } from '../schema/types.ts';
import type { ChangeFile } from '../table/changes.ts';
import type { ChangeFileRequest, ChangePiece, PhaseCounts } from './change-file.ts';
import { ChangeFileReader, type ChangeFileReaderParts } from './change-file-reader.ts';
import { changeTypes, deleteCode, insertCode, type Operation, postimageCode, preimageCode } from './change-order.ts';
import { cloudEventContentType, cloudEventHeaders } from './cloud-event.ts';
import { type Framing, framingOf, keysOf, valueEncoding } from './encoding/encodings.ts';
import { RecordBuffer } from './encoding/record-buffer.ts';
import { type EventWriter, EventWriters } from './envelope.ts';
import { EventHeaders } from './event-headers.ts';
import { FeedFilter } from './feed-filter.ts';
import { PartitionedBatches } from './partitioned-batches.ts';
import { noRows, type PieceRows } from './piece-rows.ts';
import { type RowEncoding, RowWriters } from './row-writers.ts';
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
    if (run.ordinal === 0 && tellsTruncation(task)) run.truncate(await this.#removedRows(task, signal));
    let firstOrdinal = 0;
    for (const segment of segmentsOf(task.changes.files)) {
      throwIfAborted(signal);
      const count = (await this.#countsOf(task, segment.file, signal))[segment.phase];
      const position = Math.max(0, run.ordinal - firstOrdinal);
      if (position < count && segment.file.ruledOut === true) run.skip(count - position);
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

  async #removedRows(task: FilteredTask, signal: AbortSignal | undefined): Promise<number> {
    let rows = 0;
    for (const { file, phase } of segmentsOf(task.changes.files)) {
      if (phase === 'removals') rows += (await this.#countsOf(task, file, signal)).removals;
    }
    return rows;
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

/** Whether one event stands for the removal of every row. */
function tellsTruncation({ spec, changes, snapshot }: EncodeTask): boolean {
  return spec.truncates && changes.empties === true && !snapshot;
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
  readonly #record: RecordBuffer = new RecordBuffer();
  readonly #batches: PartitionedBatches;
  readonly #headers: RunHeaders;
  readonly #encoding: RowEncoding;
  readonly #values: EventWriters;
  readonly #keyFraming: Framing;
  readonly #valueFraming: Framing;
  readonly #keyed: boolean;
  readonly #events: { c: number; u: number; d: number; r: number; t?: number } = { c: 0, u: 0, d: 0, r: 0 };
  readonly #flatRows: [number, number, number, number] = [0, 0, 0, 0];
  #writers: { readonly of: PieceRows; readonly rows: RowWriters } | undefined;
  #ordinal: number;
  /** Of the next event in its version. */
  #number: number;
  #skipped = 0;
  /** The event that is appended: one object for all, for an object for each is what the collector had to do most. */
  readonly #event = { before: -1, after: -1, ordinal: 0, number: 0 };

  constructor(task: EncodeTask) {
    this.#task = task;
    this.#ordinal = task.fromOrdinal;
    this.#number = (task.fromEvent ?? 0) + 1;
    this.#keyed = task.spec.keyColumns.length > 0;
    this.#batches = new PartitionedBatches(task.spec);
    this.#headers = headersOf(task);
    const value = valueEncoding(task.spec, 'value');
    this.#encoding = { value, key: valueEncoding(task.spec, 'key'), keyColumns: task.spec.keyColumns };
    this.#values = new EventWriters(task, value.notation);
    this.#keyFraming = framingOf(task, 'key');
    this.#valueFraming = framingOf(task, 'value');
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
    const rows = this.#writersOf(piece.rows);
    let position = 0;
    while (position < order.length && !this.isFull()) {
      const row = order[position] ?? 0;
      if (pairStarts[position] === 1) {
        this.#appendPair(piece, rows, row, order[position + 1] ?? 0);
        position += 2;
      } else {
        if (piece.matches?.[row] === 0) this.#ordinal += 1;
        else this.#appendOne(rows, row, piece.codes[row] ?? insertCode);
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

  /** Tells in one event that all rows the table had are gone; they keep their numbers. */
  truncate(rows: number): void {
    if (rows === 0) return;
    const { spec, changes } = this.#task;
    this.#record.clear();
    const valueEnd = this.#appendValue(this.#values.of('t'), this.#writersOf(noRows(changes.schema)), -1, -1);
    // It is about all keys, so it has none; feeds that tell it have one partition.
    assert(spec.partitions === 1, 'a truncation is told in the only partition');
    this.#append(-1, valueEnd, eventHeaders(this.#task, 't', rows));
    this.#events.t = 1;
    this.#number += 1;
    this.#ordinal += rows;
    this.#skipped += rows - 1;
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
      keys: keysOf(this.#task),
    };
  }

  #writersOf(of: PieceRows): RowWriters {
    if (this.#writers?.of !== of) this.#writers = { of, rows: new RowWriters(of, this.#encoding) };
    return this.#writers.rows;
  }

  /** An update that brings a row into the feed is an insert, and one that takes it out a delete, each under the number of its own image. */
  #appendPair({ matches }: ChangePiece, rows: RowWriters, before: number, after: number): void {
    const [was, is] = [matches?.[before] !== 0, matches?.[after] !== 0];
    if (!was) this.#ordinal += 1;
    if (was !== is) this.#appendOne(rows, was ? before : after, was ? deleteCode : insertCode);
    if (!is) this.#ordinal += 1;
    if (!was || !is) return;
    if (this.#task.spec.envelope === 'flat') {
      this.#appendRow(rows, before, preimageCode);
      this.#appendRow(rows, after, postimageCode);
    } else this.#appendEvent(rows, 'u', before, after);
  }

  #appendOne(rows: RowWriters, row: number, code: number): void {
    if (this.#task.spec.envelope === 'flat') this.#appendRow(rows, row, this.#keyed ? aloneCode(code) : code);
    else if (code === deleteCode || code === preimageCode) this.#appendEvent(rows, 'd', row, -1);
    else this.#appendEvent(rows, this.#task.snapshot ? 'r' : 'c', -1, row);
  }

  #appendRow(rows: RowWriters, row: number, code: number): void {
    const keyEnd = this.#openRecord(rows, row);
    const valueEnd = this.#appendValue(this.#values.ofRow(code), rows, -1, row);
    this.#flatRows[code] = (this.#flatRows[code] ?? 0) + 1;
    this.#append(keyEnd, valueEnd, this.#headers.row);
    this.#ordinal += 1;
    this.#number += 1;
  }

  #appendEvent(rows: RowWriters, operation: Exclude<Operation, 't'>, before: number, after: number): void {
    const { envelope, tombstones } = this.#task.spec;
    const keyEnd = this.#openRecord(rows, after < 0 ? before : after);
    if (envelope === 'after' && after < 0) this.#append(keyEnd, -1, this.#headers.deletion);
    else {
      const valueEnd = this.#appendValue(this.#values.of(operation), rows, before, after);
      this.#append(keyEnd, valueEnd, this.#headers[operation]);
      if (operation === 'd' && this.#keyed && tombstones) this.#append(keyEnd, -1, this.#headers.tombstone);
    }
    this.#events[operation] += 1;
    this.#ordinal += operation === 'u' ? 2 : 1;
    this.#number += 1;
  }

  /** Starts a record with its key; answers where the key ends, -1 without one. */
  #openRecord(rows: RowWriters, row: number): number {
    this.#record.clear();
    if (!this.#keyed) return -1;
    this.#record.chunk(this.#keyFraming.before);
    rows.key(this.#record, row);
    this.#record.chunk(this.#keyFraming.behind);
    return this.#record.length;
  }

  /** Answers where the value ends. */
  #appendValue(values: EventWriter, rows: RowWriters, before: number, after: number): number {
    this.#event.before = before;
    this.#event.after = after;
    this.#event.ordinal = this.#ordinal;
    this.#event.number = this.#number;
    this.#record.chunk(this.#valueFraming.before);
    values.append(this.#record, rows, this.#event);
    this.#record.chunk(this.#valueFraming.behind);
    return this.#record.length;
  }

  #append(keyEnd: number, valueEnd: number, headers: EventHeaders): void {
    const { spec, changes } = this.#task;
    this.#batches.append(this.#record, {
      partition: keyEnd < 0 ? this.#ordinal % spec.partitions : partitionOfKey(this.#record.bytes, keyEnd, spec.partitions),
      keyEnd,
      valueEnd,
      timestampMs: changes.committedAt,
      headers: headers.at(this.#ordinal),
    });
  }
}

/** An image without a partner of its key takes the row of that key away, or adds it. */
function aloneCode(code: number): number {
  if (code === preimageCode) return deleteCode;
  return code === postimageCode ? insertCode : code;
}

/** By operation; of a row of the flat envelope; of a delete that is a tombstone itself; of a tombstone behind a delete. */
type RunHeaders = Readonly<Record<Exclude<Operation, 't'> | 'row' | 'deletion' | 'tombstone', EventHeaders>>;

function commonHeaders({ spec, changes, snapshot }: EncodeTask): ConstructorParameters<typeof EventHeaders>[0] {
  const { version, committedAt, link } = changes;
  return { version, committedAtMs: committedAt, snapshot, origin: spec, link: link?.id, tombstone: false };
}

function eventHeaders(task: EncodeTask, operation: Operation, rows?: number): EventHeaders {
  const { envelope, records } = task.spec;
  const isCloudEvent = envelope === 'cloudevents';
  const isBinary = isCloudEvent && records.cloudEventMode === 'binary';
  return new EventHeaders({
    ...commonHeaders(task),
    operation,
    contentType: isCloudEvent && !isBinary ? cloudEventContentType : undefined,
    event: isBinary ? cloudEventHeaders(task, operation) : undefined,
    rows,
  });
}

function headersOf(task: EncodeTask): RunHeaders {
  const common = commonHeaders(task);
  return {
    c: eventHeaders(task, 'c'),
    u: eventHeaders(task, 'u'),
    d: eventHeaders(task, 'd'),
    r: eventHeaders(task, 'r'),
    row: new EventHeaders(common),
    deletion: new EventHeaders({ ...common, operation: 'd', tombstone: true }),
    tombstone: new EventHeaders({ ...common, tombstone: true }),
  };
}
