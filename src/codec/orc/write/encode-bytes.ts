import { type ServiceError, serviceError } from '../../../base/errors.ts';
import type { BytesColumn } from '../../../schema/columns.ts';
import { UUID_BYTES } from '../../uuid-text.ts';
import { encodingKind, streamKind } from '../proto/numbers.ts';
import type { LongWords } from '../rle/long-words.ts';
import { parseUuid } from '../schema/uuid-text.ts';
import { type Dictionary, dictionaryOf } from './dictionary.ts';
import { type EncodedStream, longStream, plainStream } from './encoded-stream.ts';
import type { EncodedValues } from './encoded-values.ts';
import type { FileColumn } from './file-columns.ts';
import { type Picked, positionOf, sizeAt } from './picked.ts';
import type { ValueStatistics } from './statistics.ts';
import { textBounds } from './value-bounds.ts';

/** @throws ServiceError `VALUE_TYPE_MISMATCH` (kind invalid) for a text that is no UUID, or bytes of another length than the type's. */
export function encodeBytesColumn(picked: Picked<BytesColumn>, column: FileColumn): EncodedValues {
  const { type } = column;
  if (type.kind === 'string' && type.format === 'uuid') return encodeUuids(picked);
  if (type.kind === 'binary' && type.fixedLength !== undefined) requireLength(picked, type.fixedLength);
  const lengths = lengthsOf(picked);
  const totalBytes = (from: number, until: number): number => {
    let total = 0;
    for (let index = from; index < until; index++) total += lengths[2 * index] ?? 0;
    return total;
  };
  if (type.kind !== 'string') {
    const statistics = (from: number, until: number): ValueStatistics => ({ kind: 'binary', totalBytes: totalBytes(from, until) });
    return { encoding: encodingKind.directV2, streams: directStreams(picked, lengths), statistics };
  }
  const statistics = (from: number, until: number): ValueStatistics => ({
    kind: 'text',
    bounds: textBounds(picked, from, until),
    totalBytes: totalBytes(from, until),
  });
  const dictionary = dictionaryOf(picked);
  if (dictionary === undefined) return { encoding: encodingKind.directV2, streams: directStreams(picked, lengths), statistics };
  const streams = dictionaryStreams(picked, dictionary);
  return { encoding: encodingKind.dictionaryV2, dictionarySize: dictionary.entries.length, streams, statistics };
}

function lengthsOf(picked: Picked<BytesColumn>): LongWords {
  const words: LongWords = new Int32Array(2 * picked.count);
  for (let index = 0; index < picked.count; index++) words[2 * index] = sizeAt(picked.column.offsets, positionOf(picked, index));
  return words;
}

function directStreams(picked: Picked<BytesColumn>, lengths: LongWords): readonly EncodedStream[] {
  const { column, at, from: first, groups } = picked;
  const { data, offsets } = column;
  const values = plainStream(streamKind.data, groups, (sink, from, until) => {
    if (at === undefined) {
      sink.append(data.subarray(offsets[first + from] ?? 0, offsets[first + until] ?? 0));
      return;
    }
    for (let index = from; index < until; index++) {
      const position = at[index] ?? 0;
      sink.append(data.subarray(offsets[position] ?? 0, offsets[position + 1] ?? 0));
    }
  });
  return [values, longStream(streamKind.length, lengths, groups, false)];
}

/** The dictionary is for the whole stripe: only the stream of numbers has a place for each group of rows. */
function dictionaryStreams(picked: Picked<BytesColumn>, { entries, ids }: Dictionary): readonly EncodedStream[] {
  const { data } = picked.column;
  const whole = Int32Array.of(0, entries.length);
  const lengths: LongWords = new Int32Array(2 * entries.length);
  for (const [index, { from, until }] of entries.entries()) lengths[2 * index] = until - from;
  const words = plainStream(streamKind.dictionaryData, whole, (sink) => {
    for (const { from, until } of entries) sink.append(data.subarray(from, until));
  });
  return [
    longStream(streamKind.data, ids, picked.groups, false),
    { ...words, starts: [] },
    { ...longStream(streamKind.length, lengths, whole, false), starts: [] },
  ];
}

function encodeUuids(picked: Picked<BytesColumn>): EncodedValues {
  const { data, offsets } = picked.column;
  const bytes = new Uint8Array(UUID_BYTES * picked.count);
  const lengths: LongWords = new Int32Array(2 * picked.count);
  for (let index = 0; index < picked.count; index++) {
    const position = positionOf(picked, index);
    const range = { from: offsets[position] ?? 0, until: offsets[position + 1] ?? 0 };
    if (!parseUuid(data, range, bytes, UUID_BYTES * index)) throw notUuid(data.subarray(range.from, range.until));
    lengths[2 * index] = UUID_BYTES;
  }
  const values = plainStream(streamKind.data, picked.groups, (sink, from, until) => {
    sink.append(bytes.subarray(UUID_BYTES * from, UUID_BYTES * until));
  });
  return {
    encoding: encodingKind.directV2,
    streams: [values, longStream(streamKind.length, lengths, picked.groups, false)],
    statistics: (from, until) => ({ kind: 'binary', totalBytes: UUID_BYTES * (until - from) }),
  };
}

function requireLength(picked: Picked<BytesColumn>, fixedLength: number): void {
  for (let index = 0; index < picked.count; index++) {
    const size = sizeAt(picked.column.offsets, positionOf(picked, index));
    if (size !== fixedLength) throw invalidValue(`a value of ${size} bytes does not fit binary of ${fixedLength}`);
  }
}

const shownBytes = 80;

function notUuid(text: Uint8Array): ServiceError {
  return invalidValue(`"${new TextDecoder().decode(text.subarray(0, shownBytes))}" is no uuid`);
}

function invalidValue(message: string): ServiceError {
  return serviceError.invalid('VALUE_TYPE_MISMATCH', message);
}
