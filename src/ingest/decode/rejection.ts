import type { PassReason, RejectedPart, RejectReason } from '../../protocol/sealed-batch.ts';

/** Why a record does not fit the table. */
export interface Rejection {
  readonly noRow?: undefined;
  /** What is at fault besides the value. */
  readonly part?: RejectedPart | undefined;
  readonly reason: RejectReason;
  /** What, where and with which value, lower case: `column "amount": "abc" is not a decimal(12,2)`. */
  readonly message: string;
  /** The required column, or the place in one, that has no value: as the message has it. */
  readonly missing?: string | undefined;
}

/** A record that is no row of the table, with nothing wrong with it. */
export interface NoRow {
  readonly noRow: PassReason;
  readonly reason?: undefined;
  readonly message?: undefined;
  readonly missing?: undefined;
}

/** Why a record did not become a row. */
export type Refusal = Rejection | NoRow;

/** Values longer than this are cut in messages, and names of nested columns at this depth. */
export const maxShownCharacters = 64;
const maxShownLevels = 8;
const maxUtf8BytesPerCharacter = 4;

/** The text of `[from, until)`, cut to `maxShownCharacters`; what is not UTF-8 or not printable is replaced. */
export function shown(bytes: Uint8Array, from: number, until: number): string {
  const text = new TextDecoder().decode(bytes.subarray(from, Math.min(until, from + maxShownCharacters * maxUtf8BytesPerCharacter)));
  const cut = text.length > maxShownCharacters || until - from > maxShownCharacters * maxUtf8BytesPerCharacter;
  const kept = cut ? `${text.slice(0, maxShownCharacters)}…` : text;
  // Control characters, and the half that a cut through a surrogate pair leaves.
  return kept.replace(/[\p{Cc}\p{Cs}]/gu, '\ufffd');
}

/** How a message begins that is about the column at `path`, innermost step first: `[2]`, `tags` is `tags[2]`. */
export function inColumn(path: readonly string[]): string {
  return path.length === 0 ? '' : `column "${columnName(path)}": `;
}

export function columnName(path: readonly string[]): string {
  let name = '';
  for (const step of [...path].reverse().slice(0, maxShownLevels)) {
    name += name === '' || step.startsWith('[') || step === '{}' ? step : `.${step}`;
  }
  return name;
}
