import type { Expression } from '../../expr/expression.ts';
import { isGeneratorName } from '../../expr/generators.ts';
import { isWord, type TokenStream } from '../../expr/parse/token-stream.ts';
import type { Token } from '../../expr/parse/tokens.ts';
import type { JoinKind, Plan, TravelClause } from '../plan/plan.ts';
import { subqueryOf } from '../plan/subquery-name.ts';
import { requireShortChain } from './chain-limit.ts';
import { readPivot } from './parse-pivot.ts';
import { readSample } from './parse-sample.ts';
import type { QueryReader } from './query-reader.ts';

// Words that go on with a query: as an alias they need AS or backticks.
const clauseWords: ReadonlySet<string> = new Set(
  (
    'FROM WHERE GROUP HAVING ORDER LIMIT OFFSET UNION INTERSECT EXCEPT MINUS JOIN INNER LEFT RIGHT FULL OUTER CROSS NATURAL SEMI ANTI LATERAL ON ' +
    'USING WINDOW QUALIFY CLUSTER DISTRIBUTE SORT TABLESAMPLE PIVOT UNPIVOT OVER FILTER SELECT WITH FOR'
  ).split(' '),
);

/** Whether a bare word goes on with the query instead of naming what came before. */
export function isClauseWord(word: string): boolean {
  return clauseWords.has(word.toUpperCase());
}

const clauseStarts = [
  'FROM',
  'WHERE',
  'GROUP',
  'HAVING',
  'ORDER',
  'LIMIT',
  'OFFSET',
  'UNION',
  'INTERSECT',
  'EXCEPT',
  'JOIN',
  'LEFT',
  'INNER',
  'ON',
  'USING',
];

/** After a bare word taken for an alias: what follows shows that it was meant to go on with the query (`FROM t WHRE a = 1`). */
export function refuseMisspelled(stream: TokenStream, alias: Token): void {
  const next = stream.peek();
  const goesOn = next.kind === 'end' || next.kind === 'operator' || (next.kind === 'word' && isClauseWord(next.value));
  if (alias.kind === 'word' && !goesOn && stream.peek(-1) === alias && !isWord(stream.peek(-2), 'AS'))
    throw stream.unexpectedAt(alias, ...clauseStarts);
}

/** Parses what follows FROM. */
export class FromParser {
  readonly #parser: QueryReader;
  #joins = 0;

  constructor(parser: QueryReader) {
    this.#parser = parser;
  }

  /** Items between commas, with their joins, and the lateral views behind. */
  readFrom(): Plan {
    const { stream } = this.#parser;
    let from = this.#readJoins();
    while (stream.takeOperator(','))
      from = this.#joined({ kind: 'join', join: 'cross', lateral: this.#atLateral(), left: from, right: this.#readJoins() });
    while (stream.atWords('LATERAL', 'VIEW')) from = this.#readView(from);
    return from;
  }

  /** A table's name, with its version. */
  readTableName(): Plan {
    const { stream } = this.#parser;
    const parts = stream.expectNameParts('a table');
    return { kind: 'alias', name: parts.at(-1) ?? '', input: { kind: 'named', parts, travel: this.#readTravel() } };
  }

  #readJoins(): Plan {
    const { stream } = this.#parser;
    let left = this.#readPrimary();
    for (;;) {
      if (stream.atWords('LATERAL', 'VIEW')) {
        left = this.#readView(left);
        continue;
      }
      if (stream.atWords('PIVOT') || stream.atWords('UNPIVOT')) {
        const turned = readPivot(this.#parser, left);
        left = turned.kind === 'unpivot' ? this.#readAlias(turned, undefined) : turned;
        continue;
      }
      const joined = this.readJoin(left);
      if (joined === undefined) return left;
      left = joined;
    }
  }

  /** The rows joined with what comes next; `undefined` when that is no join. */
  readJoin(left: Plan): Plan | undefined {
    const { stream } = this.#parser;
    const natural = stream.takeWords('NATURAL');
    const join = this.#readJoinForm(natural);
    if (join === undefined) return undefined;
    const lateral = this.#atLateral();
    const right = this.#readPrimary();
    const condition = stream.takeWords('ON') ? this.#parser.expressions.readExpression() : undefined;
    const using =
      condition === undefined && stream.takeWords('USING') ? stream.parenthesised(() => stream.expectName('a column name')) : undefined;
    return this.#joined({ kind: 'join', join, natural, using, condition, lateral, left, right });
  }

  /** Queries after LATERAL and functions that make rows may use the columns to their left. */
  #atLateral(): boolean {
    const { stream } = this.#parser;
    const name = stream.peek();
    return stream.atWords('LATERAL') || (name.kind !== 'quoted-name' && stream.atOperator('(', 1) && isGeneratorName(name.value));
  }

  #joined(join: Plan): Plan {
    this.#joins += 1;
    requireShortChain(this.#parser.stream, this.#joins, 'joins');
    return join;
  }

  #readJoinForm(natural: boolean): JoinKind | undefined {
    const { stream } = this.#parser;
    const word = stream.takeOneOf('INNER', 'CROSS', 'LEFT', 'RIGHT', 'FULL', 'SEMI', 'ANTI');
    if (word === undefined) {
      if (stream.takeWords('JOIN')) return 'inner';
      if (natural) throw stream.unexpected('JOIN');
      return undefined;
    }
    let form: JoinKind = joinForms[word] ?? 'inner';
    if (word === 'LEFT') {
      const kind = stream.takeOneOf('SEMI', 'ANTI', 'OUTER');
      if (kind === 'SEMI') form = 'semi';
      if (kind === 'ANTI') form = 'anti';
    } else if (word === 'RIGHT' || word === 'FULL') stream.takeWords('OUTER');
    stream.expectWords('JOIN');
    return form;
  }

  #readPrimary(): Plan {
    const { stream } = this.#parser;
    stream.takeWords('LATERAL');
    const token = stream.peek();
    const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
    if (reference !== undefined) {
      stream.next();
      return this.#readAlias(readSample(this.#parser, this.#parser.nested(reference.key)), undefined);
    }
    if (stream.atWords('VALUES') && (stream.atOperator('(', 1) || stream.peek(1).kind !== 'operator')) {
      stream.next();
      return this.#readAlias({ kind: 'values', rows: this.#parser.readValueRows() }, undefined);
    }
    if (stream.takeOperator('(')) {
      const inner = this.readFrom();
      stream.expectOperator(')');
      return inner;
    }
    const at = stream.position;
    const parts = stream.expectNameParts('a table, a query in parentheses or VALUES');
    if (stream.atOperator('(') && parts.length === 1) {
      const [name = ''] = parts;
      return this.#readAlias({ kind: 'function', name, arguments: this.#readArguments(), at }, undefined);
    }
    const travel = this.#readTravel();
    return this.#readAlias(readSample(this.#parser, { kind: 'named', parts, travel }), parts.at(-1));
  }

  #readArguments(): readonly Expression[] {
    const { stream, expressions } = this.#parser;
    if (stream.atOperator(')', 1)) {
      stream.next();
      stream.next();
      return [];
    }
    return stream.parenthesised(() => expressions.readExpression());
  }

  /** Rows with the alias that follows, or else the name they have. */
  #readAlias(input: Plan, own: string | undefined): Plan {
    const { stream } = this.#parser;
    const token = stream.peek();
    const named = stream.takeWords('AS') || token.kind === 'quoted-name' || (token.kind === 'word' && !isClauseWord(token.value));
    if (!named) return own === undefined ? input : { kind: 'alias', name: own, input };
    const name = stream.expectName('an alias');
    refuseMisspelled(stream, token);
    const columns = stream.atOperator('(') ? stream.parenthesised(() => stream.expectName('a column name')) : undefined;
    return { kind: 'alias', name, columns, input };
  }

  /** `VERSION AS OF n`, `TIMESTAMP AS OF t`, with or without FOR, and `@v3`. */
  #readTravel(): TravelClause | undefined {
    const { stream } = this.#parser;
    if (stream.takeOperator('@')) return this.#readShortTravel();
    const ahead = stream.atWords('FOR') ? 1 : 0;
    const word = stream.peek(ahead).value.toUpperCase();
    const version = word === 'VERSION' || word === 'SYSTEM_VERSION';
    const timestamp = word === 'TIMESTAMP' || word === 'SYSTEM_TIME';
    const clause =
      (version || timestamp) &&
      stream.peek(ahead).kind === 'word' &&
      stream.peek(ahead + 1).value.toUpperCase() === 'AS' &&
      stream.peek(ahead + 2).value.toUpperCase() === 'OF';
    if (!clause) return undefined;
    for (let count = 0; count < ahead + 3; count += 1) stream.next();
    const from = stream.position.offset;
    const next = stream.peek();
    if (version && next.kind === 'number' && !/^\d+$/u.test(next.value)) throw stream.unexpected('a whole number', 'a version as text');
    if (version && stream.atOperator('-')) throw stream.unexpected('a whole number', 'a version as text');
    const value = this.#parser.expressions.readOperand();
    const text = stream.text.slice(from, stream.peek(-1).end);
    return version ? { kind: 'version', value } : { kind: 'timestamp', value, text };
  }

  #readShortTravel(): TravelClause {
    const { stream } = this.#parser;
    const token = stream.next();
    const version = /^v(\d{1,15})$/iu.exec(token.value)?.[1];
    if (version !== undefined)
      return { kind: 'version', value: { kind: 'literal', literal: { type: 'integer', value: BigInt(version), width: 'long' } } };
    // yyyyMMddHHmmssSSS
    const parts = /^(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{3})$/u.exec(token.value);
    if (parts === null) throw stream.unexpectedAt(token, 'v and a version', 'a time yyyyMMddHHmmssSSS');
    const [, year, month, day, hour, minute, second, millis] = parts;
    const value = `${year ?? ''}-${month ?? ''}-${day ?? ''} ${hour ?? ''}:${minute ?? ''}:${second ?? ''}.${millis ?? ''}`;
    return { kind: 'timestamp', value: { kind: 'literal', literal: { type: 'string', value } }, text: token.value };
  }

  /** `LATERAL VIEW [OUTER] explode(x) name [AS a, b]`. */
  #readView(input: Plan): Plan {
    const { stream, expressions } = this.#parser;
    stream.expectWords('LATERAL', 'VIEW');
    const outer = stream.takeWords('OUTER');
    const call = expressions.readExpression();
    const token = stream.peek();
    const named =
      token.kind === 'quoted-name' || (token.kind === 'word' && !isClauseWord(token.value) && token.value.toUpperCase() !== 'AS');
    const name = named ? stream.expectName('a name') : '';
    const columns = stream.takeWords('AS') ? stream.list(() => stream.expectName('a column name')) : [];
    return { kind: 'generate', call, outer, name, columns, input };
  }
}

const joinForms: Readonly<Record<string, JoinKind | undefined>> = {
  INNER: 'inner',
  CROSS: 'cross',
  LEFT: 'left',
  RIGHT: 'right',
  FULL: 'full',
  SEMI: 'semi',
  ANTI: 'anti',
};
