import { ParseException } from '../../base/analysis-exception.ts';
import { maxStatementLength } from '../../expr/parse/tokens.ts';

/** A statement with the place in the input where it begins, both 1-based. */
export interface ScannedStatement {
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** What a semicolon cannot end yet. `nothing`: no statement has begun. */
export type PendingInput = 'nothing' | 'statement' | 'text' | 'comment';

type Mode = 'plain' | 'line-comment' | 'block-comment' | "'" | '"' | '`';

const blank = /\s/;
const wordCharacter = /[\p{L}\p{N}_$]/u;

/**
 * Cuts input that comes in pieces into statements at the semicolons outside of quotes and comments, as soon as they are there: a script is
 * executed while it is still being read. Leading comments are left out. It never looks at a character twice.
 */
export class StatementScanner {
  #buffer = '';
  #at = 0;
  #mode: Mode = 'plain';
  #commentDepth = 0;
  #raw = false;
  #escaped = false;
  /** The character before, `''` where it already belongs to a pair. */
  #previous = '';
  #beforePrevious = '';
  #line = 1;
  #column = 1;
  #start: { readonly offset: number; readonly line: number; readonly column: number } | undefined;
  /** The statement that seems to begin is a comment so far. */
  #onlyComment = false;

  /**
   * Takes the next piece and gives the statements that are complete, without their semicolons.
   *
   * @throws ParseException `STATEMENT_TOO_LONG`.
   */
  push(piece: string): readonly ScannedStatement[] {
    this.#buffer += piece;
    const complete: ScannedStatement[] = [];
    for (; this.#at < this.#buffer.length; this.#at += 1) {
      const character = this.#buffer[this.#at] ?? '';
      const ends = this.#mode === 'plain' && character === ';';
      if (ends) complete.push(...this.#end());
      this.#advance(character, !ends && this.#take(character));
    }
    this.#forgetTaken();
    return complete;
  }

  /** What is left when the input ends, if it is more than blanks and comments: a statement does not need its semicolon there. */
  finish(): readonly ScannedStatement[] {
    if (this.#onlyComment && this.#mode === 'line-comment') this.#start = undefined;
    const rest = this.#end();
    this.reset();
    return rest;
  }

  /** Forgets what has begun; lines are counted from one again. */
  reset(): void {
    this.#buffer = '';
    this.#at = 0;
    this.#mode = 'plain';
    this.#commentDepth = 0;
    this.#escaped = false;
    this.#previous = '';
    this.#beforePrevious = '';
    this.#line = 1;
    this.#column = 1;
    this.#start = undefined;
    this.#onlyComment = false;
  }

  get pending(): PendingInput {
    if (this.#mode === 'block-comment') return 'comment';
    if (this.#mode !== 'plain' && this.#mode !== 'line-comment') return 'text';
    return this.#start === undefined || this.#onlyComment ? 'nothing' : 'statement';
  }

  /** True when the character and the one before it are a mark of two, and no part of another. */
  #take(character: string): boolean {
    switch (this.#mode) {
      case 'plain':
        return this.#takePlain(character);
      case 'line-comment':
        if (character === '\n') this.#endComment();
        return false;
      case 'block-comment':
        return this.#takeComment(character);
      default:
        if (this.#escaped) this.#escaped = false;
        else if (character === '\\' && !this.#raw && this.#mode !== '`') this.#escaped = true;
        else if (character === this.#mode) this.#mode = 'plain';
        return false;
    }
  }

  #takePlain(character: string): boolean {
    const pair = this.#previous + character;
    if (pair === '--' || pair === '/*') {
      // The first character of the pair seemed to begin a statement.
      this.#onlyComment = this.#start?.offset === this.#at - 1;
      this.#mode = pair === '--' ? 'line-comment' : 'block-comment';
      this.#commentDepth = 1;
      return true;
    }
    if (this.#start === undefined && !blank.test(character)) this.#start = { offset: this.#at, line: this.#line, column: this.#column };
    if (character !== "'" && character !== '"' && character !== '`') return false;
    this.#mode = character;
    this.#raw = /[rRxX]/.test(this.#previous) && !wordCharacter.test(this.#beforePrevious);
    return false;
  }

  #takeComment(character: string): boolean {
    const pair = this.#previous + character;
    if (pair !== '/*' && pair !== '*/') return false;
    this.#commentDepth += pair === '/*' ? 1 : -1;
    if (this.#commentDepth === 0) this.#endComment();
    return true;
  }

  #endComment(): void {
    this.#mode = 'plain';
    if (this.#onlyComment) this.#start = undefined;
    this.#onlyComment = false;
  }

  #advance(character: string, paired: boolean): void {
    this.#beforePrevious = this.#previous;
    this.#previous = paired ? '' : character;
    this.#line += character === '\n' ? 1 : 0;
    this.#column = character === '\n' ? 1 : this.#column + 1;
  }

  #end(): ScannedStatement[] {
    const start = this.#start;
    this.#start = undefined;
    this.#onlyComment = false;
    if (start === undefined) return [];
    return [{ text: this.#buffer.slice(start.offset, this.#at).trimEnd(), line: start.line, column: start.column }];
  }

  #forgetTaken(): void {
    const kept = this.#start?.offset ?? this.#at;
    this.#buffer = this.#buffer.slice(kept);
    this.#at -= kept;
    if (this.#start !== undefined) this.#start = { ...this.#start, offset: 0 };
    if (this.#buffer.length <= maxStatementLength) return;
    const { line, column } = this.#start ?? { line: 1, column: 1 };
    throw new ParseException({
      errorClass: 'STATEMENT_TOO_LONG',
      message: `the statement at line ${line}, column ${column} is longer than ${maxStatementLength} characters`,
      hint: 'load large data from files: SELECT * FROM csv.`path`',
      position: { offset: 0, line: 1, column: 1 },
      text: '',
    });
  }
}
