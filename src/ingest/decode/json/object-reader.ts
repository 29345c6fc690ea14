import { present } from '../../../base/assert.ts';
import type { RejectReason } from '../../../protocol/sealed-batch.ts';
import { byteAt } from '../bytes.ts';
import type { UnreadMembers } from '../payload-decoder.ts';
import type { RescuedMembers } from '../rescued-members.ts';
import { CLOSE_BRACE, COMMA, LETTER_N } from './json-bytes.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';
import { MemberNames } from './member-names.ts';

/** A member of an object and the column that takes it. */
export interface Member {
  readonly name: string;
  /** What messages call it: the column's name. */
  readonly label: string;
  readonly nullable: boolean;
  readonly reader: JsonReader;
  /** Told when an object does not have it. */
  readonly onAbsent?: (() => void) | undefined;
}

/** Reads JSON objects into one column a member: in any order, each at most once, absent ones null. */
export class ObjectReader {
  readonly #members: readonly Member[];
  readonly #readers: readonly JsonReader[];
  readonly #names: MemberNames;
  readonly #rejectUnknown: boolean;
  /** Which object a member was last seen in: a member seen twice carries the present object's stamp already. */
  readonly #stamps: Int32Array;
  /** `#successors[i + 1]`: the member that followed member `i` last time; `[0]`: the first one. Behind those that columns take are learned ones. */
  readonly #successors: number[];
  /** Members that no column takes are passed over by their names, as long as nobody asks for these. */
  readonly #learns: boolean;
  readonly #unread: UnreadMembers | undefined;
  readonly #rescued: RescuedMembers | undefined;
  #stamp = 0;

  /** `unread`: counts members that no column takes. `rescued`: takes them, and values that do not fit. */
  constructor(members: readonly Member[], unknownMembers: 'ignore' | 'reject', unread?: UnreadMembers, rescued?: RescuedMembers) {
    this.#unread = unread;
    this.#rescued = rescued;
    this.#members = members;
    this.#readers = members.map((member) => member.reader);
    this.#names = new MemberNames(members.map((member) => member.name));
    this.#rejectUnknown = unknownMembers === 'reject' && rescued === undefined;
    this.#stamps = new Int32Array(members.length);
    this.#successors = Array.from({ length: members.length + 1 }, (_, index) => (index < members.length ? index : 0));
    this.#learns = !this.#rejectUnknown && unread?.notice === undefined;
  }

  /** Consumes the object at the cursor (its opening brace). False: the columns may be of unequal length until truncated. */
  read(cursor: JsonCursor): boolean {
    if (!cursor.enter()) return false;
    this.#stamp = (this.#stamp + 1) | 0;
    let seen = 0;
    let last = -1;
    let byte = cursor.peek();
    if (byte !== CLOSE_BRACE) {
      for (;;) {
        const from = cursor.pos;
        const index = this.#nextMember(cursor, last);
        if (index >= 0) last = index;
        if (index >= 0 && index < this.#members.length) {
          if (!this.#readMember(cursor, index, from)) return false;
          seen += 1;
        } else if (index === failed || !this.#skipUnknown(cursor, from)) return false;
        byte = cursor.peek();
        if (byte === CLOSE_BRACE) break;
        if (byte !== COMMA) return cursor.invalid("',' or '}'");
        cursor.pos += 1;
        cursor.peek();
      }
    }
    cursor.leave();
    return seen === this.#members.length || this.#fillAbsent(cursor);
  }

  // Consumes the name and colon; the member's index, behind the others that of a learned one, or `unknown`, or `failed`.
  #nextMember(cursor: JsonCursor, last: number): number {
    const expected = this.#successors[last + 1] ?? 0;
    if (this.#names.follows(cursor, expected)) return expected;
    // An optional member may be left out: try the one after it.
    const second = this.#successors[expected + 1] ?? 0;
    if (this.#names.follows(cursor, second)) return second;
    if (!cursor.scanMemberName()) return failed;
    const found = this.#find(cursor);
    if (found < 0) return unknown;
    this.#successors[last + 1] = found;
    return found;
  }

  #find({ text, textStart, textEnd }: JsonCursor): number {
    const found = this.#names.find(text, textStart, textEnd);
    if (found >= 0 || !this.#learns) return found;
    const learned = this.#names.learn(text, textStart, textEnd);
    if (learned >= 0) this.#successors.push(0);
    return learned;
  }

  #readMember(cursor: JsonCursor, index: number, nameStart: number): boolean {
    if (this.#stamps[index] === this.#stamp) return this.#duplicate(cursor, index, nameStart);
    this.#stamps[index] = this.#stamp;
    const byte = cursor.peek();
    if (byte === LETTER_N) return this.#readNull(cursor, index);
    if (this.#rescued !== undefined) return this.#readOrRescue(cursor, index, { nameStart, rescued: this.#rescued });
    if (this.#readers[index]?.read(cursor) === true) return true;
    cursor.path.push(this.#members[index]?.label ?? '');
    return false;
  }

  #readOrRescue(
    cursor: JsonCursor,
    index: number,
    { nameStart, rescued }: { readonly nameStart: number; readonly rescued: RescuedMembers },
  ): boolean {
    const { reader, nullable, label } = present(this.#members[index], 'an index is of a member');
    const { column } = reader;
    const [{ length }, { pos, depth }] = [column, cursor];
    if (reader.read(cursor)) {
      if (rescued.isPartial) rescued.add(cursor.bytes, nameStart, cursor.pos);
      return true;
    }
    const reason = cursor.failure?.reason;
    if (!nullable || reason === undefined || !rescuable.has(reason)) {
      cursor.path.push(label);
      return false;
    }
    cursor.rewind(pos, depth);
    column.truncate(length);
    if (!cursor.skipValue()) return false;
    column.appendNull();
    rescued.addMisfit(reason, cursor.bytes, nameStart, cursor.pos);
    return true;
  }

  #readNull(cursor: JsonCursor, index: number): boolean {
    const member = this.#members[index];
    const from = cursor.pos;
    if (member === undefined || !cursor.readNull()) return false;
    if (!member.nullable) {
      cursor.path.push(member.label);
      return cursor.fail('missing-required', 'is not allowed in a required column', from, cursor.pos);
    }
    member.reader.column.appendNull();
    return true;
  }

  #fillAbsent(cursor: JsonCursor): boolean {
    for (let index = 0; index < this.#members.length; index += 1) {
      const member = this.#members[index];
      if (member === undefined || this.#stamps[index] === this.#stamp) continue;
      if (!member.nullable) {
        cursor.path.push(member.label);
        return cursor.fail('missing-required', 'a required column has no value', cursor.pos, cursor.pos);
      }
      member.reader.column.appendNull();
      member.onAbsent?.();
    }
    return true;
  }

  #skipUnknown(cursor: JsonCursor, nameStart: number): boolean {
    if (this.#rejectUnknown)
      return cursor.fail('unknown-member', 'is a member that no column takes', nameStart, afterName(cursor, nameStart));
    this.#unread?.notice?.(cursor);
    if (this.#rescued === undefined) {
      if (this.#unread !== undefined) this.#unread.count += 1;
      return cursor.skipValue();
    }
    if (!cursor.skipValue()) return false;
    this.#rescued.add(cursor.bytes, nameStart, cursor.pos);
    return true;
  }

  #duplicate(cursor: JsonCursor, index: number, nameStart: number): false {
    cursor.path.push(this.#members[index]?.label ?? '');
    return cursor.fail('duplicate-member', 'is there more than once', nameStart, afterName(cursor, nameStart));
  }
}

/** What is wrong with a value that is JSON all the same. */
const rescuable: ReadonlySet<RejectReason> = new Set(['wrong-type', 'out-of-range', 'missing-required', 'unknown-member']);
const unknown = -1;
const failed = -2;

// The cursor stands after the colon; the name ends at the quote before it.
function afterName(cursor: JsonCursor, nameStart: number): number {
  let until = cursor.pos - 1;
  while (until > nameStart + 1 && byteAt(cursor.bytes, until - 1, cursor.end) !== 0x22) until -= 1;
  return until;
}
