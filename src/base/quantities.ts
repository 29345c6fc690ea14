import { ServiceError } from './errors.ts';

const millisPerUnit: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

const bytesPerUnit: ReadonlyMap<string, number> = new Map([
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
]);

/**
 * Milliseconds of a duration such as `500ms`, `30s`, `5m`, `1.5h`, `7d`, `2w`. The unit is required, except for `0`.
 *
 * @throws ServiceError `DURATION_INVALID` (kind invalid).
 */
export function parseDuration(text: string): number {
  return parseQuantity(text, millisPerUnit, { code: 'DURATION_INVALID', noun: 'a duration', example: '500ms, 30s, 5m, 2h, 7d' });
}

/**
 * Bytes of a size such as `64MiB` (powers of 1024), `1GB` (powers of 1000), `512B`. The unit is required, except for `0`.
 *
 * @throws ServiceError `BYTE_SIZE_INVALID` (kind invalid).
 */
export function parseByteSize(text: string): number {
  return parseQuantity(text, bytesPerUnit, { code: 'BYTE_SIZE_INVALID', noun: 'a size in bytes', example: '512KiB, 64MiB, 1GB' });
}

/** The largest unit that divides the duration: `90000` is `90s`, `3600000` is `1h`. Inverse of `parseDuration`. */
export function printDuration(durationMs: number): string {
  return printQuantity(durationMs, ['d', 'h', 'm', 's', 'ms'], millisPerUnit);
}

/** The largest binary unit that divides the size: `67108864` is `64MiB`. Inverse of `parseByteSize`. */
export function printByteSize(sizeBytes: number): string {
  return printQuantity(sizeBytes, ['TiB', 'GiB', 'MiB', 'KiB', 'B'], bytesPerUnit);
}

function parseQuantity(
  text: string,
  units: ReadonlyMap<string, number>,
  names: { readonly code: string; readonly noun: string; readonly example: string },
): number {
  const match = /^(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]*)$/i.exec(text.trim());
  const factor = units.get((match?.[2] ?? '').toLowerCase());
  const amount = Number(match?.[1]);
  const value = Math.round(amount * (factor ?? (amount === 0 ? 1 : Number.NaN)));
  if (Number.isSafeInteger(value)) return value;
  const reason = match?.[2] === '' ? 'has no unit' : `is not ${names.noun}`;
  throw new ServiceError({ code: names.code, kind: 'invalid', message: `"${text}" ${reason}`, hint: `write it like ${names.example}` });
}

function printQuantity(value: number, order: readonly string[], units: ReadonlyMap<string, number>): string {
  for (const unit of order) {
    const factor = units.get(unit.toLowerCase()) ?? 1;
    if (value !== 0 && value % factor === 0) return `${value / factor}${unit}`;
  }
  return `${value}${order.at(-1) ?? ''}`;
}
