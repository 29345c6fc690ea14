import type { RejectReason } from '../../../protocol/sealed-batch.ts';
import { byteAt } from '../bytes.ts';
import { utf8SequenceLength } from '../utf8.ts';
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isDigit,
  LETTER_F,
  LETTER_N,
  LETTER_T,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';
import { invalidUtf8String, StringCopy } from './json-string.ts';
import { NumberLexeme } from './number-lexeme.ts';

/** Why a value was refused, kept until the record's rejection is written. */
export interface Failure {
  readonly reason: RejectReason;
  /** What is wrong with the value, to be read after it: `is not a long`. */
  readonly detail: string;
  /** The refused value's bytes; empty when the failure is about the record as a whole. */
  readonly from: number;
  readonly until: number;
}

const words = { true: bytesOf('true'), false: bytesOf('false'), null: bytesOf('null') };

/**
 * A place in one JSON text (RFC 8259). Readers move it forward; a reader that returns false leaves the reason in `failure`.
 * Strict: no comments, no trailing commas, no leading zeros, no NaN, valid UTF-8 only.
 */
export class JsonCursor {
  bytes: Uint8Array = new Uint8Array(0);
  /** Over the same bytes as `bytes`. */
  view: DataView = new DataView(new ArrayBuffer(0));
  pos = 0;
  end = 0;
  /** After `scanString`: the content, unescaped, is `text[textStart, textEnd)`. Valid until the next scan. */
  text: Uint8Array = new Uint8Array(0);
  textStart = 0;
  textEnd = 0;
  failure: Failure | undefined = undefined;
  /** Where the failure happened, innermost first: `city`, `address`. */
  readonly path: string[] = [];
  readonly lexeme: NumberLexeme = new NumberLexeme();
  readonly #maxDepth: number;
  readonly #copy = new StringCopy();
  #scratch: Uint8Array = new Uint8Array(0);
  #depth = 0;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  /** Goes to the start of a text. */
  load(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.bytes) {
      this.bytes = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.pos = start;
    this.end = end;
    this.#depth = 0;
  }

  /** Skips whitespace and returns the byte there, or -1 at the end. */
  peek(): number {
    const { bytes, end } = this;
    let { pos } = this;
    while (pos < end) {
      const byte = bytes[pos] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) {
        this.pos = pos;
        return byte;
      }
      pos += 1;
    }
    this.pos = pos;
    return -1;
  }

  get depth(): number {
    return this.#depth;
  }

  /** Goes back to where it was before a value that was refused. */
  rewind(pos: number, depth: number): void {
    this.pos = pos;
    this.#depth = depth;
    this.failure = undefined;
    this.path.length = 0;
  }

  /** Steps into an object or array. */
  enter(): boolean {
    this.#depth += 1;
    this.pos += 1;
    return this.#depth <= this.#maxDepth || this.fail('too-deep', `nested deeper than ${this.#maxDepth} levels`, this.pos, this.pos);
  }

  /** Steps out of it, over its closing byte. */
  leave(): void {
    this.#depth -= 1;
    this.pos += 1;
  }

  fail(reason: RejectReason, detail: string, from: number, until: number): false {
    this.failure = { reason, detail, from, until };
    return false;
  }

  /** Records that the text is not JSON from the cursor on. */
  invalid(expected: string): false {
    return this.fail('invalid-json', `expected ${expected}`, this.pos, this.pos);
  }

  /** Records that the value at the cursor is not `expected` (`a long`), or that it is no JSON value at all. */
  wrongType(expected: string): false {
    const from = this.pos;
    return this.skipValue() && this.fail('wrong-type', `is not ${expected}`, from, this.pos);
  }

  /** Consumes `null`; the cursor is at its first letter. */
  readNull(): boolean {
    return this.#word(words.null);
  }

  /** Consumes a literal and returns 1 or 0, or -1 with a failure. */
  readBoolean(): number {
    const byte = byteAt(this.bytes, this.pos, this.end);
    if (byte === LETTER_T) return this.#word(words.true) ? 1 : -1;
    if (byte === LETTER_F) return this.#word(words.false) ? 0 : -1;
    this.wrongType('a boolean');
    return -1;
  }

  /** Consumes the string at the cursor; its content is in `text`. A string without escapes is not copied. */
  scanString(): boolean {
    const { bytes, end } = this;
    const start = this.pos + 1;
    let pos = start;
    while (pos < end) {
      const byte = bytes[pos] ?? 0;
      if (byte === QUOTE) {
        this.text = bytes;
        this.textStart = start;
        this.textEnd = pos;
        this.pos = pos + 1;
        return true;
      }
      if (byte < 0x20 || byte === BACKSLASH) break;
      if (byte < 0x80) pos += 1;
      else {
        const length = utf8SequenceLength(bytes, pos, end);
        if (length === 0) break;
        pos += length;
      }
    }
    if (this.#scratch.length < end - start) this.#scratch = new Uint8Array(end - start);
    const until = this.copyString(this.#scratch, 0);
    if (until < 0) return false;
    this.text = this.#scratch;
    this.textStart = 0;
    this.textEnd = until;
    return true;
  }

  /** Consumes the string at the cursor into `out[at...]`, which has room for the rest of the text; the index after it, or -1. */
  copyString(out: Uint8Array, at: number): number {
    const from = this.pos;
    const until = this.#copy.copy(this.bytes, from + 1, this.end, out, at);
    this.pos = this.#copy.until;
    if (until >= 0) return until;
    if (until === invalidUtf8String) this.fail('invalid-utf8', 'is not valid UTF-8', from, this.pos);
    else this.invalid('the rest of a string');
    return -1;
  }

  /** Consumes `"name":` at the cursor; the name is in `text`. */
  scanMemberName(): boolean {
    if (byteAt(this.bytes, this.pos, this.end) !== QUOTE) return this.invalid('a member name');
    if (!this.scanString()) return false;
    if (this.peek() !== COLON) return this.invalid("':'");
    this.pos += 1;
    return true;
  }

  /**
   * Goes to the name of the next member of the object that was entered. 1: it is there, or what should be; 0: there is none, the cursor is at the
   * closing brace; -1: a failure.
   */
  toMember(isFirst: boolean): number {
    const byte = this.peek();
    if (byte === CLOSE_BRACE) return 0;
    if (isFirst) return 1;
    if (byte !== COMMA) {
      this.invalid("',' or '}'");
      return -1;
    }
    this.pos += 1;
    this.peek();
    return 1;
  }

  /** Consumes any JSON value, checking its syntax. */
  skipValue(): boolean {
    const byte = this.peek();
    switch (byte) {
      case QUOTE:
        return this.scanString();
      case OPEN_BRACE:
        return this.#skipMembers();
      case OPEN_BRACKET:
        return this.#skipElements();
      case LETTER_T:
        return this.#word(words.true);
      case LETTER_F:
        return this.#word(words.false);
      case LETTER_N:
        return this.#word(words.null);
      default:
        return byte === MINUS || isDigit(byte) ? this.scanNumber() : this.invalid('a value');
    }
  }

  /** Consumes the number at the cursor; its parts are in `lexeme`. */
  scanNumber(): boolean {
    const until = this.lexeme.parse(this.bytes, this.pos, this.end);
    if (until < 0) return this.invalid('a number');
    this.pos = until;
    return true;
  }

  #skipMembers(): boolean {
    if (!this.enter()) return false;
    if (this.peek() === CLOSE_BRACE) return this.#left();
    for (;;) {
      if (!this.scanMemberName() || !this.skipValue()) return false;
      const byte = this.peek();
      if (byte === CLOSE_BRACE) return this.#left();
      if (byte !== COMMA) return this.invalid("',' or '}'");
      this.pos += 1;
      this.peek();
    }
  }

  #skipElements(): boolean {
    if (!this.enter()) return false;
    if (this.peek() === CLOSE_BRACKET) return this.#left();
    for (;;) {
      if (!this.skipValue()) return false;
      const byte = this.peek();
      if (byte === CLOSE_BRACKET) return this.#left();
      if (byte !== COMMA) return this.invalid("',' or ']'");
      this.pos += 1;
    }
  }

  #left(): true {
    this.leave();
    return true;
  }

  #word(word: Uint8Array): boolean {
    for (let i = 0; i < word.length; i += 1) {
      if (byteAt(this.bytes, this.pos + i, this.end) !== word[i]) return this.invalid('a value');
    }
    this.pos += word.length;
    return true;
  }
}

function bytesOf(word: string): Uint8Array {
  return new TextEncoder().encode(word);
}
