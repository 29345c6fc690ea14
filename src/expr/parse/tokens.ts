import type { TextPosition } from '../../base/analysis-exception.ts';
import { endOfComment, readQuotedName, readString, type TextPart } from './quoted-text.ts';
import { positionAt, syntaxError } from './syntax-error.ts';

/**
 * - `word`: a name or keyword as written; `quoted-name`: in backticks.
 * - `string`: one or several adjacent literals, decoded and joined; `binary`: the hexadecimal digits of `X'1F'`.
 * - `number`: with its sign left out and its suffix kept (`1.5BD`).
 * - `parameter`: `:name` (its name) or `?` (`?`).
 * - `end`: after the last token; empty.
 */
export type TokenKind = 'word' | 'quoted-name' | 'string' | 'binary' | 'number' | 'parameter' | 'operator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The meaning: decoded text, the word, the operator. */
  readonly value: string;
  /** Of several literals that were joined. */
  readonly parts?: readonly string[] | undefined;
  readonly position: TextPosition;
  /** Offset after the token; the text of the token is `[position.offset, end)`. */
  readonly end: number;
}

/** Longer texts are refused (`STATEMENT_TOO_LONG`). In UTF-16 units. */
export const maxStatementLength: number = 16 * 1024 * 1024;

// Longest first. `>>` is left to two tokens, for `ARRAY<ARRAY<INT>>`.
const operators: readonly string[] = [
  '<=>',
  '::',
  '->',
  '=>',
  '==',
  '!=',
  '<>',
  '<=',
  '>=',
  '||',
  '|>',
  ...'+ - * / % & | ^ ~ = < > ( ) [ ] { } , . ; : ! @'.split(' '),
];
const wordPattern = /[\p{L}_$][\p{L}\p{M}\p{N}_$]*/uy;
const numberPattern = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:BD|[LSYDF])?/iy;
const digitWordPattern = /[\p{L}\p{M}\p{N}_]+/uy;
const blankPattern = /[\s\u00a0\ufeff]+/uy;

/**
 * The tokens of a text in Spark's dialect, comments left out, an `end` token last.
 *
 * @throws ParseException `PARSE_SYNTAX_ERROR` 42601 for an unclosed quote or comment and for characters that begin nothing.
 */
export function tokenize(text: string): readonly Token[] {
  if (text.length > maxStatementLength) {
    const message = `a statement of ${text.length} characters is longer than ${maxStatementLength}`;
    throw syntaxError({ text, position: positionAt(text, 0), found: '', errorClass: 'STATEMENT_TOO_LONG', message });
  }
  return new Tokenizer(text).run();
}

class Tokenizer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #offset = 0;
  #line = 1;
  #lineStart = 0;
  /** Of the first line feed that is not counted yet; -1: there is none. Looked for once: a text of one long line is not read for each token. */
  #lineFeed: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineFeed = text.indexOf('\n');
  }

  run(): readonly Token[] {
    this.#skipBlanks();
    while (this.#offset < this.#text.length) {
      this.#readToken();
      this.#skipBlanks();
    }
    this.#push('end', '', this.#text.length);
    return this.#tokens;
  }

  #readToken(): void {
    const text = this.#text;
    const first = text[this.#offset] ?? '';
    const second = text[this.#offset + 1];
    const quoteFollows = second === "'" || second === '"';
    if (first === '`') this.#pushPart('quoted-name', readQuotedName(text, this.#offset));
    else if (first === "'" || first === '"') this.#pushString(readString(text, this.#offset, { raw: false }));
    else if ((first === 'r' || first === 'R') && quoteFollows) this.#pushString(readString(text, this.#offset + 1, { raw: true }));
    else if ((first === 'x' || first === 'X') && quoteFollows) this.#pushBinary(readString(text, this.#offset + 1, { raw: true }));
    else if (first === '?') this.#push('parameter', '?', this.#offset + 1);
    else if (!(first === ':' && this.#readParameter()) && !this.#readNumber() && !this.#readMatch('word', wordPattern))
      this.#readOperator();
  }

  #readOperator(): void {
    const operator = operators.find((candidate) => this.#text.startsWith(candidate, this.#offset));
    if (operator === undefined) throw this.#unexpected();
    this.#push('operator', operator, this.#offset + operator.length);
  }

  // `STRUCT<a:INT>` has no parameter: one never follows a name without a blank between.
  #readParameter(): boolean {
    const before = this.#tokens.at(-1);
    if (before !== undefined && before.end === this.#offset && (before.kind === 'word' || before.kind === 'quoted-name')) return false;
    const name = matchAt(wordPattern, this.#text, this.#offset + 1);
    if (name === undefined) return false;
    this.#push('parameter', name, this.#offset + 1 + name.length);
    return true;
  }

  #readNumber(): boolean {
    const first = this.#text[this.#offset] ?? '';
    const digit = first >= '0' && first <= '9';
    if (!digit && first !== '.') return false;
    const before = this.#tokens.at(-1);
    // `a.1` is a member of `a`, not two values.
    const afterName =
      before !== undefined && before.end === this.#offset && (['word', 'quoted-name'].includes(before.kind) || ')]'.includes(before.value));
    if (first === '.' && afterName) return false;
    const number = matchAt(numberPattern, this.#text, this.#offset);
    if (number === undefined) return false;
    const word = matchAt(digitWordPattern, this.#text, this.#offset);
    // A name may begin with digits: `2024_sales`.
    if (word !== undefined && word.length > number.length) this.#push('word', word, this.#offset + word.length);
    else this.#push('number', number, this.#offset + number.length);
    return true;
  }

  #readMatch(kind: TokenKind, pattern: RegExp): boolean {
    const value = matchAt(pattern, this.#text, this.#offset);
    if (value === undefined) return false;
    this.#push(kind, value, this.#offset + value.length);
    return true;
  }

  #pushString(part: TextPart): void {
    const before = this.#tokens.at(-1);
    if (before?.kind !== 'string') {
      this.#pushPart('string', part);
      return;
    }
    this.#tokens.pop();
    const { value, parts = [value] } = before;
    this.#tokens.push({ ...before, value: value + part.value, parts: [...parts, part.value], end: part.end });
    this.#offset = part.end;
  }

  #pushBinary(part: TextPart): void {
    if (!/^[0-9a-fA-F]*$/.test(part.value)) {
      throw syntaxError({ text: this.#text, position: this.#position(), found: `X'${part.value}'`, expected: ['hexadecimal digits'] });
    }
    this.#pushPart('binary', part);
  }

  #pushPart(kind: TokenKind, part: TextPart): void {
    this.#push(kind, part.value, part.end);
  }

  #push(kind: TokenKind, value: string, end: number): void {
    this.#tokens.push({ kind, value, position: this.#position(), end });
    this.#offset = end;
  }

  #skipBlanks(): void {
    for (;;) {
      const blank = matchAt(blankPattern, this.#text, this.#offset);
      const end = blank === undefined ? endOfComment(this.#text, this.#offset) : this.#offset + blank.length;
      if (end === undefined) return;
      this.#offset = end;
    }
  }

  #position(): TextPosition {
    while (this.#lineFeed >= 0 && this.#lineFeed < this.#offset) {
      this.#line += 1;
      this.#lineStart = this.#lineFeed + 1;
      this.#lineFeed = this.#text.indexOf('\n', this.#lineStart);
    }
    return { offset: this.#offset, line: this.#line, column: this.#offset - this.#lineStart + 1 };
  }

  #unexpected(): Error {
    const code = this.#text.codePointAt(this.#offset) ?? 0;
    const shown =
      code < 0x20 || code === 0x7f ? `character U+${code.toString(16).toUpperCase().padStart(4, '0')}` : String.fromCodePoint(code);
    return syntaxError({ text: this.#text, position: this.#position(), found: shown, message: `Syntax error: ${shown} begins nothing` });
  }
}

function matchAt(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  const found = pattern.exec(text)?.[0];
  return found === '' ? undefined : found;
}
