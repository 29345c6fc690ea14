import { failedCall } from './column-function.ts';

interface Decimal {
  readonly unscaled: bigint;
  readonly scale: number;
}

/**
 * A sum, difference, product, quotient or remainder of two decimals, exact and then rounded to the scale as Spark rounds, a half away from
 * zero. `rule`: the operator, the precision and the scale, `/38,13`; without a precision any number of digits is given. `undefined` for a
 * division by zero.
 */
export function decimalMath(left: string, right: string, rule: string): string | undefined {
  const [, operator = '+', precision = '', places = '0'] = /^(.)(\d*),(\d+)$/.exec(rule) ?? [];
  const scale = Number(places);
  const unscaled = result(operator, [decimalOf(left), decimalOf(right)], scale);
  if (unscaled === undefined) return undefined;
  const text = textOf(unscaled, scale);
  if (precision === '' || text.replace(/[-.]/g, '').replace(/^0+/, '').length <= Number(precision)) return text;
  throw failedCall(
    `[NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] ${text} cannot be represented as Decimal(${precision}, ${scale}). Use \`try_${tried[operator] ?? 'add'}\` to tolerate overflow and return NULL instead.`,
  );
}

const tried: Readonly<Record<string, string | undefined>> = { '-': 'subtract', '*': 'multiply', '/': 'divide', '%': 'mod' };

function result(operator: string, [one, other]: readonly [Decimal, Decimal], scale: number): bigint | undefined {
  if ((operator === '/' || operator === '%') && other.unscaled === 0n) return undefined;
  if (operator === '/') return quotient(one, other, scale);
  if (operator === '*') return rescaled({ unscaled: one.unscaled * other.unscaled, scale: one.scale + other.scale }, scale);
  const wide = Math.max(one.scale, other.scale);
  const [left, right] = [rescaled(one, wide), rescaled(other, wide)];
  const unscaled = operator === '%' ? left % right : operator === '-' ? left - right : left + right;
  return rescaled({ unscaled, scale: wide }, scale);
}

function decimalOf(text: string): Decimal {
  const [whole = '0', fraction = ''] = text.split('.');
  return { unscaled: BigInt(whole + fraction), scale: fraction.length };
}

function quotient(one: Decimal, other: Decimal, scale: number): bigint {
  const shift = scale - one.scale + other.scale;
  const [top, bottom] =
    shift >= 0 ? [one.unscaled * 10n ** BigInt(shift), other.unscaled] : [one.unscaled, other.unscaled * 10n ** BigInt(-shift)];
  return halfUp(top, bottom);
}

function rescaled({ unscaled, scale }: Decimal, wanted: number): bigint {
  return wanted >= scale ? unscaled * 10n ** BigInt(wanted - scale) : halfUp(unscaled, 10n ** BigInt(scale - wanted));
}

function halfUp(top: bigint, bottom: bigint): bigint {
  const [left, right] = [top < 0n ? -top : top, bottom < 0n ? -bottom : bottom];
  const rounded = (2n * left + right) / (2n * right);
  return top < 0n === bottom < 0n ? rounded : -rounded;
}

function textOf(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : '';
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
