import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { DuckDBConnection } from '@duckdb/node-api';
import { buildColumn } from '../codec/build-columns.ts';
import { bytesAt, textAt } from '../codec/rows.ts';
import { textFunctions } from '../expr/sql/text-functions.ts';
import { type BytesColumn, type Column, isValid } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { failedCall, registerColumnFunction } from './column-function.ts';
import { decimalMath } from './decimal-math.ts';
import type { DuckdbModules } from './duckdb-modules.ts';
import { converted, formatNumber, formatText } from './formatted-text.ts';
import { sparkMurmur3, sparkXxHash64 } from './spark-hashes.ts';
import { bytesOfText, textOfBytes } from './text-charsets.ts';
import { urlDecoded, urlEncoded, urlPart } from './url-text.ts';

const text: DataType = { kind: 'string' };
const binary: DataType = { kind: 'binary' };
const long: DataType = { kind: 'long' };

interface TextFunction {
  readonly takes: readonly DataType[];
  readonly gives: DataType;
  /** Steps that a row takes, where they are not as many as it has bytes. */
  readonly steps?: (columns: readonly BytesColumn[], row: number) => number;
  /** A row of which no argument is NULL; `undefined` gives NULL. */
  readonly of: (columns: readonly BytesColumn[], row: number) => string | Uint8Array | bigint | undefined;
}

const digests: Readonly<Record<string, string>> = { 224: 'sha224', 384: 'sha384', 512: 'sha512', 256: 'sha256', 0: 'sha256' };

const functions: Readonly<Record<string, TextFunction>> = {
  [textFunctions.levenshtein]: {
    takes: [text, text],
    gives: long,
    steps: (columns, row) => columns.reduce((product, column) => product * bytesOf(column, row).length, 1),
    of: ([one, other], row) => BigInt(levenshtein(textOf(one, row), textOf(other, row))),
  },
  [textFunctions.sha2]: {
    takes: [binary, text],
    gives: text,
    of: ([value, bits], row) => {
      const digest = digests[textOf(bits, row)];
      return digest === undefined ? undefined : createHash(digest).update(bytesOf(value, row)).digest('hex');
    },
  },
  [textFunctions.soundex]: { takes: [text], gives: text, of: ([value], row) => soundex(textOf(value, row)) },
  [textFunctions.crc32]: { takes: [binary], gives: long, of: ([value], row) => BigInt(crc32(bytesOf(value, row))) },
  [textFunctions.encode]: {
    takes: [text, text],
    gives: binary,
    of: ([value, charset], row) => bytesOfText(textOf(value, row), textOf(charset, row)),
  },
  [textFunctions.decode]: {
    takes: [binary, text],
    gives: text,
    of: ([value, charset], row) => textOfBytes(bytesOf(value, row), textOf(charset, row)),
  },
  [textFunctions.lenient]: { takes: [binary], gives: text, of: ([value], row) => Buffer.from(bytesOf(value, row)).toString('utf8') },
  ...ofTexts(textFunctions.lower, 1, text, ([value = '']) => value.toLowerCase()),
  ...ofTexts(textFunctions.upper, 1, text, ([value = '']) => value.toUpperCase()),
  ...ofTexts(textFunctions.initcap, 1, text, ([value = '']) => value.toLowerCase().split(' ').map(capitalized).join(' ')),
  ...ofTexts(textFunctions.reverse, 1, text, ([value = '']) => Array.from(value).reverse().join('')),
  ...ofTexts(textFunctions.murmur3, 1, long, ([leaves = '']) => sparkMurmur3(leaves)),
  ...ofTexts(textFunctions.xxhash64, 1, long, ([leaves = '']) => sparkXxHash64(leaves)),
  ...ofTexts(textFunctions.conv, 3, text, ([value = '', from, to]) => converted(value, Number(from), Number(to))),
  ...ofTexts(textFunctions.decimalMath, 3, text, ([left = '', right = '', rule = '']) => decimalMath(left, right, rule)),
  ...ofTexts(textFunctions.formatNumber, 2, text, ([value = '', places]) => formatNumber(value, Number(places))),
  ...ofTexts(textFunctions.formatText, 2, text, ([format = '', values = '']) => formatText(format, values)),
  ...ofTexts(textFunctions.luhn, 1, long, ([value = '']) => (luhnChecks(value) ? 1n : 0n)),
  ...ofTexts(textFunctions.mask, 5, text, ([value = '', ...by]) => masked(value, by)),
  ...ofTexts(textFunctions.urlEncode, 1, text, ([value = '']) => urlEncoded(value)),
  ...ofTexts(textFunctions.urlDecode, 1, text, ([value = '']) => urlDecoded(value)),
  ...ofTexts(textFunctions.urlPart, 2, text, ([url = '', part = '']) => urlPart(url, part)),
  ...ofTexts(textFunctions.urlValue, 3, text, ([url = '', part = '', key]) => urlPart(url, part, key)),
};

/** A function of texts alone. */
function ofTexts(
  name: string,
  count: number,
  gives: DataType,
  of: (values: readonly string[]) => string | bigint | undefined,
): Readonly<Record<string, TextFunction>> {
  const takes = Array.from({ length: count }, () => text);
  return { [name]: { takes, gives, of: (columns, row) => of(columns.map((column) => textOf(column, row))) } };
}

/** Makes `textFunctions` known to all connections of the instance. */
export function registerTextFunctions(modules: DuckdbModules, connection: DuckDBConnection): void {
  for (const [name, { takes, gives, steps, of }] of Object.entries(functions)) {
    registerColumnFunction(modules, connection, {
      name,
      takes,
      gives,
      of: (columns, rows) => {
        requireSteps(name, stepsOf(columns, rows, steps));
        const values = Array.from({ length: rows }, (_, row) => rowOf(columns, row, of));
        return buildColumn(gives, values, name);
      },
    });
  }
}

/** Steps that rows which are computed at a time may take together: some seconds, in which nothing else is done. */
const maxSteps = 2 ** 30;

function stepsOf(columns: readonly Column[], rows: number, steps: TextFunction['steps']): number {
  let sum = 0;
  for (let row = 0; steps !== undefined && row < rows; row++) {
    if (columns.every((column) => isValid(column, row))) sum += steps(columns as readonly BytesColumn[], row);
  }
  return sum;
}

function requireSteps(name: string, steps: number): void {
  if (steps <= maxSteps) return;
  const called = name.replace('tidewater_', '');
  throw failedCall(
    `[INVALID_PARAMETER_VALUE.LENGTH] The value of parameter(s) of \`${called}\` is invalid: the texts of the rows at hand take ${steps} steps, at most ${maxSteps} are taken; compare shorter texts, or cut them with left(text, n).`,
  );
}

function rowOf(columns: readonly Column[], row: number, of: TextFunction['of']): ReturnType<TextFunction['of']> {
  return columns.every((column) => isValid(column, row)) ? of(columns as readonly BytesColumn[], row) : undefined;
}

function textOf(column: BytesColumn | undefined, row: number): string {
  return column === undefined ? '' : textAt(column, row);
}

function bytesOf(column: BytesColumn | undefined, row: number): Uint8Array {
  return column === undefined ? new Uint8Array() : bytesAt(column, row);
}

/** Characters put in, left out or changed on the way from one text to the other. */
function levenshtein(one: string, other: string): number {
  const [left, right] = [Array.from(one), Array.from(other)];
  let previous = right.map((_, index) => index + 1);
  for (const [place, character] of left.entries()) {
    let before = place;
    let last = place + 1;
    previous = right.map((wanted, index) => {
      const above = previous[index] ?? 0;
      const changed = before + (wanted === character ? 0 : 1);
      before = above;
      last = Math.min(changed, above + 1, last + 1);
      return last;
    });
  }
  return right.length === 0 ? left.length : (previous.at(-1) ?? 0);
}

/** A letter that becomes two has the first of them large. */
function capitalized(word: string): string {
  const [first = '', ...rest] = Array.from(word);
  const [large = '', ...small] = Array.from(first.toUpperCase());
  return large + small.join('').toLowerCase() + rest.join('');
}

/** Digits of the letters A to Z; 0 are vowels, 7 the letters between which equal digits count once. */
const soundexDigits = '01230127022455012623017202';

/** Text that begins with no letter of A to Z stays as it is. */
function soundex(value: string): string {
  const upper = value.toUpperCase();
  if (!/^[A-Z]/.test(upper)) return value;
  let code = upper.charAt(0);
  let last = digitOf(code);
  for (const letter of upper.slice(1)) {
    const digit = digitOf(letter);
    if (digit === '7' || digit === '') continue;
    if (digit !== '0' && digit !== last) code += digit;
    last = digit;
    if (code.length === 4) break;
  }
  return code.padEnd(4, '0');
}

function digitOf(letter: string): string {
  return /^[A-Z]$/.test(letter) ? soundexDigits.charAt(letter.charCodeAt(0) - 65) : '';
}

/** Whether the digits have the check sum of Luhn. */
function luhnChecks(text: string): boolean {
  if (!/^\d+$/.test(text)) return false;
  const sum = Array.from(text)
    .toReversed()
    .map(Number)
    .reduce((total, digit, index) => total + (index % 2 === 0 ? digit : digit > 4 ? 2 * digit - 9 : 2 * digit), 0);
  return sum % 10 === 0;
}

/** The text with another character in the place of each of Java's characters; '' leaves the kind as it is. Kinds in order: upper, lower, digit, other. */
function masked(text: string, [upper = '', lower = '', digit = '', other = '']: readonly string[]): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charAt(index));
  const replaced = units.map((character) => {
    const by = /\p{Lu}/u.test(character) ? upper : /\p{Ll}/u.test(character) ? lower : /\p{Nd}/u.test(character) ? digit : other;
    return by === '' ? character : by;
  });
  return replaced.join('');
}
