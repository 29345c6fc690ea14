import { assert } from '../../base/assert.ts';
import type { RejectReason } from '../../protocol/sealed-batch.ts';
import type { JsonCursor } from './json-cursor.ts';

/** Why a record does not fit the table. */
export interface Rejection {
  readonly reason: RejectReason;
  /** What, where and with which value, lower case: `column "amount": "abc" is not a decimal(12,2)`. */
  readonly message: string;
}

/** Values longer than this are cut in messages, and names of nested columns at this depth. */
export const maxShownCharacters = 64;
const maxShownLevels = 8;
const maxUtf8BytesPerCharacter = 4;

/** Writes up the failure a reader left on the cursor; `start` is where the payload begins. */
export function rejectionOf(cursor: JsonCursor, start: number): Rejection {
  const { failure } = cursor;
  assert(failure !== undefined, 'a refused record must say why');
  const column = columnName(cursor.path);
  const value = shown(cursor.bytes, failure.from, failure.until);
  const place = `at byte ${failure.from - start}`;
  switch (failure.reason) {
    case 'invalid-json':
      return { reason: failure.reason, message: `${inColumn(column)}not valid JSON ${place}: ${failure.detail}` };
    case 'invalid-utf8':
      return { reason: failure.reason, message: `${inColumn(column)}the text ${place} ${failure.detail}` };
    case 'too-deep':
      return { reason: failure.reason, message: `${inColumn(column)}${failure.detail} ${place}` };
    case 'unknown-member':
    case 'duplicate-member':
      return { reason: failure.reason, message: `${inColumn(column)}member ${value} ${failure.detail}` };
    default:
      return { reason: failure.reason, message: `${inColumn(column)}${value === '' ? '' : `${value} `}${failure.detail}` };
  }
}

/** The text of `[from, until)`, cut to `maxShownCharacters`; what is not UTF-8 or not printable is replaced. */
export function shown(bytes: Uint8Array, from: number, until: number): string {
  const text = new TextDecoder().decode(bytes.subarray(from, Math.min(until, from + maxShownCharacters * maxUtf8BytesPerCharacter)));
  const cut = text.length > maxShownCharacters || until - from > maxShownCharacters * maxUtf8BytesPerCharacter;
  const kept = cut ? `${text.slice(0, maxShownCharacters)}…` : text;
  // Control characters, and the half that a cut through a surrogate pair leaves.
  return kept.replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

function inColumn(column: string): string {
  return column === '' ? '' : `column "${column}": `;
}

// `path` is innermost first: `[2]`, `tags` is `tags[2]`.
function columnName(path: readonly string[]): string {
  let name = '';
  for (const step of [...path].reverse().slice(0, maxShownLevels)) {
    name += name === '' || step.startsWith('[') || step === '{}' ? step : `.${step}`;
  }
  return name;
}
