import type { ParameterValues } from '../../expr/bind-parameters.ts';
import { readTokens } from '../../expr/parse/parse-expression.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
import { isWord } from '../../expr/parse/token-stream.ts';
import type { Token } from '../../expr/parse/tokens.ts';
import { type SubqueryForm, subqueryName, subqueryOf } from '../plan/subquery-name.ts';

/** A text's tokens with every query in parentheses taken out: in its place stands one name, `subqueryName` of its form and number. */
export interface SplitTokens {
  readonly text: string;
  readonly main: readonly Token[];
  readonly queries: ReadonlyMap<string, readonly Token[]>;
}

const maxDepth = 200;
const afterQuery = ['UNION', 'INTERSECT', 'EXCEPT', 'MINUS', 'ORDER', 'LIMIT', 'OFFSET'] as const;

/** @throws ParseException as `tokenize`, and for parentheses without their other half. */
export function splitSubqueries(text: string, parameters?: ParameterValues): SplitTokens {
  return new Splitter(text, parameters).run();
}

class Splitter {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #queries = new Map<string, readonly Token[]>();
  #index = 0;
  #parameters = 0;

  constructor(text: string, parameters: ParameterValues | undefined) {
    this.#text = text;
    this.#tokens = readTokens(text, parameters);
  }

  run(): SplitTokens {
    const main = this.#read(0);
    const extra = this.#tokens[this.#index];
    if (extra !== undefined && extra.kind !== 'end') throw this.#misplaced(extra, 'the end of the statement');
    return { text: this.#text, main: [...main, ...(extra === undefined ? [] : [extra])], queries: this.#queries };
  }

  /** Tokens up to a closing parenthesis or the end, which stay unread. */
  #read(depth: number): Token[] {
    const output: Token[] = [];
    for (;;) {
      const token = this.#tokens[this.#index];
      if (token === undefined || token.kind === 'end' || (token.kind === 'operator' && token.value === ')')) return output;
      this.#index += 1;
      if (token.kind === 'operator' && token.value === '(') this.#readGroup(token, output, depth + 1);
      // Places are counted over the whole text, also where a query is read apart.
      else if (token.kind === 'parameter' && token.value === '?') output.push({ ...token, value: String(this.#parameters++) });
      else output.push(token);
    }
  }

  #readGroup(open: Token, output: Token[], depth: number): void {
    if (depth > maxDepth) {
      const message = `parentheses nest deeper than ${maxDepth}`;
      throw syntaxError({ text: this.#text, position: open.position, found: '(', errorClass: 'EXPRESSION_TOO_DEEP', message });
    }
    const inner = this.#read(depth);
    const close = this.#tokens[this.#index];
    if (close === undefined || close.kind === 'end') throw this.#misplaced(close ?? open, "')'");
    this.#index += 1;
    const key = this.#queryKey(inner, output.at(-1), close);
    if (key === undefined) {
      // Not spread into one call: a list of a hundred thousand values would pass more arguments than the stack holds.
      output.push(open);
      for (const token of inner) output.push(token);
      output.push(close);
      return;
    }
    const name = (form: SubqueryForm): Token => ({
      kind: 'quoted-name',
      value: subqueryName(form, key),
      position: open.position,
      end: close.end,
    });
    const before = output.at(-1);
    if (before !== undefined && isWord(before, 'EXISTS')) output[output.length - 1] = name('exists');
    else if (before !== undefined && isWord(before, 'IN')) output.push(open, name('in'), close);
    else output.push(name('scalar'));
  }

  /** The number of the query that a group is; `undefined` when it is none. */
  #queryKey(inner: readonly Token[], before: Token | undefined, close: Token): string | undefined {
    const [first, second] = inner;
    if (first === undefined) return undefined;
    const nested = first.kind === 'quoted-name' ? subqueryOf(first.value) : undefined;
    if (nested?.form === 'scalar' && second === undefined) return nested.key;
    const continued =
      nested?.form === 'scalar' && second !== undefined && (second.value === '|>' || afterQuery.some((word) => isWord(second, word)));
    if (!continued && !beginsQuery(inner, before)) return undefined;
    const key = String(this.#queries.size);
    this.#queries.set(key, [...inner, { kind: 'end', value: '', position: close.position, end: close.position.offset }]);
    return key;
  }

  #misplaced(token: Token, expected: string): Error {
    const found = token.kind === 'end' ? 'end of input' : `'${token.value}'`;
    return syntaxError({ text: this.#text, position: token.position, found, expected: [expected] });
  }
}

function beginsQuery([first, second, third]: readonly Token[], before: Token | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  const named = second.kind === 'word' || second.kind === 'quoted-name';
  // A column may be called `select` or `values` where an operator follows.
  if (isWord(first, 'SELECT')) return second.kind !== 'operator' || ['*', '(', '-', '+', '~'].includes(second.value);
  if (isWord(first, 'VALUES')) return second.value === '(' || second.kind !== 'operator';
  if (isWord(first, 'WITH')) return named && third !== undefined && (isWord(third, 'AS') || third.value === '(' || third.kind === 'word');
  // `trim(FROM x)` is a call.
  const called = before !== undefined && before.kind === 'word' && before.end === first.position.offset - 1;
  return (isWord(first, 'FROM') || isWord(first, 'TABLE')) && named && !called;
}
