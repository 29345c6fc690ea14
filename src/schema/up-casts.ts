import type { DataType } from './types.ts';

const numbers: readonly string[] = ['byte', 'short', 'integer', 'long', 'float', 'double'];
const notText: ReadonlySet<string> = new Set(['struct', 'list', 'map', 'binary', 'variant']);
const digits: Readonly<Record<string, number>> = { byte: 3, short: 5, integer: 10, long: 20 };

/** Whether the types are one. Nested ones count as one: their members are looked at when rows are written. */
export function isSameType(from: DataType, to: DataType): boolean {
  if (from.kind === 'decimal' && to.kind === 'decimal') return from.precision === to.precision && from.scale === to.scale;
  return from.kind === to.kind;
}

/** Whether every value of a type has a place in the other without loss, as in Spark's `Cast.canUpCast`. */
export function upCasts(from: DataType, to: DataType): boolean {
  if (isSameType(from, to) || from.kind === 'void') return true;
  if (to.kind === 'string') return !notText.has(from.kind);
  if (to.kind === 'timestamp' || to.kind === 'timestamp_ntz') return ['date', 'timestamp', 'timestamp_ntz'].includes(from.kind);
  if (to.kind === 'decimal') {
    if (from.kind === 'decimal') return to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale;
    return to.precision - to.scale >= (digits[from.kind] ?? Number.POSITIVE_INFINITY);
  }
  const [own, wanted] = [numbers.indexOf(from.kind), numbers.indexOf(to.kind)];
  return own >= 0 && own < wanted;
}
