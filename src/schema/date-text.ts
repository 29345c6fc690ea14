const microsPerSecond = 1_000_000n;
const microsPerDay = 86_400_000_000n;
const nanosPerMicro = 1000n;

/** `yyyy-MM-dd` of days since 1970-01-01, proleptic Gregorian; years outside 0..9999 with a sign and more digits. */
export function formatDate(days: number): string {
  const { year, month, day } = civilDate(days);
  return `${yearText(year)}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** Year, month (1 to 12) and day (1 to 31) of days since 1970-01-01, proleptic Gregorian. */
export function civilDate(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: eras of 400 years that begin in March.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return { year, month, day };
}

/** Date and time of day of microseconds since 1970-01-01T00:00:00. */
export function dateTimeParts(micros: bigint): { readonly date: string; readonly time: string; readonly fraction: string } {
  let days = micros / microsPerDay;
  if (micros % microsPerDay < 0n) days -= 1n;
  const ofDay = micros - days * microsPerDay;
  const seconds = Number(ofDay / microsPerSecond);
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(twoDigits).join(':');
  return { date: formatDate(Number(days)), time, fraction: (ofDay % microsPerSecond).toString().padStart(6, '0') };
}

/** As `dateTimeParts` for nanoseconds; the fraction has nine digits. */
export function dateTimeNanosParts(nanos: bigint): { readonly date: string; readonly time: string; readonly fraction: string } {
  const below = ((nanos % nanosPerMicro) + nanosPerMicro) % nanosPerMicro;
  const { date, time, fraction } = dateTimeParts((nanos - below) / nanosPerMicro);
  return { date, time, fraction: `${fraction}${below.toString().padStart(3, '0')}` };
}

/** `HH:MM:SS.ffffff` of microseconds since midnight. */
export function formatTime(micros: bigint): string {
  const { time, fraction } = dateTimeParts(micros);
  return `${time}.${fraction}`;
}

function yearText(year: number): string {
  if (year >= 0 && year <= 9999) return year.toString().padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${Math.abs(year).toString().padStart(4, '0')}`;
}

function twoDigits(value: number): string {
  return value.toString().padStart(2, '0');
}
