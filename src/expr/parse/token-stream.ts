import type { ParseException, TextPosition } from '../../base/analysis-exception.ts';
import { syntaxError } from './syntax-error.ts';
import { type Token, tokenize } from './tokens.ts';

/** Tokens with a place in them. Words are compared without regard to case; only bare words are keywords. */
export class TokenStream {
  readonly text: string;
  readonly #tokens: readonly Token[];
  readonly #end: Token;
  #index = 0;
  #nextParameter = 0;

  constructor(text: string, tokens: readonly Token[] = tokenize(text)) {
    this.text = text;
    this.#tokens = tokens;
    const last = tokens.at(-1);
    const end = last?.end ?? 0;
    this.#end =
      last?.kind === 'end' ? last : { kind: 'end', value: '', position: last?.position ?? { offset: 0, line: 1, column: 1 }, end };
  }

  /** The token `ahead` places on; the `end` token for ever after the last. */
  peek(ahead: number = 0): Token {
    return this.#tokens[this.#index + ahead] ?? this.#end;
  }

  next(): Token {
    const token = this.peek();
    this.#index = Math.min(this.#index + 1, this.#tokens.length);
    return token;
  }

  /** A place to come back to with `reset`. */
  mark(): number {
    return this.#index;
  }

  reset(mark: number): void {
    this.#index = mark;
  }

  get atEnd(): boolean {
    return this.peek().kind === 'end';
  }

  get position(): TextPosition {
    return this.peek().position;
  }

  /** The 0-based place of the next `?`. */
  takeParameterNumber(): number {
    return this.#nextParameter++;
  }

  /** Whether the words, in capitals, come next in this order. */
  atWords(...words: readonly string[]): boolean {
    return words.every((word, ahead) => isWord(this.peek(ahead), word));
  }

  atOperator(operator: string, ahead: number = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'operator' && token.value === operator;
  }

  /** Steps over the words when they come next. */
  takeWords(...words: readonly string[]): boolean {
    if (!this.atWords(...words)) return false;
    this.#index += words.length;
    return true;
  }

  /** Steps over one of the words and tells which, in capitals. */
  takeOneOf(...words: readonly string[]): string | undefined {
    const word = words.find((candidate) => this.atWords(candidate));
    if (word !== undefined) this.next();
    return word;
  }

  takeOperator(operator: string): boolean {
    if (!this.atOperator(operator)) return false;
    this.next();
    return true;
  }

  /** @throws ParseException when something else comes next. */
  expectWords(...words: readonly string[]): void {
    for (const word of words) if (!this.takeWords(word)) throw this.unexpected(word);
  }

  /** @throws ParseException when something else comes next. */
  expectOneOf(...words: readonly string[]): string {
    const word = this.takeOneOf(...words);
    if (word === undefined) throw this.unexpected(...words);
    return word;
  }

  /** @throws ParseException when something else comes next. */
  expectOperator(operator: string): Token {
    if (!this.atOperator(operator)) throw this.unexpected(`'${operator}'`);
    return this.next();
  }

  /** A bare or quoted name. @throws ParseException when something else comes next. */
  expectName(what: string = 'a name'): string {
    const token = this.peek();
    if (token.kind !== 'word' && token.kind !== 'quoted-name') throw this.unexpected(what);
    if (token.kind === 'quoted-name' && token.value === '') throw this.unexpected(`${what} that is not empty`);
    return this.next().value;
  }

  /** Names joined by dots. */
  expectNameParts(what: string = 'a name'): readonly string[] {
    const parts = [this.expectName(what)];
    while (this.takeOperator('.')) parts.push(this.expectName(what));
    return parts;
  }

  expectString(what: string = 'a string literal'): string {
    if (this.peek().kind !== 'string') throw this.unexpected(what);
    return this.next().value;
  }

  /** One or more things between commas. */
  list<T>(read: () => T): readonly T[] {
    const items = [read()];
    while (this.takeOperator(',')) items.push(read());
    return items;
  }

  /** One or more things between commas, in parentheses. */
  parenthesised<T>(read: () => T): readonly T[] {
    this.expectOperator('(');
    const items = this.list(read);
    this.expectOperator(')');
    return items;
  }

  /** @throws ParseException unless all tokens are read. */
  expectEnd(...alternatives: readonly string[]): void {
    if (!this.atEnd) throw this.unexpected(...alternatives, 'the end of the statement');
  }

  /** The error for a token that cannot stand at the present place. */
  unexpected(...expected: readonly string[]): ParseException {
    return this.unexpectedAt(this.peek(), ...expected);
  }

  unexpectedAt(token: Token, ...expected: readonly string[]): ParseException {
    return syntaxError({ text: this.text, position: token.position, found: this.#shown(token), expected });
  }

  #shown(token: Token): string {
    return token.kind === 'end' ? 'end of input' : `'${this.text.slice(token.position.offset, token.end)}'`;
  }
}

/** Whether a token is the bare word, given in capitals. */
export function isWord(token: Token, word: string): boolean {
  return token.kind === 'word' && token.value.length === word.length && token.value.toUpperCase() === word;
}
