import type { ParameterValues } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { ExpressionParser } from '../../expr/parse/parse-expression.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import { type Token, tokenize } from '../../expr/parse/tokens.ts';
import type { ObjectName, QueryText, TableSource, TimeTravel } from './statement.ts';

/** Words a query begins with, besides a parenthesis. */
export const queryWords: readonly string[] = ['SELECT', 'WITH', 'VALUES', 'FROM', 'TABLE'];

/** Words that follow a table and are no alias of it. */
const notAliases: ReadonlySet<string> = new Set(
  'WHERE SET USING ON WHEN VERSION TIMESTAMP FOR PARTITION BY REPLACE ZORDER LIMIT VALUES SELECT FROM TABLE WITH'.split(' '),
);

/** Keys that Spark keeps for what clauses say, with what to write instead. */
const reservedProperties: Readonly<Record<string, string | undefined>> = {
  provider: 'please use the USING clause to specify it',
  location: 'please use the LOCATION clause to specify it',
  owner: 'it will be set to the current user',
  external: 'please use CREATE EXTERNAL TABLE',
  is_managed_location: 'it follows from the LOCATION clause',
};

/** Reads the parts that statements share from one token stream; leaves the stream behind each. */
export class StatementReader {
  readonly stream: TokenStream;
  readonly expressions: ExpressionParser;
  /** Where each `?` stands. */
  #parameterOffsets: readonly number[] | undefined;

  constructor(text: string, tokens: readonly Token[], parameters: ParameterValues | undefined) {
    this.stream = new TokenStream(text, tokens);
    this.expressions = new ExpressionParser(this.stream, { parameters });
  }

  expression(): Expression {
    return this.expressions.readExpression();
  }

  /** A name of one to many parts. */
  objectName(what: string = 'a table name'): ObjectName {
    const at = this.stream.position;
    return { parts: this.stream.expectNameParts(what), at };
  }

  /** A table's name, or its path in quotes (`'/data/t'`), which stands for `delta.`/data/t``. */
  tableOrPath(): ObjectName {
    const at = this.stream.position;
    return this.stream.peek().kind === 'string' ? { parts: ['delta', this.stream.expectString()], at } : this.objectName();
  }

  /** A table with the version to read of it. */
  tableSource(): TableSource {
    const name = this.tableOrPath();
    const asOf = this.#shortVersion() ?? this.timeTravel();
    return asOf === undefined ? name : { ...name, asOf };
  }

  /** `[FOR] VERSION | SYSTEM_VERSION AS OF …`, `[FOR] TIMESTAMP | SYSTEM_TIME AS OF …`. */
  timeTravel(): TimeTravel | undefined {
    const { stream } = this;
    stream.takeWords('FOR');
    const word = stream.takeOneOf('VERSION', 'SYSTEM_VERSION', 'TIMESTAMP', 'SYSTEM_TIME');
    if (word === undefined) return undefined;
    stream.expectWords('AS', 'OF');
    if (word === 'VERSION' || word === 'SYSTEM_VERSION') return { kind: 'version', version: this.#version() };
    return { kind: 'timestamp', timestamp: this.expressions.readOperand() };
  }

  /** `[AS] name`, when one follows. */
  alias(): string | undefined {
    const { stream } = this;
    if (stream.takeWords('AS')) return stream.expectName('an alias');
    const token = stream.peek();
    if (token.kind === 'quoted-name' || (token.kind === 'word' && !notAliases.has(token.value.toUpperCase()))) return stream.next().value;
    return undefined;
  }

  ifExists(): boolean {
    return this.stream.takeWords('IF', 'EXISTS');
  }

  ifNotExists(): boolean {
    return this.stream.takeWords('IF', 'NOT', 'EXISTS');
  }

  /** Whether the statement is read to its end or to a semicolon. */
  atStatementEnd(): boolean {
    return this.stream.atEnd || this.stream.atOperator(';');
  }

  get atQuery(): boolean {
    return this.#atQuery(0);
  }

  /** The rest of the statement, which must begin as a query does. */
  query(): QueryText {
    if (!this.atQuery) throw this.stream.unexpected(...queryWords);
    return this.#queryText(() => this.atStatementEnd());
  }

  /** `(query)`. */
  parenthesisedQuery(): QueryText {
    this.stream.expectOperator('(');
    if (!this.atQuery) throw this.stream.unexpected(...queryWords);
    const query = this.#queryText(() => this.stream.atOperator(')'));
    this.stream.expectOperator(')');
    return query;
  }

  /** Whether a query stands in parentheses in what follows of the statement. */
  get asksQuery(): boolean {
    const { stream } = this;
    for (let ahead = 0; stream.peek(ahead).kind !== 'end'; ahead += 1) {
      const [word, after] = [stream.peek(ahead + 1), stream.peek(ahead + 2)];
      const begins = word.kind === 'word' && ['SELECT', 'WITH', 'VALUES'].includes(word.value.toUpperCase());
      if (stream.atOperator('(', ahead) && begins && (after.kind !== 'operator' || '*(-+~'.includes(after.value))) return true;
    }
    return false;
  }

  /** The text of as many tokens, which are read. */
  textUntil(count: number): QueryText {
    const last = this.stream.peek(count);
    return this.#queryText(() => this.stream.peek() === last);
  }

  /** A condition or value as it was written, up to one of the words or the end of the statement, or to a comma when it is in a list. */
  expressionText(until: { readonly words: readonly string[]; readonly comma: boolean }): QueryText {
    const { stream } = this;
    const text = this.#queryText(
      () => this.atStatementEnd() || until.words.some((word) => stream.atWords(word)) || (until.comma && stream.atOperator(',')),
    );
    if (text.text === '') throw stream.unexpected('an expression');
    return text;
  }

  /** `(key = value, …)`: keys are dotted names or strings; numbers and truth values become text. */
  properties(): Readonly<Record<string, string>> {
    const entries = this.stream.parenthesised((): readonly [string, string] => {
      const [first, second, ...more] = this.stream.peek().parts ?? [];
      if (first !== undefined && second !== undefined && more.length === 0) {
        // `'key' 'value'`, which is one text anywhere else.
        this.stream.next();
        return [first, second];
      }
      const key = this.propertyKey();
      this.stream.takeOperator('=');
      return [key, this.#propertyValue()];
    });
    return Object.fromEntries(entries);
  }

  /** As `properties`, of a table. @throws ParseException `UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY` for what a clause of its own says. */
  tableProperties(): Readonly<Record<string, string>> {
    const token = this.stream.peek();
    const properties = this.properties();
    for (const key of Object.keys(properties)) this.#refuseReserved(key, token);
    return properties;
  }

  tablePropertyKey(): string {
    const token = this.stream.peek();
    const key = this.propertyKey();
    this.#refuseReserved(key, token);
    return key;
  }

  propertyKey(): string {
    return this.stream.peek().kind === 'string' ? this.stream.expectString() : this.stream.expectNameParts('a property name').join('.');
  }

  /** `[LIKE] 'pattern'`. */
  likePattern(): string | undefined {
    if (this.stream.takeWords('LIKE')) return this.stream.expectString('a pattern');
    return this.stream.peek().kind === 'string' ? this.stream.expectString() : undefined;
  }

  /** A whole number without a sign. */
  count(what: string): number {
    const token = this.stream.peek();
    if (token.kind !== 'number' || !/^\d{1,15}$/.test(token.value)) throw this.stream.unexpected(what);
    return Number(this.stream.next().value);
  }

  /** `(a, b.c)` or `a, b.c`. */
  columnPaths(): readonly (readonly string[])[] {
    const { stream } = this;
    const readPath = (): readonly string[] => stream.expectNameParts('a column name');
    return stream.atOperator('(') ? stream.parenthesised(readPath) : stream.list(readPath);
  }

  /** The error for something Spark has and this session does not. `token`: where it stands. */
  unsupported(token: Token, what: string, hint?: string, errorClass = 'UNSUPPORTED_STATEMENT'): Error {
    return syntaxError({
      text: this.stream.text,
      position: token.position,
      found: token.value,
      errorClass,
      message: `${what} is not supported`,
      hint,
    });
  }

  #refuseReserved(key: string, { position, value }: Token): void {
    const instead = reservedProperties[key];
    if (instead === undefined) return;
    throw syntaxError({
      text: this.stream.text,
      position,
      found: value,
      errorClass: 'UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY',
      message: `The feature is not supported: ${key} is a reserved table property, ${instead}.`,
    });
  }

  #atQuery(ahead: number): boolean {
    const token = this.stream.peek(ahead);
    if (this.stream.atOperator('(', ahead)) return this.#atQuery(ahead + 1);
    return token.kind === 'word' && queryWords.includes(token.value.toUpperCase());
  }

  #queryText(atEnd: () => boolean): QueryText {
    const { stream } = this;
    const at = stream.position;
    let depth = 0;
    let end = at.offset;
    while (!(depth === 0 && atEnd())) {
      const token = stream.peek();
      if (token.kind === 'end') throw stream.unexpected("')'");
      if (stream.atOperator('(')) depth += 1;
      else if (stream.atOperator(')')) depth -= 1;
      if (depth < 0) throw stream.unexpected('the end of the statement');
      if (token.kind === 'parameter' && token.value === '?') stream.takeParameterNumber();
      end = stream.next().end;
    }
    return { text: stream.text.slice(at.offset, end), at, parameters: this.#parametersWithin(at.offset, end) };
  }

  /** A clause `IDENTIFIER(?)` is a name by now, and again what it was when the query is read: places are those of the text. */
  #parametersWithin(from: number, end: number): readonly number[] {
    this.#parameterOffsets ??= parameterOffsets(this.stream.text);
    return this.#parameterOffsets.flatMap((offset, number) => (offset >= from && offset < end ? [number] : []));
  }

  #shortVersion(): TimeTravel | undefined {
    if (!this.stream.takeOperator('@')) return undefined;
    const token = this.stream.peek();
    const digits = /^v(\d{1,19})$/i.exec(token.value)?.[1];
    if (token.kind !== 'word' || digits === undefined) throw this.stream.unexpected('a version such as v12');
    this.stream.next();
    return { kind: 'version', version: BigInt(digits) };
  }

  #version(): bigint | string {
    const token = this.stream.peek();
    if (token.kind === 'string') return /^\d{1,19}$/.test(token.value) ? BigInt(this.stream.next().value) : this.stream.next().value;
    if (token.kind === 'number' && /^\d{1,19}$/.test(token.value)) return BigInt(this.stream.next().value);
    throw this.stream.unexpected('a version number', 'the name of a branch or tag in quotes');
  }

  #propertyValue(): string {
    const { stream } = this;
    const negative = stream.takeOperator('-');
    const token = stream.peek();
    if (token.kind === 'number') return `${negative ? '-' : ''}${stream.next().value}`;
    if (!negative && token.kind === 'string') return stream.next().value;
    // Truth values are written without quotes; Spark keeps them in lower case.
    const word = negative ? undefined : stream.takeOneOf('TRUE', 'FALSE');
    if (word === undefined) throw stream.unexpected('a value in quotes', 'a number', 'TRUE', 'FALSE');
    return word.toLowerCase();
  }
}

function parameterOffsets(text: string): readonly number[] {
  if (!text.includes('?')) return [];
  return tokenize(text).flatMap(({ kind, value, position }) => (kind === 'parameter' && value === '?' ? [position.offset] : []));
}
