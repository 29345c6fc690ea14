import type { Literal } from '../expression.ts';

const maxLong = 2n ** 63n - 1n;
const maxInteger = 2n ** 31n - 1n;
const maxDecimalPrecision = 38;
const widthOfSuffix = { y: 'byte', s: 'short', l: 'long' } as const;
const limitOfWidth = { byte: 127n, short: 32_767n, integer: maxInteger, long: maxLong } as const;

/**
 * The literal of a number token with its sign: integers by suffix, else the narrowest of integer, long and decimal that holds them;
 * numbers with a point are decimals; with an exponent doubles. `undefined` when the value does not fit its type.
 */
export function numberLiteral(token: string, options: { readonly negative: boolean }): Literal | undefined {
  const parts = /^([\d.]+)(?:e([+-]?\d+))?(bd|[lsydf])?$/i.exec(token);
  if (parts === null) return undefined;
  const [, digits = '', exponent, suffix] = parts;
  switch (suffix?.toLowerCase()) {
    case 'bd':
      return decimalOf(digits, Number(exponent ?? 0), options.negative);
    case 'd':
      return finite('double', Number(`${digits}e${exponent ?? 0}`), options.negative);
    case 'f':
      return finite('float', Math.fround(Number(`${digits}e${exponent ?? 0}`)), options.negative);
    case 'y':
    case 's':
    case 'l':
      return integerOf(digits, exponent, widthOfSuffix[suffix.toLowerCase() as 'y' | 's' | 'l'], options.negative);
    default:
      if (exponent !== undefined) return finite('double', Number(`${digits}e${exponent}`), options.negative);
      return digits.includes('.') ? decimalOf(digits, 0, options.negative) : widestNeeded(digits, options.negative);
  }
}

/** An integer as a literal of the narrowest of integer, long and decimal(38). `undefined` when none holds it. */
export function integerLiteral(value: bigint): Literal | undefined {
  return value < 0n ? widestNeeded((-value).toString(), true) : widestNeeded(value.toString(), false);
}

function widestNeeded(digits: string, negative: boolean): Literal | undefined {
  return (
    integerOf(digits, undefined, 'integer', negative) ?? integerOf(digits, undefined, 'long', negative) ?? decimalOf(digits, 0, negative)
  );
}

function integerOf(digits: string, exponent: string | undefined, width: keyof typeof limitOfWidth, negative: boolean): Literal | undefined {
  if (exponent !== undefined || !/^\d+$/.test(digits)) return undefined;
  const magnitude = BigInt(digits);
  if (magnitude > limitOfWidth[width] + (negative ? 1n : 0n)) return undefined;
  return { type: 'integer', value: negative ? -magnitude : magnitude, width };
}

function decimalOf(digits: string, exponent: number, negative: boolean): Literal | undefined {
  const point = digits.indexOf('.');
  const whole = point < 0 ? digits : digits.slice(0, point);
  const fraction = point < 0 ? '' : digits.slice(point + 1);
  if (digits.length > 2 * maxDecimalPrecision + 1 || Math.abs(exponent) > 2 * maxDecimalPrecision) return undefined;
  const scale = fraction.length - exponent;
  const magnitude = BigInt(`${whole}${fraction}` || '0') * (scale < 0 ? 10n ** BigInt(-scale) : 1n);
  const usedScale = Math.max(scale, 0);
  const precision = Math.max(magnitude === 0n ? 1 : magnitude.toString().length, usedScale, 1);
  if (precision > maxDecimalPrecision) return undefined;
  return { type: 'decimal', unscaled: negative ? -magnitude : magnitude, precision, scale: usedScale };
}

function finite(type: 'double' | 'float', value: number, negative: boolean): Literal | undefined {
  return Number.isFinite(value) ? { type, value: negative ? -value : value } : undefined;
}
