const absent = '-';

/** `1,234,567`, or `-`. */
export function countText(value: number | bigint | undefined): string {
  return value === undefined ? absent : value.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** `12.3 MiB`, or `-`. */
export function bytesText(value: number | undefined): string {
  if (value === undefined) return absent;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = value < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(value) / 10));
  const scaled = value / 2 ** (10 * power);
  return `${power === 0 ? String(value) : scaled.toFixed(1)} ${units[power] ?? ''}`;
}

/** `2013-01-31 12:00:05Z`, or `-`. */
export function timeText(epochMs: number | undefined): string {
  return epochMs === undefined
    ? absent
    : new Date(epochMs)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, 'Z');
}

export function orAbsent(value: string | number | bigint | undefined): string {
  return value === undefined ? absent : String(value);
}
