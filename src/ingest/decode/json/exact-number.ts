import { byteAt } from '../bytes.ts';
import { isDigit, MINUS, QUOTE } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';

/** What a column takes, for `readExact`. */
export interface ExactForm {
  /** With its article, for messages: `a decimal(12,2)`. */
  readonly expected: string;
  readonly scale: number;
  /** Whether a string that is exactly a number counts as that number. */
  readonly acceptsStrings: boolean;
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * Reads the number at the cursor by its text and returns it times 10^scale. `undefined`, with the failure on the cursor, when it is no
 * number, has digits below the scale, or is not in `[min, max]`.
 */
export function readExact(cursor: JsonCursor, form: ExactForm): bigint | undefined {
  const from = cursor.pos;
  const first = byteAt(cursor.bytes, from, cursor.end);
  if (first === QUOTE && form.acceptsStrings) {
    if (!cursor.scanString()) return undefined;
    if (cursor.lexeme.parse(cursor.text, cursor.textStart, cursor.textEnd) !== cursor.textEnd) {
      cursor.fail('wrong-type', `is not ${form.expected}`, from, cursor.pos);
      return undefined;
    }
  } else if (first === MINUS || isDigit(first)) {
    if (!cursor.scanNumber()) return undefined;
  } else {
    cursor.wrongType(form.expected);
    return undefined;
  }
  const unscaled = cursor.lexeme.toUnscaled(form.scale);
  if (unscaled !== undefined && unscaled >= form.min && unscaled <= form.max) return unscaled;
  cursor.fail('out-of-range', `does not fit ${form.expected}`, from, cursor.pos);
  return undefined;
}
