import { isInteger, parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import { ServiceError } from './errors.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined };
export type JsonObject = { readonly [key: string]: JsonValue | undefined };

// Sixteen digits in a row may be an integer past 2^53; everything shorter is exact as a double.
const maybeUnsafeInteger = /\d{16}/;

/**
 * Parses JSON without losing integers: an integer outside the safe range becomes a `bigint`, all other numbers a
 * `number`. Whoever reads a field decides its type with `longOf` or `safeIntegerOf`, never the size of the value.
 *
 * @throws ServiceError `JSON_INVALID` (kind corrupt) naming `where` and the parser's complaint.
 */
export function parseJson(text: string, where: string): JsonValue {
  try {
    if (!maybeUnsafeInteger.test(text)) return JSON.parse(text) as JsonValue;
    return parseLossless(text, undefined, (lexeme) => {
      const value = Number(lexeme);
      return isInteger(lexeme) && !Number.isSafeInteger(value) ? BigInt(lexeme) : value;
    }) as JsonValue;
  } catch (cause) {
    throw new ServiceError({
      code: 'JSON_INVALID',
      kind: 'corrupt',
      message: `${where}: not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    });
  }
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
