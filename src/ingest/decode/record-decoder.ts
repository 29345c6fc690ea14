import { endianness } from 'node:os';
import { assert } from '../../base/assert.ts';
import { ServiceError } from '../../base/errors.ts';
import type { DecodeSpec } from '../../protocol/sealed-batch.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { ColumnWriter } from './column-writer.ts';
import { createWriter } from './create-writer.ts';
import { OPEN_BRACE } from './json-bytes.ts';
import { JsonCursor } from './json-cursor.ts';
import { createMetadataColumn, type MetadataColumn, type RecordOrigin } from './metadata-columns.ts';
import { defaultMaxDepth, highestMaxDepth } from './nesting-depth.ts';
import { type Member, ObjectReader } from './object-reader.ts';
import { FilledTextWriter, filledKeyColumn, refusesEmptyText } from './partition-text.ts';
import { type Rejection, rejectionOf } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

export interface RecordDecoderOptions {
  /** Default 64, at most 512. */
  readonly maxDepth?: number | undefined;
  /** Columns that partition the table: a required one of text takes no empty string. Default: none. */
  readonly partitionColumns?: readonly string[] | undefined;
}

/**
 * Turns records whose value is a JSON object into columns, strictly: a value either is in the column exactly or the record is
 * rejected whole (docs/spec/json-decoding.md). A rejected record leaves no trace in any column.
 *
 * For one thread; make one per table and schema and use it for many batches.
 */
export class RecordDecoder {
  readonly #schema: StructType;
  readonly #writers: readonly ColumnWriter[];
  readonly #metadata: readonly MetadataColumn[];
  /** `undefined` when no column reads the value: it may then be anything. */
  readonly #reader: ObjectReader | undefined;
  readonly #cursor: JsonCursor;
  #origin: RecordOrigin = { topic: new Uint8Array(0), partition: 0 };
  #rowCount = 0;

  /**
   * @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) when the sources do not fit the schema, `DECODE_TYPE_UNSUPPORTED` (kind
   * unsupported) for maps with other than string keys.
   */
  constructor(schema: StructType, spec: DecodeSpec, options: RecordDecoderOptions = {}) {
    const maxDepth = options.maxDepth ?? defaultMaxDepth;
    assert(endianness() === 'LE', 'columns are written through 32-bit words of a little-endian machine');
    assert(maxDepth >= 1 && maxDepth <= highestMaxDepth, `maxDepth ${maxDepth} is not in 1 to ${highestMaxDepth}`);
    if (spec.sources.length !== schema.fields.length) {
      throw invalidSpec(`${spec.sources.length} sources for ${schema.fields.length} columns`);
    }
    const writers: ColumnWriter[] = [];
    const metadata: MetadataColumn[] = [];
    const members: Member[] = [];
    schema.fields.forEach((field, index) => {
      const source = spec.sources[index];
      assert(source !== undefined, 'there are as many sources as fields');
      const filled = refusesEmptyText(field, options.partitionColumns ?? []);
      if (source.kind === 'value') {
        const plain = createWriter(field.type, spec.unknownMembers);
        const writer = filled ? new FilledTextWriter(plain) : plain;
        if (members.some((member) => member.name === source.name)) throw invalidSpec(`two columns take the member "${source.name}"`);
        members.push({ name: source.name, label: field.name, nullable: field.nullable, writer });
        writers.push(writer);
      } else {
        const made = createMetadataColumn(source, field);
        const column = filled && source.kind === 'key' ? filledKeyColumn(made, field) : made;
        metadata.push(column);
        writers.push(column.writer);
      }
    });
    this.#schema = schema;
    this.#writers = writers;
    this.#metadata = metadata;
    this.#reader = members.length === 0 ? undefined : new ObjectReader(members, spec.unknownMembers);
    this.#cursor = new JsonCursor(maxDepth);
  }

  /** Rows in the columns. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Says where the records of the next `decode` calls come from; call it once per record batch. */
  startPartition(topic: string, partition: number): void {
    this.#origin = { topic: new TextEncoder().encode(topic), partition };
  }

  /**
   * Appends the record as a row, or says why it does not fit; then nothing of it is in the columns.
   *
   * @throws ServiceError `DECODE_BATCH_TOO_LARGE` (kind invalid) when a column passes 2 GiB: the batch is lost, call `reset`.
   */
  decode(record: SourceRecord): Rejection | undefined {
    const rejection =
      (this.#reader === undefined ? undefined : this.#decodeValue(this.#reader, record)) ??
      (this.#metadata.length === 0 ? undefined : this.#appendMetadata(record));
    if (rejection === undefined) this.#rowCount += 1;
    else this.#truncate(this.#rowCount);
    return rejection;
  }

  /** Hands out the rows and starts from zero. The batch owns its buffers; the decoder does not touch them again. */
  finish(): ColumnBatch {
    const batch = { schema: this.#schema, rowCount: this.#rowCount, columns: this.#writers.map((writer) => writer.finish()) };
    this.#rowCount = 0;
    return batch;
  }

  /** Forgets all rows behind the first `rowCount`. */
  reset(rowCount = 0): void {
    this.#truncate(rowCount);
    this.#rowCount = rowCount;
  }

  #decodeValue(reader: ObjectReader, record: SourceRecord): Rejection | undefined {
    const { valueStart } = record;
    if (valueStart < 0) return { reason: 'null-value', message: 'the record has no value' };
    const cursor = this.#cursor;
    cursor.load(record.data, valueStart, record.valueEnd);
    const read = cursor.peek() === OPEN_BRACE ? reader.read(cursor) : refuseOther(cursor);
    if (read && cursor.peek() < 0) return undefined;
    if (read) cursor.invalid('the end of the payload');
    const rejection = rejectionOf(cursor, valueStart);
    cursor.failure = undefined;
    cursor.path.length = 0;
    return rejection;
  }

  #appendMetadata(record: SourceRecord): Rejection | undefined {
    for (const column of this.#metadata) {
      const rejection = column.append(record, this.#origin);
      if (rejection !== undefined) return rejection;
    }
    return undefined;
  }

  #truncate(length: number): void {
    for (const writer of this.#writers) writer.truncate(length);
  }
}

// The payload is something else than an object, or no JSON at all.
function refuseOther(cursor: JsonCursor): false {
  const from = cursor.pos;
  if (!cursor.skipValue()) return false;
  return cursor.peek() < 0
    ? cursor.fail('not-an-object', 'is not a JSON object', from, cursor.pos)
    : cursor.invalid('the end of the payload');
}

function invalidSpec(message: string): ServiceError {
  return new ServiceError({
    code: 'DECODE_SPEC_INVALID',
    kind: 'invalid',
    message,
    hint: 'give every column one source, and every member of the payload at most one column',
  });
}
