import type { Literal } from '../expression.ts';
import type { TokenStream } from './token-stream.ts';

type Interval = Extract<Literal, { type: 'interval' }>;

interface Unit {
  readonly months?: number;
  readonly days?: number;
  readonly micros?: bigint;
}

const units: Readonly<Record<string, Unit>> = {
  YEAR: { months: 12 },
  QUARTER: { months: 3 },
  MONTH: { months: 1 },
  WEEK: { days: 7 },
  DAY: { days: 1 },
  HOUR: { micros: 3_600_000_000n },
  MINUTE: { micros: 60_000_000n },
  SECOND: { micros: 1_000_000n },
  MILLISECOND: { micros: 1000n },
  MICROSECOND: { micros: 1n },
};
const zero: Interval = { type: 'interval', months: 0, days: 0, micros: 0n };

/**
 * What follows INTERVAL: `'1' DAY`, `3 DAYS 4 HOURS`, `'1 day 2 hours'`, `'1-2' YEAR TO MONTH`, `'1 10:00:00' DAY TO SECOND`.
 *
 * @throws ParseException for unknown units and malformed values.
 */
export function readInterval(stream: TokenStream): Interval {
  const token = stream.peek();
  if (token.kind === 'string' && unitOf(stream.peek(1).value) === undefined) {
    stream.next();
    const whole = parseIntervalText(token.value);
    if (whole === undefined) throw stream.unexpectedAt(token, 'an interval such as 1 day 2 hours');
    return whole;
  }
  let sum = zero;
  do sum = add(sum, readPart(stream));
  while (isQuantity(stream) && unitOf(stream.peek(stream.atOperator('-') ? 2 : 1).value) !== undefined);
  return sum;
}

/** `[interval] 1 day 2 hours`, as Spark reads text; `undefined` for anything else. */
export function parseIntervalText(text: string): Interval | undefined {
  const words = text
    .trim()
    .replace(/^interval\s+/i, '')
    .split(/\s+/);
  if (words.length < 2 || words.length % 2 !== 0) return undefined;
  let sum = zero;
  for (let at = 0; at < words.length; at += 2) {
    const part = scaled(words[at] ?? '', unitOf(words[at + 1] ?? ''));
    if (part === undefined) return undefined;
    sum = add(sum, part);
  }
  return sum;
}

function isQuantity(stream: TokenStream): boolean {
  const { kind } = stream.peek();
  return kind === 'number' || kind === 'string' || (stream.atOperator('-') && stream.peek(1).kind === 'number');
}

function readPart(stream: TokenStream): Interval {
  const sign = stream.takeOperator('-') ? '-' : '';
  const quantity = stream.peek();
  if (quantity.kind !== 'number' && quantity.kind !== 'string') throw stream.unexpected('a number and a unit such as DAY');
  stream.next();
  const from = stream.expectName('a unit').toUpperCase();
  if (unitOf(from) === undefined) throw stream.unexpectedAt(stream.peek(-1), ...Object.keys(units));
  const text = `${sign}${quantity.value.trim()}`;
  const until = stream.takeWords('TO') ? stream.expectOneOf('MONTH', 'HOUR', 'MINUTE', 'SECOND') : undefined;
  const part = until === undefined ? scaled(text, unitOf(from)) : parseRange(text, singular(from), until);
  if (part === undefined) throw stream.unexpectedAt(quantity, `a value for ${from}${until === undefined ? '' : ` TO ${until}`}`);
  return part;
}

function parseRange(text: string, from: string, until: string): Interval | undefined {
  const negative = text.startsWith('-');
  const body = text.replace(/^[+-]/, '');
  const sign = negative ? '-' : '';
  if (from === 'YEAR' && until === 'MONTH') {
    const parts = /^(\d{1,9})-(\d{1,2})$/.exec(body);
    return parts === null
      ? undefined
      : sumOf(scaled(`${sign}${parts[1] ?? ''}`, units['YEAR']), scaled(`${sign}${parts[2] ?? ''}`, units['MONTH']));
  }
  const order = ['DAY', 'HOUR', 'MINUTE', 'SECOND'];
  const names = order.slice(order.indexOf(from), order.indexOf(until) + 1);
  const values = body.split(from === 'DAY' ? /[ :]/ : ':');
  if (!order.includes(from) || names.length < 2 || values.length !== names.length) return undefined;
  return sumOf(...names.map((name, index) => scaled(`${sign}${values[index] ?? ''}`, units[name])));
}

function scaled(quantity: string, unit: Unit | undefined): Interval | undefined {
  const parts = /^([+-]?)(\d{1,12})(?:\.(\d{1,9}))?$/.exec(quantity);
  if (parts === null || unit === undefined) return undefined;
  const [, sign, whole = '0', fraction] = parts;
  if (fraction !== undefined && unit.micros === undefined) return undefined;
  const direction = sign === '-' ? -1 : 1;
  const nanos = (BigInt(whole) * 1_000_000_000n + BigInt((fraction ?? '').padEnd(9, '0'))) * BigInt(direction);
  return {
    type: 'interval',
    months: count(whole, direction, unit.months),
    days: count(whole, direction, unit.days),
    micros: unit.micros === undefined ? 0n : (nanos * unit.micros) / 1_000_000_000n,
  };
}

// Written so that nothing counts as -0.
function count(whole: string, direction: number, size: number | undefined): number {
  return size === undefined || Number(whole) === 0 ? 0 : direction * Number(whole) * size;
}

function sumOf(...parts: readonly (Interval | undefined)[]): Interval | undefined {
  return parts.reduce<Interval | undefined>((sum, part) => (sum === undefined || part === undefined ? undefined : add(sum, part)), zero);
}

function add(left: Interval, right: Interval): Interval {
  return {
    type: 'interval',
    months: left.months + right.months,
    days: left.days + right.days,
    micros: left.micros + right.micros,
  };
}

function unitOf(word: string): Unit | undefined {
  return units[singular(word.toUpperCase())];
}

function singular(word: string): string {
  return word.endsWith('S') ? word.slice(0, -1) : word;
}
