import { serviceError } from '../../base/errors.ts';
import { BooleanBuilder } from '../../codec/columns/boolean-builder.ts';
import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { Int32Builder } from '../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../codec/columns/int64-builder.ts';
import { KeySet } from '../../codec/columns/key-set.ts';
import { MapBuilder } from '../../codec/columns/nested-builders.ts';
import type { ColumnSource } from '../../protocol/sealed-batch.ts';
import type { Field, MapType } from '../../schema/types.ts';
import { type Rejection, shown } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';
import { isUtf8 } from './utf8.ts';

/** Where the records being decoded come from, the same for a whole record batch. */
export interface RecordOrigin {
  readonly topic: Uint8Array;
  readonly partition: number;
}

/** A column fed by something else than the record's value. */
export interface MetadataColumn {
  readonly column: ColumnBuilder;
  /** Appends the record's value, or says why it does not fit (the column may then hold a part of it until truncated). */
  append(record: SourceRecord, origin: RecordOrigin): Rejection | undefined;
}

type MetadataSource = Exclude<ColumnSource, { kind: 'value' | 'rescue' | 'absent' }>;
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
        return headersColumn(field, type, type.value.kind);
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
      if (type.kind === 'timestamp') return timestampColumn(field);
      break;
    case 'tombstone':
      if (type.kind === 'boolean') return tombstoneColumn();
      break;
  }
  throw serviceError.invalid('DECODE_SPEC_INVALID', `column "${field.name}" of type ${type.kind} cannot hold the record's ${source.kind}`, {
    hint: 'use string or binary for key, map of string to string or binary for headers, string for topic, integer for partition, long for offset, timestamp for timestamp',
  });
}

function keyColumn(field: Field, kind: 'string' | 'binary'): MetadataColumn {
  const column = new BytesBuilder({ kind });
  return {
    column,
    append({ data, keyStart, keyEnd }) {
      if (keyStart < 0) return appendNull(column, field, 'the record has no key');
      if (kind === 'string' && !isUtf8(data, keyStart, keyEnd)) return notUtf8(field, `key ${shown(data, keyStart, keyEnd)}`);
      column.append(data, keyStart, keyEnd);
      return undefined;
    },
  };
}

function headersColumn(field: Field, type: MapType, kind: 'string' | 'binary'): MetadataColumn {
  const keys = new BytesBuilder({ kind: 'string' });
  const values = new BytesBuilder({ kind });
  const column = new MapBuilder(type, keys, values);
  const names = new KeySet();
  const encoder = new TextEncoder();
  return {
    column,
    append(record) {
      names.clear();
      for (const [name, value] of record.headers()) {
        if (kind === 'string' && !isUtf8(value, 0, value.length)) return notUtf8(field, `header "${cutName(name)}"`);
        const bytes = encoder.encode(name);
        if (!names.add(bytes, 0, bytes.length)) {
          return { reason: 'duplicate-member', message: `column "${field.name}": header "${cutName(name)}" is there more than once` };
        }
        keys.append(bytes, 0, bytes.length);
        values.append(value, 0, value.length);
      }
      column.end();
      return undefined;
    },
  };
}

function topicColumn(): MetadataColumn {
  const column = new BytesBuilder({ kind: 'string' });
  return {
    column,
    append(_record, { topic }) {
      column.append(topic, 0, topic.length);
      return undefined;
    },
  };
}

function partitionColumn(): MetadataColumn {
  const column = new Int32Builder({ kind: 'integer' });
  return {
    column,
    append(_record, { partition }) {
      column.append(partition);
      return undefined;
    },
  };
}

function offsetColumn(): MetadataColumn {
  const column = new Int64Builder({ kind: 'long' });
  return {
    column,
    append(record) {
      column.appendBigInt(record.offset());
      return undefined;
    },
  };
}

function tombstoneColumn(): MetadataColumn {
  const column = new BooleanBuilder();
  return {
    column,
    append({ valueStart }) {
      column.append(valueStart < 0);
      return undefined;
    },
  };
}

function timestampColumn(field: Field): MetadataColumn {
  const column = new Int64Builder({ kind: 'timestamp' });
  return {
    column,
    append({ timestampMs }) {
      if (timestampMs === noTimestamp) return appendNull(column, field, 'the record has no timestamp');
      if (timestampMs < firstEpochMs || timestampMs >= untilEpochMs) {
        return { reason: 'out-of-range', message: `column "${field.name}": timestamp ${timestampMs} ms is not in the years 0001 to 9999` };
      }
      const seconds = Math.floor(timestampMs / 1000);
      column.appendProduct(seconds, 1_000_000, (timestampMs - seconds * 1000) * 1000, false);
      return undefined;
    },
  };
}

function appendNull(column: ColumnBuilder, field: Field, absence: string): Rejection | undefined {
  if (!field.nullable)
    return { reason: 'missing-required', message: `column "${field.name}": ${absence} and the column is required`, missing: field.name };
  column.appendNull();
  return undefined;
}

function notUtf8(field: Field, what: string): Rejection {
  return { reason: 'invalid-utf8', message: `column "${field.name}": ${what} is not valid UTF-8` };
}

function cutName(name: string): string {
  const bytes = new TextEncoder().encode(name);
  return shown(bytes, 0, bytes.length);
}
