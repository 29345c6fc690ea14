import { isInteger, parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import { serviceError } from './errors.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

export type { JsonObject, JsonValue };

// Sixteen digits in a row may be an integer past 2^53; everything shorter is exact as a double.
const maybeUnsafeInteger = /\d{16}/;

/**
 * Parses JSON without losing integers: an integer outside the safe range becomes a `bigint`, all other numbers a
 * `number`. Whoever reads a field decides its type with `longOf` or `safeIntegerOf`, never the size of the value.
 *
 * @throws ServiceError `JSON_INVALID` (kind corrupt) naming `where` and the complaint; half of a surrogate pair is one,
 * and so is a value that nests deeper than 1,000 levels: whatever walks it later would run out of stack.
 */
export function parseJson(text: string, where: string): JsonValue {
  try {
    const value = parsed(text);
    if (maybeLoneSurrogate.test(text)) refuseLoneSurrogates(value);
    if (mayNestDeeply(text)) refuseDeepNesting(value);
    return value;
  } catch (cause) {
    throw serviceError.corrupt('JSON_INVALID', `${where}: not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

// An escape for half of a character beyond 16 bits: nothing that has no other half is text, and no file or topic could hold it.
const maybeLoneSurrogate = /\\u[dD][89a-fA-F]/;

function parsed(text: string): JsonValue {
  if (!maybeUnsafeInteger.test(text)) return JSON.parse(text) as JsonValue;
  return parseMarked(text) ?? (parseLossless(text, undefined, numberOf) as JsonValue);
}

function refuseLoneSurrogates(value: JsonValue): void {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') refuseLoneSurrogate(next);
    else if (typeof next === 'object' && next !== null) {
      for (const [name, member] of Object.entries(next)) {
        refuseLoneSurrogate(name);
        if (member !== undefined) open.push(member);
      }
    }
  }
}

function refuseLoneSurrogate(text: string): void {
  if (/\p{Surrogate}/u.test(text)) throw new SyntaxError('a text has half of a surrogate pair');
}

/** As in other engines' parsers. */
const maxDepth = 1000;

/** Whether a text has brackets enough for it, wherever they stand. */
function mayNestDeeply(text: string): boolean {
  if (text.length < 2 * maxDepth) return false;
  let opened = 0;
  for (let index = 0; index < text.length && opened <= maxDepth; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5b || code === 0x7b) opened += 1;
  }
  return opened > maxDepth;
}

function refuseDeepNesting(value: JsonValue): void {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) throw new RangeError(`it nests deeper than ${maxDepth} levels`);
    level = level.flatMap((each) =>
      typeof each === 'object' && each !== null ? Object.values(each).filter((inner) => typeof inner === 'object') : [],
    );
  }
}

// As many digits with a point among them as a double does not hold either.
const maybeLongNumber = /[\d.]{16}/;
// A number of sixteen digits and more between the marks that may stand around a value.
const longNumber = /([[:,]\s*)(-?(?=[\d.]{16})\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}\]])/g;

/**
 * Parses JSON with every number of sixteen digits and more as its text: many times faster than `parseJson` on text that has such numbers,
 * and exact for fractions too. For values whose type is known to whoever reads them.
 *
 * @throws ServiceError as `parseJson`.
 */
export function parseJsonWithLongNumbersAsText(text: string, where: string): JsonValue {
  if (!maybeLongNumber.test(text)) return parseJson(text, where);
  try {
    // Quotes that end up inside a string end it before a digit, which is no JSON: nothing can be read wrongly.
    const value = JSON.parse(text.replace(longNumber, '$1"$2"')) as JsonValue;
    if (maybeLoneSurrogate.test(text)) refuseLoneSurrogates(value);
    return value;
  } catch {
    return parseJson(text, where);
  }
}

/** Before the digits of a number that stands as text for a moment: begins with a character that no standard gives a meaning. */
const mark = '\uF8FF#';
const markInText = /\uF8FF|\\uF8FF/i;
const beginsWithContainer = /^\s*[[{]/;

/** As `parseJson`, by the engine's own parser, which is many times faster; `undefined` for text it is not safe or not possible for. */
function parseMarked(text: string): JsonValue | undefined {
  if (markInText.test(text) || !beginsWithContainer.test(text)) return undefined;
  try {
    // As there, quotes that end up inside of a string are no JSON.
    return unmarked(JSON.parse(text.replace(longNumber, `$1"${mark}$2"`)) as JsonValue);
  } catch {
    return undefined;
  }
}

/** Puts numbers for their marked texts, in place: the value was made here. */
function unmarked(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, JsonValue>;
  for (const key of Object.keys(members)) {
    const member = members[key];
    if (member !== undefined && (typeof member === 'string' || typeof member === 'object')) members[key] = unmarked(member);
  }
  return value;
}

function numberOf(lexeme: string): number | bigint {
  const value = Number(lexeme);
  return isInteger(lexeme) && !Number.isSafeInteger(value) ? BigInt(lexeme) : value;
}

/** Compact JSON; `bigint` prints as a plain integer, `undefined` members are left out. */
export function printJson(value: JsonValue): string {
  return stringifyLossless(value) ?? 'null';
}

/** JSON for people: indented by two spaces. */
export function printIndentedJson(value: JsonValue): string {
  return stringifyLossless(value, undefined, 2) ?? 'null';
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
