/** Plain decimal text of an unscaled value with all digits of `scale`: (-5n, 2) is `-0.05`. Zero has no sign. */
export function formatDecimal(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** A point without digits before it is what DuckDB writes of a decimal that is all fraction. */
const plainDecimal = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?$/;

/** The unscaled value of plain decimal text; `undefined` when the text is no decimal or needs more than `precision` and `scale` digits. */
export function parseDecimal(text: string, precision: number, scale: number): bigint | undefined {
  const match = plainDecimal.exec(text);
  if (match === null) return undefined;
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  if (fraction.length > scale) return undefined;
  const magnitude = BigInt(`${match[2] ?? ''}${fraction.padEnd(scale, '0')}`);
  if (magnitude >= 10n ** BigInt(precision)) return undefined;
  return match[1] === '-' ? -magnitude : magnitude;
}
