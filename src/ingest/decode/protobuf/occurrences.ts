import { type WireCursor, wire } from './wire-cursor.ts';

export interface WantedField {
  readonly number: number;
  readonly wireType: number;
  /** Whether several values may stand behind one tag. */
  readonly packable: boolean;
  /** Number of the set of which only the member that comes last is there. */
  readonly oneof?: number | undefined;
}

/**
 * Where the wanted fields of a message stand: a message may have them in any order and more than once, and columns take one value after the
 * other. Found first, read then.
 */
export class Occurrences {
  readonly #indexOf: ReadonlyMap<number, number>;
  /** Of each wanted field, its first and last occurrence; -1: none. */
  readonly first: Int32Array;
  readonly last: Int32Array;
  /** Of each occurrence: the range of its value, how it is written, and the next one of its field. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly wireTypes: number[] = [];
  readonly next: number[] = [];
  #count = 0;
  /** Fields that are not wanted, of the message scanned last. */
  unknown = 0;

  readonly #wanted: readonly WantedField[];
  readonly #unread: number;
  /** Of each oneof the member that is there, by its place among the wanted; -1: none. */
  readonly #members: Int32Array;

  /** `unread`: how many of the wanted, at the end, are not wanted for themselves: they put out others of their oneof. */
  constructor(wanted: readonly WantedField[], unread: number = 0) {
    this.#wanted = wanted;
    this.#unread = wanted.length - unread;
    this.#members = new Int32Array(wanted.reduce((count, { oneof = -1 }) => Math.max(count, oneof + 1), 0)).fill(-1);
    this.#indexOf = new Map(wanted.map(({ number }, index) => [number, index]));
    this.first = new Int32Array(wanted.length).fill(-1);
    this.last = new Int32Array(wanted.length).fill(-1);
  }

  /** Forgets what was found. */
  clear(): void {
    this.first.fill(-1);
    this.last.fill(-1);
    this.#members.fill(-1);
    this.#count = 0;
    this.unknown = 0;
  }

  /** Adds what is in the cursor's range. @throws WireFault */
  scan(cursor: WireCursor): void {
    while (cursor.at < cursor.end) {
      cursor.tag();
      const { number, wireType } = cursor;
      const index = this.#indexOf.get(number);
      const wanted = index === undefined ? undefined : this.#wanted[index];
      // As every reader of Protobuf does: a value that is written as another type is a field of somebody else.
      if (index === undefined || wanted === undefined || (wireType !== wanted.wireType && !(wanted.packable && wireType === wire.bytes))) {
        this.unknown += 1;
        cursor.skip();
        continue;
      }
      let start = cursor.at;
      if (wireType === wire.bytes) {
        const size = cursor.length();
        start = cursor.at;
        cursor.at += size;
      } else cursor.skip();
      if (wanted.oneof !== undefined) this.#choose(wanted.oneof, index);
      if (index >= this.#unread) this.unknown += 1;
      else this.#add(index, start, cursor.at, wireType);
    }
  }

  #choose(oneof: number, index: number): void {
    const before = this.#members[oneof] ?? -1;
    this.#members[oneof] = index;
    if (before < 0 || before === index) return;
    this.first[before] = -1;
    this.last[before] = -1;
  }

  #add(index: number, start: number, end: number, wireType: number): void {
    const at = this.#count;
    this.#count += 1;
    this.starts[at] = start;
    this.ends[at] = end;
    this.wireTypes[at] = wireType;
    this.next[at] = -1;
    const before = this.last[index] ?? -1;
    if (before < 0) this.first[index] = at;
    else this.next[before] = at;
    this.last[index] = at;
  }
}
