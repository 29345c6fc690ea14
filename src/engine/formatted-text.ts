import { serviceError } from '../base/errors.ts';

/*
 * Texts that Java's libraries make in Spark: `DecimalFormat`, `Formatter`, and numbers to any base.
 */

/** The number with so many digits behind the point, its thousands parted by commas, a half to the even digit. */
export function formatNumber(value: string, places: number): string | undefined {
  if (places < 0) return undefined;
  if (value === 'nan') return 'NaN';
  if (value === 'inf' || value === '-inf') return value === 'inf' ? '∞' : '-∞';
  const text = roundedHalfEven(plainDecimal(value), places);
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(text) ?? [];
  return `${sign}${parted(whole)}${fraction}`;
}

function parted(digits: string): string {
  return digits.replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** A number's text without an exponent. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? `${sign}${digits}${'0'.repeat(point - digits.length)}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function roundedHalfEven(text: string, places: number): string {
  return rounded(text, places, (last, rest) => rest > half(rest) || (rest === half(rest) && last % 2n === 1n));
}

function roundedHalfUp(text: string, places: number): string {
  return rounded(text, places, (_, rest) => rest >= half(rest));
}

/** A digit 5 and zeros, as long as the text. */
function half(rest: string): string {
  return '5'.padEnd(rest.length, '0');
}

function rounded(text: string, places: number, isUp: (last: bigint, rest: string) => boolean): string {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d*))?$/.exec(text) ?? [];
  const kept = BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
  const rest = fraction.slice(places);
  const digits = String(kept + (rest !== '' && isUp(kept, rest) ? 1n : 0n)).padStart(places + 1, '0');
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

/** The digits of one base in another; letters that are no digits end the number, and a negative base gives a signed one. */
export function converted(text: string, from: number, to: number): string | undefined {
  if (from < 2 || from > 36 || Math.abs(to) < 2 || Math.abs(to) > 36) return undefined;
  const [, sign = '', digits = ''] = /^ *(-?)([0-9a-z]*)/i.exec(text) ?? [];
  if (text.trim() === '') return undefined;
  let value = 0n;
  for (const letter of digits.toLowerCase()) {
    const digit = Number.parseInt(letter, 36);
    if (digit >= from) break;
    value = value * BigInt(from) + BigInt(digit);
  }
  const limit = 1n << 64n;
  if (value >= limit) value = limit - 1n;
  if (sign === '-') value = to > 0 ? BigInt.asUintN(64, -value) : -value;
  const signed = to < 0 ? BigInt.asIntN(64, value) : value;
  return signed.toString(Math.abs(to)).toUpperCase();
}

/** One argument of a format: a letter for its kind (i whole, d decimal or floating, b boolean, s text, n NULL) and its text. */
export function formatText(format: string, packed: string): string {
  const values = packed === '' ? [] : packed.slice(0, -1).split('\u001f');
  let next = 0;
  return format.replaceAll(
    /%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])/g,
    (_, place: string | undefined, flags: string, width: string | undefined, digits: string | undefined, letter: string) => {
      if (letter === 'n') return '\n';
      const value =
        letter === '%' ? 's%' : (values[place === undefined ? next++ : Number(place) - 1] ?? raise(`MissingFormatArgument: ${letter}`));
      const made = padded(formatted(value, letter, { flags, digits: digits === undefined ? undefined : Number(digits) }), flags, width);
      return /[A-Z]/.test(letter) ? made.toUpperCase() : made;
    },
  );
}

interface FormatRule {
  readonly flags: string;
  readonly digits: number | undefined;
}

function formatted(value: string, letter: string, rule: FormatRule): string {
  const [kind, text] = [value.charAt(0), value.slice(1)];
  if (letter === 'b' || letter === 'B') return cut(kind === 'b' ? text : String(kind !== 'n'), rule);
  if (kind === 'n' || letter === 's' || letter === 'S' || letter === '%') return cut(kind === 'n' ? 'null' : text, rule);
  if (letter === 'd' && kind === 'i') return signed(text.replace('-', ''), text.startsWith('-'), rule);
  if (/[xXo]/.test(letter) && kind === 'i') {
    const [whole, bits] = [BigInt(text), BigInt(text) >= -(1n << 31n) && BigInt(text) < 1n << 31n ? 32 : 64];
    return BigInt.asUintN(bits, whole).toString(letter === 'o' ? 8 : 16);
  }
  if (letter === 'f' && kind === 'd') {
    if (/n/i.test(text)) return text === 'NaN' ? 'NaN' : signed('Infinity', text.startsWith('-'), { ...rule, flags: '' });
    const made = roundedHalfUp(plainDecimal(text), rule.digits ?? 6);
    return signed(made.replace('-', ''), made.startsWith('-'), rule);
  }
  if ((letter === 'e' || letter === 'E') && kind === 'd') {
    const made = Math.abs(Number(text))
      .toExponential(rule.digits ?? 6)
      .replace(/e([+-])(\d)$/, 'e$10$2');
    return signed(made, Number(text) < 0, rule);
  }
  if (letter === 'c' && kind === 'i') return String.fromCodePoint(Number(text));
  return raise(`IllegalFormatConversion: ${letter}`);
}

function cut(text: string, { digits }: FormatRule): string {
  return digits === undefined ? text : text.slice(0, digits);
}

function signed(digits: string, isNegative: boolean, { flags }: FormatRule): string {
  const [, whole = digits, rest = ''] = /^(\d+)(.*)$/.exec(digits) ?? [];
  const text = flags.includes(',') ? parted(whole) + rest : digits;
  if (isNegative) return flags.includes('(') ? `(${text})` : `-${text}`;
  return `${flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''}${text}`;
}

function padded(text: string, flags: string, width: string | undefined): string {
  const size = Number(width ?? 0);
  if (flags.includes('-')) return text.padEnd(size);
  if (!flags.includes('0')) return text.padStart(size);
  const [, sign = '', digits = ''] = /^([-+ (]?)([^]*)$/.exec(text) ?? [];
  return sign + digits.padStart(size - sign.length, '0');
}

function raise(what: string): never {
  throw serviceError.invalid('INVALID_FORMAT_STRING', `the format and its arguments do not fit: ${what}`);
}
