import { ServiceError } from '../../base/errors.ts';
import type { ColumnSource } from '../../protocol/sealed-batch.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { BinaryWriter, StringWriter } from './bytes-writers.ts';
import type { ColumnWriter } from './column-writer.ts';
import { TimestampWriter } from './date-time-writers.ts';
import { IntegerWriter, LongWriter } from './integer-writers.ts';
import { isUtf8 } from './json-bytes.ts';
import { MapWriter } from './nested-writers.ts';
import { type Rejection, shown } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

/** Where the records being decoded come from, the same for a whole record batch. */
export interface RecordOrigin {
  readonly topic: Uint8Array;
  readonly partition: number;
}

/** A column fed by something else than the record's value. */
export interface MetadataColumn {
  readonly writer: ColumnWriter;
  /** Appends the record's value, or says why it does not fit (the column may then hold a part of it until truncated). */
  append(record: SourceRecord, origin: RecordOrigin): Rejection | undefined;
}

type MetadataSource = Exclude<ColumnSource, { kind: 'value' }>;
const noTimestamp = -1;
const firstEpochMs = -62_135_596_800_000;
const untilEpochMs = 253_402_300_800_000;

/**
 * The column for a metadata source. Types: key string or binary; headers map of string to string or binary; topic string; partition
 * integer; offset long; timestamp timestamp.
 *
 * @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) for any other type.
 */
export function createMetadataColumn(source: MetadataSource, field: Field): MetadataColumn {
  const { type } = field;
  switch (source.kind) {
    case 'key':
      if (type.kind === 'string' || type.kind === 'binary') return keyColumn(field, type.kind);
      break;
    case 'headers':
      if (type.kind === 'map' && type.key.kind === 'string' && (type.value.kind === 'string' || type.value.kind === 'binary')) {
        const values = type.value.kind === 'string' ? new StringWriter() : new BinaryWriter();
        return headersColumn(field, new MapWriter(type, values), values);
      }
      break;
    case 'topic':
      if (type.kind === 'string') return topicColumn();
      break;
    case 'partition':
      if (type.kind === 'integer') return partitionColumn();
      break;
    case 'offset':
      if (type.kind === 'long') return offsetColumn();
      break;
    case 'timestamp':
      if (type.kind === 'timestamp') return timestampColumn(field, type);
      break;
  }
  throw new ServiceError({
    code: 'DECODE_SPEC_INVALID',
    kind: 'invalid',
    message: `column "${field.name}" of type ${type.kind} cannot hold the record's ${source.kind}`,
    hint: 'use string or binary for key, map of string to string or binary for headers, string for topic, integer for partition, long for offset, timestamp for timestamp',
  });
}

function keyColumn(field: Field, kind: 'string' | 'binary'): MetadataColumn {
  const writer = kind === 'string' ? new StringWriter() : new BinaryWriter();
  return {
    writer,
    append(record) {
      const { data, keyStart, keyEnd } = record;
      if (keyStart < 0) return appendNull(writer, field, 'the record has no key');
      if (kind === 'string' && !isUtf8(data, keyStart, keyEnd)) return notUtf8(field, `key ${shown(data, keyStart, keyEnd)}`);
      writer.values.append(data, keyStart, keyEnd);
      return undefined;
    },
  };
}

function headersColumn(field: Field, writer: MapWriter, values: StringWriter | BinaryWriter): MetadataColumn {
  const text = values instanceof StringWriter;
  const encoder = new TextEncoder();
  return {
    writer,
    append(record) {
      writer.beginMap();
      for (const [name, value] of record.headers()) {
        if (text && !isUtf8(value, 0, value.length)) return notUtf8(field, `header "${cutName(name)}"`);
        if (!writer.appendKey(encoder.encode(name))) {
          return { reason: 'duplicate-member', message: `column "${field.name}": header "${cutName(name)}" is there more than once` };
        }
        values.values.append(value, 0, value.length);
      }
      writer.endMap();
      return undefined;
    },
  };
}

function topicColumn(): MetadataColumn {
  const writer = new StringWriter();
  return {
    writer,
    append(_record, origin) {
      writer.values.append(origin.topic, 0, origin.topic.length);
      return undefined;
    },
  };
}

function partitionColumn(): MetadataColumn {
  const writer = new IntegerWriter({ kind: 'integer' });
  return {
    writer,
    append(_record, origin) {
      writer.append(origin.partition);
      return undefined;
    },
  };
}

function offsetColumn(): MetadataColumn {
  const writer = new LongWriter();
  return {
    writer,
    append(record) {
      writer.append(record.offset());
      return undefined;
    },
  };
}

function timestampColumn(field: Field, type: Extract<DataType, { kind: 'timestamp' }>): MetadataColumn {
  const writer = new TimestampWriter(type);
  return {
    writer,
    append(record) {
      const { timestampMs } = record;
      if (timestampMs === noTimestamp) return appendNull(writer, field, 'the record has no timestamp');
      if (timestampMs < firstEpochMs || timestampMs >= untilEpochMs) {
        return { reason: 'out-of-range', message: `column "${field.name}": timestamp ${timestampMs} ms is not in the years 0001 to 9999` };
      }
      writer.appendEpochMs(timestampMs);
      return undefined;
    },
  };
}

function appendNull(writer: ColumnWriter, field: Field, absence: string): Rejection | undefined {
  if (!field.nullable) return { reason: 'missing-required', message: `column "${field.name}": ${absence} and the column is required` };
  writer.appendNull();
  return undefined;
}

function notUtf8(field: Field, what: string): Rejection {
  return { reason: 'invalid-utf8', message: `column "${field.name}": ${what} is not valid UTF-8` };
}

function cutName(name: string): string {
  const bytes = new TextEncoder().encode(name);
  return shown(bytes, 0, bytes.length);
}
