import { serviceError } from '../base/errors.ts';
import type { BytesColumn } from '../schema/columns.ts';
import type { ChangeType } from '../table/changes.ts';

/** Of an event that has both images of a row: created, updated, deleted, read in a snapshot; or, of no row, all rows taken away. */
export type Operation = 'c' | 'u' | 'd' | 'r' | 't';

/** Change types as small numbers: the position in `changeTypes`. */
export const changeTypes: readonly [ChangeType, ChangeType, ChangeType, ChangeType] = [
  'insert',
  'delete',
  'update_preimage',
  'update_postimage',
];
export const insertCode = 0;
export const deleteCode = 1;
export const preimageCode = 2;
export const postimageCode = 3;

/**
 * The order in which the rows of one file are published (docs/spec/change-event.md, "Order"). What takes rows away comes first, so
 * that a key which moves from one file to another ends up present. An update pair counts as an addition: its preimage and postimage
 * are neighbours in `additions`, and `pairStarts` marks the preimage.
 */
export interface ChangeOrder {
  readonly removals: Uint32Array;
  readonly additions: Uint32Array;
  /** By position in `additions`: 1 where a pair starts. */
  readonly pairStarts: Uint8Array;
}

/** So many rows, as they are. */
export function ascending(rowCount: number): Uint32Array {
  const rows = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) rows[row] = row;
  return rows;
}

/**
 * Orders the rows of a recorded file. A preimage and a postimage are a pair when their keys are equal (`keyAt`); without a key, when
 * every preimage of the file is directly followed by a postimage. What finds no partner stands alone.
 */
export function recordedOrder(codes: Uint8Array, keyAt: ((row: number) => string) | undefined): ChangeOrder {
  const partners = keyAt === undefined ? neighbourPartners(codes) : keyPartners(codes, keyAt);
  const removals: number[] = [];
  const additions: number[] = [];
  const starts: number[] = [];
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    const partner = partners.get(row);
    if (code === deleteCode || (code === preimageCode && partner === undefined)) removals.push(row);
    else if (code === preimageCode && partner !== undefined) {
      starts.push(additions.length);
      additions.push(row, partner);
    } else if (code === insertCode || partner === undefined) additions.push(row);
  }
  const pairStarts = new Uint8Array(additions.length);
  for (const start of starts) pairStarts[start] = 1;
  return { removals: Uint32Array.from(removals), additions: Uint32Array.from(additions), pairStarts };
}

/**
 * Reads a `_change_type` column into `codes` from `start` on.
 *
 * @throws ServiceError `CDF_CHANGE_TYPE_INVALID` (kind corrupt) for any other word.
 */
export function readChangeCodes(
  column: BytesColumn,
  target: { readonly codes: Uint8Array; readonly start: number; readonly path: string },
): void {
  const { offsets, data } = column;
  for (let row = 0; row < column.length; row++) {
    const from = offsets[row] ?? 0;
    const word = Buffer.from(data.buffer, data.byteOffset + from, (offsets[row + 1] ?? from) - from).toString('latin1');
    const code = codeOfWord.get(word);
    if (code === undefined) {
      throw serviceError.corrupt(
        'CDF_CHANGE_TYPE_INVALID',
        `change file "${target.path}" row ${target.start + row}: "${word}" is no change type`,
      );
    }
    target.codes[target.start + row] = code;
  }
}

const codeOfWord: ReadonlyMap<string, number> = new Map(changeTypes.map((type, code) => [type, code]));

/** Partners in both directions, for a file that alternates strictly; else none. */
function neighbourPartners(codes: Uint8Array): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  for (let row = 0; row < codes.length; row++) {
    if (codes[row] === postimageCode && codes[row - 1] !== preimageCode) return new Map();
    if (codes[row] !== preimageCode) continue;
    if (codes[row + 1] !== postimageCode) return new Map();
    partners.set(row, row + 1).set(row + 1, row);
  }
  return partners;
}

function keyPartners(codes: Uint8Array, keyAt: (row: number) => string): ReadonlyMap<number, number> {
  const partners = new Map<number, number>();
  const waiting = new Map<string, { readonly code: number; readonly rows: number[] }>();
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row] ?? insertCode;
    if (code !== preimageCode && code !== postimageCode) continue;
    const key = keyAt(row);
    const open = waiting.get(key);
    if (open === undefined || open.rows.length === 0) waiting.set(key, { code, rows: [row] });
    else if (open.code === code) open.rows.push(row);
    else {
      const partner = open.rows.shift() ?? row;
      partners.set(row, partner).set(partner, row);
    }
  }
  return partners;
}
