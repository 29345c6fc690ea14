import { formatDecimal } from '../../../schema/decimal-text.ts';
import { MessageWriter } from '../proto/message-writer.ts';
import type { ColumnStatistics, ValueStatistics } from './statistics.ts';

/** ColumnStatistics of orc_proto.proto. `bytesOnDisk`: packed bytes of the column in the file, told in the footer only. */
export function statisticsMessage(statistics: ColumnStatistics, bytesOnDisk?: number): MessageWriter {
  const message = new MessageWriter().integer(1, statistics.count);
  const { values } = statistics;
  if (values !== undefined) message.message(fieldOf[values.kind], valuesMessage(values));
  return message.boolean(10, statistics.hasNull).integer(11, bytesOnDisk);
}

const fieldOf = { integer: 2, floating: 3, text: 4, boolean: 5, decimal: 6, date: 7, binary: 8, timestamp: 9 } as const;

function valuesMessage(values: ValueStatistics): MessageWriter {
  const message = new MessageWriter();
  switch (values.kind) {
    case 'integer':
    case 'date':
      return message.signed(1, values.bounds?.lower).signed(2, values.bounds?.upper);
    case 'floating':
      return message.double(1, values.bounds?.lower).double(2, values.bounds?.upper).double(3, values.sum);
    case 'text':
      return textMessage(message, values.bounds?.lower, values.bounds?.upper).signed(3, BigInt(values.totalBytes));
    case 'binary':
      return message.signed(1, BigInt(values.totalBytes));
    case 'boolean':
      return message.integers(1, [values.trues]);
    case 'decimal': {
      const { bounds, scale } = values;
      if (bounds === undefined) return message;
      return message.text(1, formatDecimal(bounds.lower, scale)).text(2, formatDecimal(bounds.upper, scale));
    }
    case 'timestamp':
      return values.bounds === undefined ? message : timestampMessage(message, values.bounds.lower, values.bounds.upper);
  }
}

const nanosPerMilli = 1_000_000n;

/** Milliseconds of UTC, and the nanoseconds after them plus one where they are not what a reader assumes: 0 and 999,999. */
function timestampMessage(message: MessageWriter, lower: bigint, upper: bigint): MessageWriter {
  const lowerNanos = Number(BigInt.asIntN(64, ((lower % nanosPerMilli) + nanosPerMilli) % nanosPerMilli));
  const upperNanos = Number(BigInt.asIntN(64, ((upper % nanosPerMilli) + nanosPerMilli) % nanosPerMilli));
  return message
    .signed(3, (lower - BigInt(lowerNanos)) / nanosPerMilli)
    .signed(4, (upper - BigInt(upperNanos)) / nanosPerMilli)
    .integer(5, lowerNanos === 0 ? undefined : lowerNanos + 1)
    .integer(6, upperNanos === 999_999 ? undefined : upperNanos + 1);
}

/** Longer bounds are cut, and told as bounds instead of values. */
const maxBoundBytes = 1024;

function textMessage(message: MessageWriter, lower: Uint8Array | undefined, upper: Uint8Array | undefined): MessageWriter {
  if (lower === undefined || upper === undefined) return message;
  const exactLower = lower.length <= maxBoundBytes;
  const exactUpper = upper.length <= maxBoundBytes;
  return message
    .bytes(1, exactLower ? lower : undefined)
    .bytes(2, exactUpper ? upper : undefined)
    .bytes(4, exactLower ? undefined : cut(lower))
    .bytes(5, exactUpper ? undefined : raised(cut(upper)));
}

/** Whole characters from the front. */
function cut(text: Uint8Array): Uint8Array {
  let length = maxBoundBytes;
  while (length > 0 && ((text[length] ?? 0) & 0xc0) === 0x80) length -= 1;
  return text.subarray(0, length);
}

const lastCharacter = 0x10ffff;

/** A text after all that begin with `prefix`: its last character that can be raised, raised. `undefined` when there is none. */
function raised(prefix: Uint8Array): Uint8Array | undefined {
  const characters = Array.from(new TextDecoder().decode(prefix), (character) => character.codePointAt(0) ?? 0);
  while (characters.at(-1) === lastCharacter) characters.pop();
  const last = characters.pop();
  if (last === undefined) return undefined;
  // Surrogates are no characters.
  characters.push(last === 0xd7ff ? 0xe000 : last + 1);
  return new TextEncoder().encode(characters.map((point) => String.fromCodePoint(point)).join(''));
}
