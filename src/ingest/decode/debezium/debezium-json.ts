import type { PassReason } from '../../../protocol/sealed-batch.ts';
import { LETTER_N, OPEN_BRACE, QUOTE } from '../json/json-bytes.ts';
import type { JsonCursor } from '../json/json-cursor.ts';
import type { JsonRoot } from '../json/json-payload.ts';
import { MemberNames } from '../json/member-names.ts';
import { type Member, ObjectReader } from '../json/object-reader.ts';
import type { UnreadMembers } from '../payload-decoder.ts';
import type { RescuedMembers } from '../rescued-members.ts';
import { outcomeOf, type SeenOfEvent } from './event-outcome.ts';

/** The members of an event that columns take, with what reads them. */
export interface JsonEventMembers {
  readonly row: readonly Member[];
  /** As the row of deleted rows has them: by a schema the types of `before` may be others than those of `after`. */
  readonly before: readonly Member[];
  readonly event: readonly Member[];
  readonly source: readonly Member[];
  readonly transaction: readonly Member[];
  readonly deleted: (deleted: boolean) => void;
}

const known = ['before', 'after', 'source', 'transaction', 'op', 'ts_ms', 'ts_us', 'ts_ns', 'status', 'id', 'schema', 'payload'] as const;
type Known = (typeof known)[number];

/** A change event of Debezium in JSON: the row of it, after the change or, where it was deleted, before. */
export class DebeziumJson implements JsonRoot, SeenOfEvent {
  noRow: PassReason | undefined;
  readonly #members: JsonEventMembers;
  readonly #names = new MemberNames(known);
  readonly #event: ReadonlyMap<string, Member>;
  readonly #row: ObjectReader;
  readonly #before: ObjectReader;
  readonly #source: ObjectReader;
  readonly #transaction: ObjectReader;
  /** The member that followed each member last time, as in `ObjectReader`. */
  readonly #successors = new Int32Array(known.length + 1);
  /** A bit for each of `known`. */
  #seen = 0;
  memberCount = 0;
  op = '';
  after = false;
  /** Where the row before the change stands; -1: nowhere. */
  #beforeAt = -1;

  constructor(members: JsonEventMembers, unknownMembers: 'ignore' | 'reject', unread: UnreadMembers, rescued?: RescuedMembers) {
    this.#members = members;
    this.#event = new Map(members.event.map((member) => [member.name, member]));
    this.#row = new ObjectReader(members.row, unknownMembers, unread, rescued);
    this.#before = new ObjectReader(members.before, unknownMembers, unread, rescued);
    this.#source = new ObjectReader(members.source, 'ignore');
    this.#transaction = new ObjectReader(members.transaction, 'ignore');
  }

  get before(): boolean {
    return this.#beforeAt >= 0;
  }

  has(name: string): boolean {
    const index = (known as readonly string[]).indexOf(name);
    return index >= 0 && (this.#seen & (1 << index)) !== 0;
  }

  read(cursor: JsonCursor): boolean {
    this.noRow = undefined;
    this.#seen = 0;
    this.memberCount = 0;
    this.op = '';
    this.after = false;
    this.#beforeAt = -1;
    const from = cursor.pos;
    if (!cursor.enter()) return false;
    let last = -1;
    for (;;) {
      const step = cursor.toMember(this.memberCount === 0);
      if (step === 0) break;
      if (step < 0) return false;
      this.memberCount += 1;
      let index = this.#successors[last + 1] ?? 0;
      if (!this.#names.follows(cursor, index)) {
        if (!cursor.scanMemberName()) return false;
        index = this.#names.find(cursor.text, cursor.textStart, cursor.textEnd);
      }
      const name = known[index];
      if (name === undefined) {
        if (!cursor.skipValue()) return false;
        continue;
      }
      if ((this.#seen & (1 << index)) !== 0)
        return cursor.fail('duplicate-member', 'is there more than once', cursor.pos - name.length - 3, cursor.pos - 1);
      this.#seen |= 1 << index;
      this.#successors[last + 1] = index;
      last = index;
      if (!this.#readMember(cursor, name)) return false;
    }
    if (!this.#end(cursor, from)) return false;
    cursor.leave();
    return true;
  }

  #readMember(cursor: JsonCursor, name: Known): boolean {
    const byte = cursor.peek();
    switch (name) {
      case 'after':
        if (byte !== OPEN_BRACE) return this.#noObject(cursor, name);
        this.after = true;
        return this.#row.read(cursor);
      case 'before':
        if (byte !== OPEN_BRACE) return this.#noObject(cursor, name);
        this.#beforeAt = cursor.pos;
        return cursor.skipValue();
      case 'source':
        return byte === OPEN_BRACE ? this.#source.read(cursor) : this.#noObject(cursor, name) && fillAbsent(cursor, this.#members.source);
      case 'transaction':
        return byte === OPEN_BRACE
          ? this.#transaction.read(cursor)
          : this.#noObject(cursor, name) && fillAbsent(cursor, this.#members.transaction);
      case 'op':
        return this.#readOperation(cursor) && this.#readScalar(cursor, name);
      default:
        return this.#readScalar(cursor, name);
    }
  }

  /** Looks at the operation and leaves the cursor before it. */
  #readOperation(cursor: JsonCursor): boolean {
    const from = cursor.pos;
    if (cursor.peek() === LETTER_N) return true;
    if (cursor.peek() !== QUOTE) return cursor.wrongType('an operation of Debezium');
    if (!cursor.scanString()) return false;
    const { text, textStart, textEnd } = cursor;
    this.op =
      textEnd - textStart === 1
        ? String.fromCharCode(text[textStart] ?? 0)
        : Buffer.from(text.buffer, text.byteOffset + textStart, Math.min(textEnd - textStart, 64)).toString('latin1');
    cursor.pos = from;
    return true;
  }

  #readScalar(cursor: JsonCursor, name: Known): boolean {
    const member = this.#event.get(name);
    if (member === undefined) return cursor.skipValue();
    if (cursor.peek() === LETTER_N) return cursor.readNull() && fillAbsent(cursor, [member]);
    if (member.reader.read(cursor)) return true;
    cursor.path.push(member.label);
    return false;
  }

  #noObject(cursor: JsonCursor, name: Known): boolean {
    if (cursor.peek() === LETTER_N) return cursor.readNull();
    const from = cursor.pos;
    return cursor.skipValue() && cursor.fail('not-an-event', `is not the object that "${name}" of an event is`, from, cursor.pos);
  }

  /** Takes the row that was deleted, and what the event has not. */
  #end(cursor: JsonCursor, from: number): boolean {
    const outcome = outcomeOf(this);
    if ('fault' in outcome) return cursor.fail('not-an-event', `the payload ${outcome.fault}`, from, from);
    if ('noRow' in outcome) {
      this.noRow = outcome.noRow;
      return true;
    }
    const deleted = outcome.row === 'before';
    if (deleted) {
      const { pos } = cursor;
      cursor.pos = this.#beforeAt;
      if (!this.#before.read(cursor)) return false;
      cursor.pos = pos;
    }
    this.#members.deleted(deleted);
    const { event, source, transaction } = this.#members;
    for (const member of event) if (!this.has(member.name) && !fillAbsent(cursor, [member])) return false;
    return (this.has('source') || fillAbsent(cursor, source)) && (this.has('transaction') || fillAbsent(cursor, transaction));
  }
}

function fillAbsent(cursor: JsonCursor, members: readonly Member[]): boolean {
  for (const { label, nullable, reader } of members) {
    if (!nullable) {
      cursor.path.push(label);
      return cursor.fail('missing-required', 'a required column has no value', cursor.pos, cursor.pos);
    }
    reader.column.appendNull();
  }
  return true;
}
