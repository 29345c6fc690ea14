import { isJsonObject, type JsonObject, type JsonValue, parseJsonWithLongNumbersAsText } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { BoundValue } from '../../schema/statistics.ts';
import type { DataType } from '../../schema/types.ts';
import { boundOf, mayBeCut } from './bound-value.ts';

/** What statistics say of one leaf column; everything that is absent is unknown. */
export interface LeafStatistics {
  readonly min: BoundValue | undefined;
  readonly max: BoundValue | undefined;
  /** Rows without a value, deleted rows included. */
  readonly nullCount: number | undefined;
  /** The bounds may be beginnings of longer text. */
  readonly mayBeCut: boolean;
}

const nothing: LeafStatistics = { min: undefined, max: undefined, nullCount: undefined, mayBeCut: false };

/**
 * The statistics of one file, parsed when they are first asked for. Damaged text is as good as none: statistics only ever save work. Deleted
 * rows take part in all of them.
 */
export class FileStatistics {
  readonly #text: string | undefined;
  #parsed: JsonObject | undefined;

  constructor(text: string | undefined) {
    this.#text = text;
  }

  /** A leaf by the path it has in files. */
  leaf(path: readonly string[], type: DataType): LeafStatistics {
    const stats = this.#json();
    const min = boundOf(memberAt(stats['minValues'], path), type, 'min');
    const max = boundOf(memberAt(stats['maxValues'], path), type, 'max');
    const nulls = memberAt(stats['nullCount'], path);
    const nullCount = typeof nulls === 'number' && Number.isSafeInteger(nulls) && nulls >= 0 ? nulls : undefined;
    if (min === undefined && max === undefined && nullCount === undefined) return nothing;
    return { min, max, nullCount, mayBeCut: mayBeCut(min) || mayBeCut(max) };
  }

  #json(): JsonObject {
    this.#parsed ??= parsed(this.#text);
    return this.#parsed;
  }
}

function parsed(text: string | undefined): JsonObject {
  if (text === undefined || text === '') return {};
  try {
    const value = parseJsonWithLongNumbersAsText(text, 'statistics');
    return isJsonObject(value) ? value : {};
  } catch (error) {
    if (isServiceError(error, 'corrupt')) return {};
    throw error;
  }
}

/** A nested member; `undefined` where the path leaves the objects. */
export function memberAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let member = value;
  for (const name of path) {
    if (!isJsonObject(member) || !Object.hasOwn(member, name)) return undefined;
    member = member[name];
  }
  return member;
}
