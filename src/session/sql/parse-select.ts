import type { ParameterValues } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { ExpressionParser } from '../../expr/parse/parse-expression.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import type { Token } from '../../expr/parse/tokens.ts';
import type { GroupElement, NamedPlan, Plan, Select, SetOperation, StarItem } from '../plan/plan.ts';
import { subqueryOf } from '../plan/subquery-name.ts';
import { requireShortChain } from './chain-limit.ts';
import { expandWindows } from './named-windows.ts';
import { FromParser, isClauseWord, refuseMisspelled } from './parse-from.ts';
import { readOrder } from './parse-order.ts';
import { type PipeReader, readPipes } from './parse-pipe.ts';
import { type SplitTokens, splitSubqueries } from './split-subqueries.ts';

/**
 * A query of Spark's dialect: SELECT with all its clauses, FROM-first, VALUES, TABLE, set operations, WITH.
 *
 * @throws ParseException `PARSE_SYNTAX_ERROR` 42601 with the place, what was found and what could stand there. `parameters`: of `IDENTIFIER(:name)` alone.
 */
export function parseSelect(text: string, parameters?: ParameterValues): Plan {
  const split = splitSubqueries(text, parameters);
  const parser = new QueryParser(split, split.main);
  const query = parser.readQuery();
  parser.stream.takeOperator(';');
  parser.stream.expectEnd();
  return query;
}

/** Parses the tokens of one query; queries in its parentheses have parsers of their own. */
export class QueryParser implements PipeReader {
  readonly stream: TokenStream;
  readonly expressions: ExpressionParser;
  readonly #split: SplitTokens;
  readonly #subqueries = new Map<string, Plan>();

  constructor(split: SplitTokens, tokens: readonly Token[]) {
    this.#split = split;
    this.stream = new TokenStream(split.text, expandWindows(split.text, tokens));
    this.expressions = new ExpressionParser(this.stream);
    // Each expression refers to its queries by number alone.
    for (const token of tokens) {
      const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
      if (reference !== undefined) this.#subqueries.set(reference.key, this.#parseNested(reference.key));
    }
  }

  /** The query a name stands for. */
  nested(key: string): Plan {
    return this.#subqueries.get(key) ?? this.#parseNested(key);
  }

  readQuery(): Plan {
    const queries = this.stream.takeWords('WITH') ? this.#readWiths() : [];
    const input = readPipes(this, this.readLimit(this.#readSorted(this.#readSetOperations(0))));
    return { kind: 'with', queries, subqueries: this.#subqueries, input };
  }

  /** The order of a SELECT may use columns that are not selected. */
  #readSorted(input: Plan): Plan {
    const keys = readOrder(this);
    if (keys.length === 0) return input;
    return input.kind === 'select' ? { ...input, orderBy: keys } : { kind: 'sort', keys, input };
  }

  readLimit(input: Plan): Plan {
    let count: Expression | undefined;
    let offset: Expression | undefined;
    for (let word = this.stream.takeOneOf('LIMIT', 'OFFSET'); word !== undefined; word = this.stream.takeOneOf('LIMIT', 'OFFSET')) {
      if (word === 'OFFSET') offset = this.expressions.readExpression();
      else if (!this.stream.takeWords('ALL')) count = this.expressions.readExpression();
    }
    return count === undefined && offset === undefined ? input : { kind: 'limit', count, offset, input };
  }

  #parseNested(key: string): Plan {
    const parser = new QueryParser(this.#split, this.#split.queries.get(key) ?? []);
    const query = parser.readQuery();
    parser.stream.expectEnd(')');
    return query;
  }

  #readWiths(): readonly NamedPlan[] {
    const { stream } = this;
    const recursive = stream.takeWords('RECURSIVE');
    return stream.list(() => {
      const name = stream.expectName('a name for the query');
      const columns = stream.atOperator('(') ? stream.parenthesised(() => stream.expectName('a column name')) : undefined;
      const maxLevel = recursive ? this.#readMaxLevel() : undefined;
      stream.takeWords('AS');
      const token = stream.next();
      const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
      if (reference === undefined) throw stream.unexpectedAt(token, 'a query in parentheses');
      const plan = this.nested(reference.key);
      return { name, columns, plan: recursive ? recursion(plan, { name, columns, maxLevel }) : plan };
    });
  }

  #readMaxLevel(): number | undefined {
    const { stream } = this;
    if (!stream.takeWords('MAX', 'RECURSION', 'LEVEL')) return undefined;
    const token = stream.peek();
    if (token.kind !== 'number' || !/^\d{1,9}$/u.test(token.value)) throw stream.unexpected('a number of levels');
    return Number(stream.next().value);
  }

  // INTERSECT binds tighter than UNION and EXCEPT, which go from left to right.
  #readSetOperations(level: 0 | 1): Plan {
    const words = level === 0 ? unionWords : intersectWords;
    const read = (): Plan => (level === 0 ? this.#readSetOperations(1) : this.readTerm());
    let left = read();
    let links = 0;
    for (let operation = this.readSetOperation(words); operation !== undefined; operation = this.readSetOperation(words)) {
      left = { kind: 'set', operation, left, right: read() };
      links += 1;
      requireShortChain(this.stream, links, 'set operations');
    }
    return left;
  }

  readSetOperation(words: readonly string[] = [...unionWords, ...intersectWords]): SetOperation | undefined {
    const word = this.stream.takeOneOf(...words);
    if (word === undefined) return undefined;
    const all = this.stream.takeOneOf('ALL', 'DISTINCT') === 'ALL';
    return setOperations[word === 'MINUS' ? 'EXCEPT' : word]?.[all ? 1 : 0] ?? 'union';
  }

  readTerm(): Plan {
    const { stream } = this;
    const token = stream.peek();
    const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
    if (reference !== undefined) {
      stream.next();
      return this.nested(reference.key);
    }
    if (stream.takeWords('VALUES')) return { kind: 'values', rows: this.readValueRows() };
    if (stream.takeWords('TABLE')) return { kind: 'select', columns: [allColumns(token)], input: new FromParser(this).readTableName() };
    if (stream.atWords('FROM')) return this.#readFromFirst();
    stream.expectOneOf('SELECT', 'WITH', 'VALUES', 'TABLE', 'FROM');
    const head = this.readItems();
    return this.#readTail(head, stream.atWords('FROM') ? this.#readFrom() : { kind: 'one-row' });
  }

  /** Rows between commas; a row of one value needs no parentheses. */
  readValueRows(): readonly (readonly Expression[])[] {
    return this.stream.list(() =>
      this.stream.atOperator('(')
        ? this.stream.parenthesised(() => this.expressions.readExpression())
        : [this.expressions.readExpression()],
    );
  }

  #readFromFirst(): Plan {
    const start = this.stream.peek();
    const from = this.#readFrom();
    const head = this.stream.takeWords('SELECT') ? this.readItems() : { distinct: false, columns: [allColumns(start)] };
    return this.#readTail(head, from);
  }

  readItems(): Pick<Select, 'distinct' | 'columns'> {
    const distinct = this.stream.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT';
    return { distinct, columns: this.stream.list(() => this.#readItem()) };
  }

  #readFrom(): Plan {
    this.stream.expectWords('FROM');
    return new FromParser(this).readFrom();
  }

  #readItem(): Expression | StarItem {
    const { stream } = this;
    const at = stream.position;
    if (stream.takeOperator('*')) return { kind: 'star-item', except: this.#readExcept(), at };
    const value = this.expressions.readExpression();
    if (value.kind === 'star') {
      return { kind: 'star-item', qualifier: value.qualifier?.split('.') ?? [], except: this.#readExcept(), at };
    }
    const token = stream.peek();
    if (stream.takeWords('AS')) {
      const names = stream.atOperator('(') ? stream.parenthesised(() => stream.expectName('an alias')) : [stream.expectName('an alias')];
      return aliased(value, names);
    }
    if (token.kind !== 'quoted-name' && (token.kind !== 'word' || isClauseWord(token.value))) return value;
    const name = stream.expectName('an alias');
    refuseMisspelled(stream, token);
    return aliased(value, [name]);
  }

  #readExcept(): readonly string[] {
    const { stream } = this;
    if (!(stream.atWords('EXCEPT') && stream.atOperator('(', 1))) return [];
    stream.next();
    return stream.parenthesised(() => stream.expectName('a column name'));
  }

  #readTail(head: Pick<Select, 'distinct' | 'columns'>, from: Plan): Plan {
    const { stream, expressions } = this;
    const where = stream.takeWords('WHERE') ? expressions.readExpression() : undefined;
    const groups = stream.takeWords('GROUP', 'BY') ? this.#readGroupBy() : undefined;
    const having = stream.takeWords('HAVING') ? expressions.readExpression() : undefined;
    const qualify = stream.takeWords('QUALIFY') ? expressions.readExpression() : undefined;
    const input: Plan = where === undefined ? from : { kind: 'filter', condition: where, input: from };
    return { kind: 'select', ...head, groups, having, qualify, input };
  }

  #readGroupBy(): NonNullable<Select['groups']> {
    const { stream } = this;
    if (stream.takeWords('ALL')) return 'all';
    const elements = stream.list(() => this.#readGroupElement());
    const form = stream.takeWords('WITH') ? stream.expectOneOf('ROLLUP', 'CUBE') : undefined;
    if (form === undefined) return elements;
    return [{ kind: form === 'ROLLUP' ? 'rollup' : 'cube', sets: elements.flatMap((element) => element.sets) }];
  }

  #readGroupElement(): GroupElement {
    const { stream } = this;
    const readSet = (): readonly Expression[] => {
      if (!stream.atOperator('(')) return [this.expressions.readExpression()];
      if (stream.atOperator(')', 1)) {
        stream.next();
        stream.next();
        return [];
      }
      return stream.parenthesised(() => this.expressions.readExpression());
    };
    if (stream.takeWords('GROUPING', 'SETS')) return { kind: 'grouping-sets', sets: stream.parenthesised(readSet) };
    const word = stream.atOperator('(', 1) ? stream.takeOneOf('ROLLUP', 'CUBE') : undefined;
    if (word !== undefined) return { kind: word === 'ROLLUP' ? 'rollup' : 'cube', sets: stream.parenthesised(readSet) };
    return { kind: 'key', sets: [[this.expressions.readExpression()]] };
  }
}

/** The query with its branches told apart; one that is no union may still be named like what it reads. */
function recursion(plan: Plan, head: Pick<Plan & { readonly kind: 'recursion' }, 'name' | 'columns' | 'maxLevel'>): Plan {
  if (plan.kind === 'with') return { ...plan, input: recursion(plan.input, head) };
  const union = plan.kind === 'set' && (plan.operation === 'union' || plan.operation === 'union-distinct') ? plan : undefined;
  const distinct = union?.operation === 'union-distinct';
  return { kind: 'recursion', ...head, distinct, anchor: union?.left ?? plan, step: union?.right };
}

const unionWords: readonly string[] = ['UNION', 'EXCEPT', 'MINUS'];
const intersectWords: readonly string[] = ['INTERSECT'];

const setOperations: Readonly<Record<string, readonly [SetOperation, SetOperation] | undefined>> = {
  UNION: ['union-distinct', 'union'],
  INTERSECT: ['intersect', 'intersect-all'],
  EXCEPT: ['except', 'except-all'],
};

function aliased(operand: Expression, [name = '', ...otherNames]: readonly string[]): Expression {
  return { kind: 'alias', operand, name, ...(otherNames.length === 0 ? {} : { otherNames }) };
}

function allColumns(at: Token): StarItem {
  return { kind: 'star-item', except: [], at: at.position };
}
