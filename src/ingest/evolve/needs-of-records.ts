import { isJsonObject, type JsonObject, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { RejectReason } from '../../protocol/sealed-batch.ts';
import { type EvolutionSpec, needText, type TableNeed } from '../../protocol/table-needs.ts';
import { LETTER_N } from '../decode/json/json-bytes.ts';
import type { JsonCursor } from '../decode/json/json-cursor.ts';
import type { UnreadMembers } from '../decode/payload-decoder.ts';
import type { Refusal } from '../decode/rejection.ts';
import type { FoundRow } from '../infer/found-row.ts';
import { SeenObjects } from '../infer/row-of-json.ts';
import { type EvolvingRow, placeOf, type RowNeeds, requiredPaths, rowNeeds } from './row-needs.ts';

/** Values of one shape of a member that no column takes are looked at so often; those behind them are of the same kind. */
const looksPerMember = 64;
/** Of payloads of a batch all together; what is not looked at counts as unread, or is rescued, until a later batch has it. */
const maxLookedAtBytes = 4 * 1024 * 1024;
/** Names that go on and on are data. */
const maxNames = 10_000;
const maxLeft = 20;

/**
 * What the records of a batch call for that their table has not: by the schemas that wrote them, or by the values themselves, of which only those are
 * looked at again that no column takes or that are too large for theirs.
 */
export class NeedsOfRecords {
  readonly spec: EvolutionSpec;
  readonly #row: EvolvingRow;
  readonly #required: ReadonlyMap<string, readonly string[]>;
  readonly #rows = new Map<FoundRow, RowNeeds>();
  readonly #missing = new Set<string>();
  #objects = new SeenObjects();
  #looks = new Map<string, number>();
  #isPending = false;
  #leftBytes = maxLookedAtBytes;

  constructor(row: EvolvingRow, spec: EvolutionSpec) {
    this.spec = spec;
    this.#row = row;
    this.#required = requiredPaths(row.schema);
  }

  /** The row that a schema describes, if it calls for anything: to be given to `seeRow` with each record of that schema. */
  relevant(found: FoundRow): FoundRow | undefined {
    const { needs, left } = rowNeeds(found, this.#row, this.spec, false);
    return needs.length + left.length > 0 ? found : undefined;
  }

  seeRow(found: FoundRow): void {
    if (!this.#rows.has(found)) this.#rows.set(found, rowNeeds(found, this.#row, this.spec, false));
  }

  /** Counts members that no column takes into `unread`, and notes that the payload is worth a look. */
  noticing(unread: UnreadMembers): UnreadMembers {
    return {
      get count(): number {
        return unread.count;
      },
      set count(count: number) {
        unread.count = count;
      },
      notice: (cursor) => {
        this.#notice(cursor);
      },
    };
  }

  /** Asked after each payload of JSON: whether it has something new, or a value that is too large for its column. */
  isWorthALook(refusal: Refusal | undefined): boolean {
    const isPending = this.#isPending;
    this.#isPending = false;
    return refusal?.reason === undefined ? isPending : refusal.reason === 'out-of-range' || refusal.reason === 'unknown-member';
  }

  /** Of a value that does not fit its column and was kept elsewhere. */
  noticeMisfit(reason: RejectReason): void {
    if (reason === 'out-of-range') this.#noticeKind(reason);
  }

  look(payload: Uint8Array): void {
    if (payload.length > this.#leftBytes) return;
    this.#leftBytes -= payload.length;
    const object = objectOf(payload);
    const row = object === undefined || !this.#row.isEvent ? object : rowOfEvent(object);
    if (row !== undefined) this.#objects.see(row);
  }

  /** A record that is refused for what a required column, or a part of one, has not. */
  seeMissing(missing: string): void {
    if (!this.spec.relaxRequired) return;
    const place = missing.replace(/\[\d*\]/g, '[]');
    if (this.#required.has(place)) this.#missing.add(place);
  }

  /** All that was called for since the last time, each once. */
  take(): RowNeeds {
    const needs = new Map<string, TableNeed>();
    const left = new Map<string, string>();
    for (const seen of [...this.#rows.values(), this.#inferred()]) {
      // A column that several schemas add, or widen, is that of the first: what is left shows when records are read again.
      for (const need of seen.needs) if (!needs.has(placeOf(need))) needs.set(placeOf(need), need);
      for (const { name, why } of seen.left) if (left.size < maxLeft) left.set(name, why);
    }
    for (const place of this.#missing) {
      const need: TableNeed = { kind: 'relax', path: this.#required.get(place) ?? [] };
      if (!this.spec.refused.includes(needText(need))) needs.set(placeOf(need), need);
    }
    this.#rows.clear();
    this.#missing.clear();
    this.#looks = new Map();
    this.#leftBytes = maxLookedAtBytes;
    this.#objects = new SeenObjects();
    return { needs: [...needs.values()], left: [...left].map(([name, why]) => ({ name, why })) };
  }

  #inferred(): RowNeeds {
    if (this.#objects.isEmpty) return { needs: [], left: [] };
    return rowNeeds(this.#objects.row(this.spec, 'least'), this.#row, this.spec, true);
  }

  #notice(cursor: JsonCursor): void {
    if (!this.spec.addColumns) return;
    const { text, textStart, textEnd } = cursor;
    const byte = cursor.peek();
    if (byte === LETTER_N) return;
    const shape = byte === 0x22 || byte === 0x5b || byte === 0x7b ? byte : 0;
    const member = `${shape} ${Buffer.from(text.buffer, text.byteOffset + textStart, textEnd - textStart).toString('latin1')}`;
    this.#noticeKind(member);
  }

  #noticeKind(kind: string): void {
    const looks = this.#looks.get(kind) ?? 0;
    if (looks >= looksPerMember || this.#looks.size >= maxNames) return;
    this.#looks.set(kind, looks + 1);
    this.#isPending = true;
  }
}

function objectOf(bytes: Uint8Array): JsonObject | undefined {
  try {
    const value = parseJson(new TextDecoder().decode(bytes), 'the payload');
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    return undefined;
  }
}

function rowOfEvent({ after, before }: JsonObject): JsonObject | undefined {
  if (isJsonObject(after)) return after;
  return isJsonObject(before) ? before : undefined;
}
