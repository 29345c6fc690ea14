import { PbfReader } from 'pbf';
import { isServiceError } from '../../../base/errors.ts';
import { corruptOrc } from '../orc-errors.ts';

/** The value of a field of a message; each may be asked for once, by the one way that fits its type. */
interface MessageField {
  /** @throws ServiceError `ORC_FILE_CORRUPT` when it passes 2^53. */
  readonly integer: () => number;
  readonly text: () => string;
  readonly bytes: () => Uint8Array;
  /** Packed or single. */
  readonly integers: () => readonly number[];
}

/**
 * Tells each field of a protobuf message, in stored order. Fields that are not asked for are passed over.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt) when the bytes are no message.
 */
export function readMessage(bytes: Uint8Array, place: string, onField: (tag: number, field: MessageField) => void): void {
  const reader = new PbfReader(bytes);
  const field = fieldOf(reader, place);
  try {
    for (let tag = reader.nextField(); tag !== 0; tag = reader.nextField()) {
      onField(tag, field);
      checkPosition(reader, place);
    }
    checkPosition(reader, place);
  } catch (cause) {
    if (isServiceError(cause)) throw cause;
    throw corruptOrc(place, `byte ${reader.pos} of the message: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** A message whose fields of interest, from 1 on, are all integers: their values by tag. */
export function readIntegers(bytes: Uint8Array, place: string, lastTag: number): readonly number[] {
  const values: number[] = [];
  readMessage(bytes, place, (tag, field) => {
    if (tag <= lastTag) values[tag] = field.integer();
  });
  return values;
}

const lengthDelimited = 2;

function fieldOf(reader: PbfReader, place: string): MessageField {
  const expect = (delimited: boolean): void => {
    if ((reader.type === lengthDelimited) !== delimited)
      throw corruptOrc(place, `byte ${reader.pos} of the message: wire type ${reader.type}`);
  };
  const bytes = (): Uint8Array => {
    expect(true);
    const value = reader.readBytes();
    checkPosition(reader, place);
    return value;
  };
  const integer = (): number => {
    expect(false);
    return safeInteger(reader.readVarint(), place);
  };
  return {
    bytes,
    integer,
    text: () => decoder.decode(bytes()),
    integers: () => (reader.type === lengthDelimited ? packedIntegers(bytes(), place) : [integer()]),
  };
}

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

function packedIntegers(bytes: Uint8Array, place: string): readonly number[] {
  const reader = new PbfReader(bytes);
  const values: number[] = [];
  while (reader.pos < bytes.length) values.push(safeInteger(reader.readVarint(), place));
  checkPosition(reader, place);
  return values;
}

function safeInteger(value: number, place: string): number {
  if (!Number.isSafeInteger(value)) throw corruptOrc(place, `the number ${value} is out of range`);
  return value;
}

function checkPosition(reader: PbfReader, place: string): void {
  if (reader.pos > reader.length) throw corruptOrc(place, `a field passes the end of its message of ${reader.length} bytes`);
}
