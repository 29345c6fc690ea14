import type { AvroType } from './avro-type.ts';
import type { ByteCursor } from './byte-cursor.ts';
import type { StoreLong } from './scalar-readers.ts';

type TimeKind = 'time' | 'timestamp' | 'timestamp_ntz' | 'timestamp_ns' | 'timestamp_ntz_ns';

const nanosOf: ReadonlyMap<string, bigint> = new Map([
  ['time-millis', 1_000_000n],
  ['time-micros', 1000n],
  ['timestamp-millis', 1_000_000n],
  ['timestamp-micros', 1000n],
  ['timestamp-nanos', 1n],
  ['local-timestamp-millis', 1_000_000n],
  ['local-timestamp-micros', 1000n],
  ['local-timestamp-nanos', 1n],
]);
const nanosOfDay = 86_400_000_000_000n;

/**
 * Reads a time of day or a timestamp in the unit of `kind`. Whether it is an instant is up to the schema that is read: Iceberg goes by the
 * id alone. `undefined` when the stored type is no such time, or one that is finer than asked for.
 */
export function timeStore(stored: AvroType, kind: TimeKind): StoreLong | undefined {
  const storedNanos = unitOf(stored, kind);
  const nanos = kind === 'timestamp_ns' || kind === 'timestamp_ntz_ns' ? 1n : 1000n;
  if (storedNanos === undefined || storedNanos < nanos) return undefined;
  if (storedNanos === nanos && stored.kind === 'long') {
    return (cursor, words, index) => {
      cursor.long64(words, index);
    };
  }
  const factor = storedNanos / nanos;
  const read = stored.kind === 'int' ? (cursor: ByteCursor) => BigInt(cursor.int()) : (cursor: ByteCursor) => cursor.long();
  return (cursor, words, index) => {
    const value = read(cursor) * factor;
    if (BigInt.asIntN(64, value) !== value) throw cursor.fail(`a time of ${value} does not fit 64 bits`);
    words[index] = Number(BigInt.asIntN(32, value));
    words[index + 1] = Number(value >> 32n);
  };
}

/** Nanoseconds in the unit of a stored type; numbers without a logical type have the unit of what is asked for. */
function unitOf(stored: AvroType, kind: TimeKind): bigint | undefined {
  if (stored.kind !== 'long' && stored.kind !== 'int') return undefined;
  const { logicalType } = stored;
  if (logicalType === 'date') return kind === 'time' ? undefined : nanosOfDay;
  if (logicalType === undefined) {
    if (stored.kind === 'int') return undefined;
    return kind === 'timestamp_ns' || kind === 'timestamp_ntz_ns' ? 1n : 1000n;
  }
  if (logicalType.startsWith('time-') !== (kind === 'time')) return undefined;
  return nanosOf.get(logicalType);
}
