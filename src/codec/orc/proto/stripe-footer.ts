import { corruptOrc } from '../orc-errors.ts';
import { readMessage } from './message-reader.ts';
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
  let kind = 0;
  let column = 0;
  let byteCount = 0;
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) kind = field.integer();
    else if (tag === 2) column = field.integer();
    else if (tag === 3) byteCount = field.integer();
  });
  return { kind, column, byteCount };
}

const encodings: ReadonlyMap<number, EncodingKind> = new Map(Object.values(encodingKind).map((kind) => [kind, kind]));

function parseEncoding(bytes: Uint8Array, place: string): ColumnEncoding {
  let number = 0;
  let dictionarySize = 0;
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) number = field.integer();
    else if (tag === 2) dictionarySize = field.integer();
  });
  const kind = encodings.get(number);
  if (kind === undefined) throw corruptOrc(place, `a column has encoding number ${number}`);
  return { kind, dictionarySize };
}
