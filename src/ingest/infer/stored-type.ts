import { isDateNamed, timeNamed } from '../decode/stored-times.ts';
import type { ColumnLimits, FoundType } from './found-row.ts';

const maxPrecision = 38;
const nanosOfMicros = 1_000n;

/** The column of numbers that a logical type calls times or dates. `undefined`: it does not. */
export function timeColumn(name: string | undefined, limits: ColumnLimits): FoundType | undefined {
  if (isDateNamed(name)) return { type: { kind: 'date' } };
  const time = timeNamed(name);
  if (time === undefined) return undefined;
  if (time.unitNanos < nanosOfMicros) return { type: { kind: 'long' }, note: `${name ?? ''}: nanoseconds as they are stored` };
  if (time.meaning === 'time' && !limits.timesOfDay)
    return { type: { kind: 'long' }, note: `${name ?? ''} as it is stored: the format has no times of day` };
  const kinds = { time: 'time', instant: 'timestamp', local: 'timestamp_ntz' } as const;
  return { type: { kind: kinds[time.meaning] } };
}

export function decimalColumn(precision: number, scale: number): FoundType {
  if (precision > maxPrecision || scale > precision || scale < 0)
    return { why: `a decimal of ${precision} digits with ${scale} behind the point: columns have at most ${maxPrecision}` };
  return { type: { kind: 'decimal', precision, scale } };
}

/** Decimals whose schema does not tell how many digits they have; `scale`: how many of them behind the point. */
export function wideDecimal(scale: number | undefined): FoundType {
  if (scale === undefined) return { why: 'decimals of any scale: write decimal(p,s) with as many digits as the source has' };
  return { type: { kind: 'decimal', precision: maxPrecision, scale }, note: 'the schema does not tell the precision' };
}
