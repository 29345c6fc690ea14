import { corruptOrc } from '../orc-errors.ts';
import { readIntegers, readMessage } from './message-reader.ts';
import { type EncodingKind, encodingKind } from './numbers.ts';

/** A stream of a stripe; streams follow each other in the order of their list. */
export interface StreamInformation {
  readonly kind: number;
  readonly column: number;
  readonly byteCount: number;
}

export interface ColumnEncoding {
  readonly kind: EncodingKind;
  readonly dictionarySize: number;
}

export interface StripeFooter {
  readonly streams: readonly StreamInformation[];
  /** One a column. */
  readonly encodings: readonly ColumnEncoding[];
  readonly timeZone: string | undefined;
}

/** @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt). */
export function parseStripeFooter(bytes: Uint8Array, place: string): StripeFooter {
  const streams: StreamInformation[] = [];
  const encodings: ColumnEncoding[] = [];
  let timeZone: string | undefined;
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) streams.push(parseStream(field.bytes(), place));
    else if (tag === 2) encodings.push(parseEncoding(field.bytes(), place));
    else if (tag === 3) timeZone = field.text();
  });
  return { streams, encodings, timeZone };
}

function parseStream(bytes: Uint8Array, place: string): StreamInformation {
  const [, kind = 0, column = 0, byteCount = 0] = readIntegers(bytes, place, 3);
  return { kind, column, byteCount };
}

const encodings: ReadonlyMap<number, EncodingKind> = new Map(Object.values(encodingKind).map((kind) => [kind, kind]));

function parseEncoding(bytes: Uint8Array, place: string): ColumnEncoding {
  const [, number = 0, dictionarySize = 0] = readIntegers(bytes, place, 2);
  const kind = encodings.get(number);
  if (kind === undefined) throw corruptOrc(place, `a column has encoding number ${number}`);
  return { kind, dictionarySize };
}
