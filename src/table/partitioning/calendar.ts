import { civilDate } from '../../schema/date-text.ts';

/** Years since 1970 of days since 1970-01-01, proleptic Gregorian, floored. */
export function yearsOfDays(days: number): number {
  return civilDate(days).year - 1970;
}

/** Months since 1970-01 of days since 1970-01-01, proleptic Gregorian, floored. */
export function monthsOfDays(days: number): number {
  const { year, month } = civilDate(days);
  return (year - 1970) * 12 + month - 1;
}

/** Division that rounds towards minus infinity. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value < 0n && quotient * divisor !== value ? quotient - 1n : quotient;
}
