import { endianness } from 'node:os';
import { assert, present } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { createBuilder } from '../../codec/columns/create-builder.ts';
import type { ColumnSource, DecodeSpec, OnTruncate, RejectedPart } from '../../protocol/sealed-batch.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { NeedsOfRecords } from '../evolve/needs-of-records.ts';
import { type EvolvingRow, type RowNeeds } from '../evolve/row-needs.ts';
import { AbsentValues } from './absent-values.ts';
import { wholeValue } from './avro/avro-payload.ts';
import type { RecordPart } from './avro/schema-reference.ts';
import type { UnpackBudget } from './compressed-payload.ts';
import { createPayloadDecoder } from './create-payload-decoder.ts';
import { eventMembers } from './debezium/event-members.ts';
import { emptyTextRejection, refusesEmptyText } from './filled-text.ts';
import { KnownSchemas } from './known-schemas.ts';
import { createMetadataColumn, type MetadataColumn, type RecordOrigin } from './metadata-columns.ts';
import { defaultMaxDepth, highestMaxDepth } from './nesting-depth.ts';
import type { PayloadDecoder, PayloadMember, UnreadMembers } from './payload-decoder.ts';
import type { Refusal, Rejection } from './rejection.ts';
import { leaveUnavailable, mayBeUnavailable, type ReplacedColumn, truncationAs } from './replaced-rows.ts';
import { RescuedMembers } from './rescued-members.ts';
import type { SourceRecord } from './source-record.ts';

export interface RecordDecoderOptions {
  /** Default 64, at most 512. */
  readonly maxDepth?: number | undefined;
  /** Columns that partition the table: a required one of text takes no empty string. Default: none. */
  readonly partitionColumns?: readonly string[] | undefined;
  /** What compressed payloads of a record batch may unpack to, all together. Default 64 MiB. */
  readonly maxUnpackedBytes?: number | undefined;
  /** Those of the registry; needed where payloads name them. */
  readonly schemas?: KnownSchemas | undefined;
}

/** A column of text or bytes whose values are looked at. */
interface FilledColumn {
  readonly name: string;
  readonly column: BytesBuilder;
}

interface MetadataOfPart {
  readonly metadata: MetadataColumn;
  readonly part: RejectedPart | undefined;
}

/**
 * Turns records into columns, strictly: a value either is in the column exactly or the record is rejected whole
 * (docs/spec/json-decoding.md). A rejected record leaves no trace in any column.
 *
 * For one thread; make one per table and schema and use it for many batches.
 */
export class RecordDecoder {
  readonly #schema: StructType;
  readonly #columns: readonly ColumnBuilder[];
  readonly #metadata: readonly MetadataOfPart[];
  readonly #filled: readonly FilledColumn[];
  /** Columns whose value an event may lack, where it must not. */
  readonly #replaced: readonly ReplacedColumn[];
  /** Of a table whose rows are replaced by key, with records that are events. */
  readonly #onTruncate: OnTruncate | undefined;
  readonly #absent: AbsentValues | undefined;
  /** `undefined` when no column reads the value: it may then be anything. */
  readonly #value: PayloadDecoder | undefined;
  readonly #key: PayloadDecoder | undefined;
  readonly #keyMembers: readonly PayloadMember[];
  readonly #valueMembers: readonly PayloadMember[];
  /** A record without a value is a row of what else it has. */
  readonly #takesTombstones: boolean;
  readonly #skipsTombstones: boolean;
  /** A letter of a tombstone is a letter. */
  readonly #readsLetters: boolean;
  readonly #unread: UnreadMembers = { count: 0 };
  readonly #needs: NeedsOfRecords | undefined;
  #rescued: RescuedMembers | undefined;
  readonly #budget: UnpackBudget;
  #origin: RecordOrigin = { topic: new Uint8Array(0), partition: 0 };
  #rowCount = 0;
  #emptiedAt: number | undefined;

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
    const columns: ColumnBuilder[] = [];
    const metadata: MetadataOfPart[] = [];
    const values: PayloadMember[] = [];
    const keys: PayloadMember[] = [];
    this.#absent = absentValues(spec);
    schema.fields.forEach((field, index) => {
      const source = spec.sources[index];
      assert(source !== undefined, 'there are as many sources as fields');
      let column: ColumnBuilder;
      const name = memberOf(source, spec);
      if (name !== undefined) {
        column = createBuilder(field.type);
        const members = source.kind === 'value' ? values : keys;
        if (members.some((member) => member.name === name))
          throw invalidSpec(`two columns take the member "${name}"${source.kind === 'key' ? ' of the key' : ''}`);
        const onAbsent = source.kind === 'value' ? this.#whenMissing(field.name) : undefined;
        members.push({ name, label: field.name, nullable: field.nullable, type: field.type, column, onAbsent });
      } else {
        assert(source.kind !== 'value', 'a column from the value takes a member of it');
        const made = this.#columnOf(source, field);
        ({ column } = made);
        metadata.push({ metadata: made, part: source.kind === 'key' || source.kind === 'headers' ? source.kind : undefined });
      }
      columns.push(column);
    });
    this.#schema = schema;
    this.#columns = columns;
    this.#metadata = metadata;
    const { partitionColumns = [] } = options;
    this.#filled = textColumns(schema, columns, (field) => refusesEmptyText(field, partitionColumns));
    this.#onTruncate = spec.value?.envelope === undefined ? undefined : spec.keyed?.onTruncate;
    this.#replaced = this.#onTruncate === undefined ? [] : this.#replacedColumns(schema, spec);
    const { unknownMembers } = spec;
    const { schemas = new KnownSchemas(), maxUnpackedBytes: maxBytes = defaultMaxUnpackedBytes } = options;
    this.#needs = spec.evolve === undefined ? undefined : new NeedsOfRecords(evolvingRow(schema, values, spec), spec.evolve);
    const budget = { maxBytes, leftBytes: maxBytes };
    this.#budget = budget;
    const decoderOf = (
      part: RecordPart,
      members: readonly PayloadMember[],
      unknown: DecodeSpec['unknownMembers'],
    ): PayloadDecoder | undefined =>
      members.length === 0 && (part === 'key' || this.#rescued === undefined)
        ? undefined
        : createPayloadDecoder(spec[part] ?? plainJson, {
            part,
            members,
            unknownMembers: unknown,
            maxDepth,
            schemas,
            budget,
            unread: part === 'value' ? this.#unread : { count: 0 },
            needs: part === 'value' ? this.#needs : undefined,
            rescued: part === 'value' ? this.#rescued : undefined,
          });
    this.#value = decoderOf('value', values, unknownMembers);
    // A key has what tells rows apart, of which columns take what they like.
    this.#key = decoderOf('key', keys, 'ignore');
    this.#keyMembers = keys;
    this.#valueMembers = values;
    this.#takesTombstones = spec.sources.some(({ kind }) => kind === 'tombstone');
    this.#skipsTombstones = spec.value?.tombstones === 'skip';
    this.#readsLetters = spec.value?.kind === 'letter';
  }

  /** What the records since the last time call for that the table has not, where it may change (`DecodeSpec.evolve`). */
  takeNeeds(): RowNeeds {
    return this.#needs?.take() ?? noNeeds;
  }

  /** Rows in the columns. */
  get rowCount(): number {
    return this.#rowCount;
  }

  /** Members of values that no column took, since the decoder was made. */
  get unreadMembers(): number {
    return this.#unread.count;
  }

  /** What compressed payloads have unpacked to since `startPartition`. */
  get unpackedBytes(): number {
    return this.#budget.maxBytes - this.#budget.leftBytes;
  }

  /** Says where the records of the next `decode` calls come from; call it once per record batch. */
  startPartition(topic: string, partition: number): void {
    this.setOrigin(topic, partition);
    this.#budget.leftBytes = this.#budget.maxBytes;
  }

  /** Says where the record of the next `decode` comes from, when a record batch holds records of several partitions. */
  setOrigin(topic: string, partition: number): void {
    this.#origin = { topic: new TextEncoder().encode(topic), partition };
  }

  /**
   * Appends the record as a row, or says why it does not fit; then nothing of it is in the columns.
   *
   * @throws ServiceError `DECODE_BATCH_TOO_LARGE` (kind invalid) when a column passes 2 GiB: the batch is lost, call `reset`.
   */
  decode(record: SourceRecord): Refusal | undefined {
    this.#rescued?.begin();
    this.#absent?.begin();
    const refusal =
      (this.#value === undefined ? undefined : this.#decodeValue(this.#value, record)) ??
      (this.#key === undefined ? undefined : this.#decodeKey(this.#key, record)) ??
      (this.#replaced.length === 0 ? undefined : leaveUnavailable(this.#replaced, this.#rowCount)) ??
      (this.#metadata.length === 0 ? undefined : this.#appendMetadata(record)) ??
      (this.#filled.length === 0 || this.#isTaken(record) ? undefined : refusalOf(this.#filled, emptyTextRejection));
    if (refusal === undefined) {
      this.#rowCount += 1;
      return undefined;
    }
    this.#truncate(this.#rowCount);
    if (refusal.noRow === 'truncate' && this.#onTruncate === 'apply') this.#emptiedAt = this.#rowCount;
    if (refusal.missing !== undefined) this.#needs?.seeMissing(refusal.missing);
    return refusal;
  }

  /** Hands out the rows and starts from zero. The batch owns its buffers; the decoder does not touch them again. */
  finish(): ColumnBatch {
    const batch = { schema: this.#schema, rowCount: this.#rowCount, columns: this.#columns.map((column) => column.finish()) };
    this.#rowCount = 0;
    this.#emptiedAt = undefined;
    return batch;
  }

  /** Rows before this one end, whatever key they have: an event truncated their table. `undefined`: there was none. */
  get emptiedAt(): number | undefined {
    return this.#emptiedAt;
  }

  /** Forgets all rows behind the first `rowCount`, and what else the records since told. */
  reset(rowCount = 0, emptiedAt?: number): void {
    this.#truncate(rowCount);
    this.#rowCount = rowCount;
    this.#emptiedAt = emptiedAt;
  }

  #columnOf(source: Exclude<ColumnSource, { kind: 'value' }>, field: Field): MetadataColumn {
    if (source.kind === 'rescue') return this.#rescue(field);
    if (source.kind === 'absent') return present(this.#absent, 'its source is among the sources');
    return createMetadataColumn(source, field);
  }

  #replacedColumns(schema: StructType, { sources }: DecodeSpec): readonly ReplacedColumn[] {
    return schema.fields.flatMap(({ name, type }, index) => {
      const column = this.#columns[index];
      const isReplaced = column !== undefined && sources[index]?.kind === 'value' && mayBeUnavailable(type);
      return isReplaced ? [{ name, column, leave: this.#leaving(name) }] : [];
    });
  }

  #whenMissing(name: string): (() => void) | undefined {
    return this.#absent?.whenMissing === true ? this.#leaving(name) : undefined;
  }

  /** Tells that the record leaves a column as it is; `undefined`: it must not. */
  #leaving(name: string): (() => void) | undefined {
    const absent = this.#absent;
    const bit = absent?.bitOf(name) ?? -1;
    return absent === undefined || bit < 0
      ? undefined
      : () => {
          absent.note(bit);
        };
  }

  #rescue({ name, type }: Field): RescuedMembers {
    if (this.#rescued !== undefined) throw invalidSpec(`column "${name}" is a second one from the rescue`);
    if (type.kind !== 'string') throw invalidSpec(`column "${name}" from the rescue has type ${type.kind}, not string`);
    this.#rescued = new RescuedMembers((reason) => this.#needs?.noticeMisfit(reason));
    return this.#rescued;
  }

  #isTaken({ valueStart }: SourceRecord): boolean {
    return valueStart < 0 && this.#takesTombstones;
  }

  #decodeValue(decoder: PayloadDecoder, record: SourceRecord): Refusal | undefined {
    const { valueStart, valueEnd } = record;
    if (this.#isTaken(record)) {
      for (const { column } of this.#valueMembers) column.appendNull();
      return undefined;
    }
    const refusal =
      valueStart < 0 && !this.#readsLetters
        ? ({ reason: 'null-value', message: 'the record has no value' } as const)
        : decoder.decode(record, valueStart, valueEnd);
    if (refusal?.reason === 'null-value' && this.#skipsTombstones) return { noRow: 'tombstone' };
    return refusal === undefined || this.#onTruncate === undefined ? refusal : truncationAs(refusal, this.#onTruncate);
  }

  #decodeKey(decoder: PayloadDecoder, record: SourceRecord): Refusal | undefined {
    const { keyStart, keyEnd } = record;
    if (keyStart >= 0) {
      const refusal = decoder.decode(record, keyStart, keyEnd);
      return refusal?.reason === undefined ? refusal : { ...refusal, part: 'key' };
    }
    const required = this.#keyMembers.find(({ nullable }) => !nullable);
    if (required !== undefined)
      return {
        reason: 'missing-required',
        part: 'key',
        missing: required.label,
        message: `column "${required.label}": the record has no key and the column is required`,
      };
    for (const { column } of this.#keyMembers) column.appendNull();
    return undefined;
  }

  #appendMetadata(record: SourceRecord): Rejection | undefined {
    for (const { metadata, part } of this.#metadata) {
      const rejection = metadata.append(record, this.#origin);
      if (rejection !== undefined) return part === undefined ? rejection : { ...rejection, part };
    }
    return undefined;
  }

  #truncate(length: number): void {
    for (const column of this.#columns) column.truncate(length);
  }
}

function absentValues({ sources }: DecodeSpec): AbsentValues | undefined {
  const source = sources.find(({ kind }) => kind === 'absent');
  return source?.kind === 'absent' ? new AbsentValues(source) : undefined;
}

function textColumns(
  { fields }: StructType,
  columns: readonly ColumnBuilder[],
  isJudged: (field: Field, index: number) => boolean,
): readonly FilledColumn[] {
  return fields.flatMap((field, index) => {
    const column = columns[index];
    return column instanceof BytesBuilder && isJudged(field, index) ? [{ name: field.name, column }] : [];
  });
}

function refusalOf(
  columns: readonly FilledColumn[],
  judge: (name: string, column: BytesBuilder) => Rejection | undefined,
): Rejection | undefined {
  for (const { name, column } of columns) {
    const rejection = judge(name, column);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

const defaultMaxUnpackedBytes = 64 * 1024 * 1024;
const plainJson = { kind: 'json', framed: false } as const;

const noNeeds: RowNeeds = { needs: [], left: [] };

function evolvingRow(schema: StructType, values: readonly PayloadMember[], { value }: DecodeSpec): EvolvingRow {
  const isEvent = value?.envelope !== undefined;
  return { schema, members: isEvent ? eventMembers(values).row : values, isEvent };
}

/** The member that a column takes from the value or the key; `undefined`: it takes something else of the record. */
function memberOf(source: ColumnSource, { key }: DecodeSpec): string | undefined {
  if (source.kind === 'value') return source.name;
  if (source.kind !== 'key') return undefined;
  // A key that is one value in an encoding of its own is read by it; else its bytes are taken as they are.
  return source.name ?? (key?.kind === 'avro' ? wholeValue : undefined);
}

function invalidSpec(message: string): ServiceError {
  return serviceError.invalid('DECODE_SPEC_INVALID', message, {
    hint: 'give every column one source, and every member of the payload at most one column',
  });
}
