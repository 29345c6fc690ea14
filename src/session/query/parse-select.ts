import type { Expression, SortKey } from '../../expr/expression.ts';
import { readSortKey } from '../../expr/parse/parse-call.ts';
import { ExpressionParser } from '../../expr/parse/parse-expression.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import type { Token } from '../../expr/parse/tokens.ts';
import { expandWindows } from './named-windows.ts';
import { FromParser, isClauseWord, refuseMisspelled } from './parse-from.ts';
import type { QueryReader } from './query-reader.ts';
import type { GroupBy, GroupElement, QueryBody, QueryTree, Select, SelectItem } from './select-tree.ts';
import { subqueryOf } from './select-tree.ts';
import { type SplitTokens, splitSubqueries } from './split-subqueries.ts';

/**
 * A query of Spark's dialect: SELECT with all its clauses, FROM-first, VALUES, TABLE, set operations, WITH.
 *
 * @throws ParseException `PARSE_SYNTAX_ERROR` 42601 with the place, what was found and what could stand there.
 */
export function parseSelect(text: string): QueryTree {
  const split = splitSubqueries(text);
  const parser = new QueryParser(split, split.main);
  const query = parser.readQuery();
  parser.stream.takeOperator(';');
  parser.stream.expectEnd();
  return query;
}

/** Parses the tokens of one query; queries in its parentheses have parsers of their own. */
export class QueryParser implements QueryReader {
  readonly stream: TokenStream;
  readonly expressions: ExpressionParser;
  readonly #split: SplitTokens;
  readonly #subqueries = new Map<string, QueryTree>();

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
  nested(key: string): QueryTree {
    return this.#subqueries.get(key) ?? this.#parseNested(key);
  }

  readQuery(): QueryTree {
    const withs = this.stream.takeWords('WITH') ? this.#readWiths() : [];
    const body = this.#readSetOperations(0);
    const orderBy = this.#readOrderBy();
    let limit: Expression | undefined;
    let offset: Expression | undefined;
    for (let word = this.stream.takeOneOf('LIMIT', 'OFFSET'); word !== undefined; word = this.stream.takeOneOf('LIMIT', 'OFFSET')) {
      if (word === 'OFFSET') offset = this.expressions.readExpression();
      else if (!this.stream.takeWords('ALL')) limit = this.expressions.readExpression();
    }
    return {
      withs,
      body,
      orderBy,
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
      subqueries: this.#subqueries,
    };
  }

  #parseNested(key: string): QueryTree {
    const parser = new QueryParser(this.#split, this.#split.queries.get(key) ?? []);
    const query = parser.readQuery();
    parser.stream.expectEnd(')');
    return query;
  }

  #readWiths(): QueryTree['withs'] {
    const { stream } = this;
    if (stream.atWords('RECURSIVE')) throw stream.unexpected('a name (recursive queries are not supported)');
    return stream.list(() => {
      const name = stream.expectName('a name for the query');
      const columns = stream.atOperator('(') ? stream.parenthesised(() => stream.expectName('a column name')) : undefined;
      stream.takeWords('AS');
      const token = stream.next();
      const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
      if (reference === undefined) throw stream.unexpectedAt(token, 'a query in parentheses');
      return { name, columns, query: this.nested(reference.key) };
    });
  }

  // INTERSECT binds tighter than UNION and EXCEPT, which go from left to right.
  #readSetOperations(level: 0 | 1): QueryBody {
    const words = level === 0 ? ['UNION', 'EXCEPT', 'MINUS'] : ['INTERSECT'];
    const read = (): QueryBody => (level === 0 ? this.#readSetOperations(1) : this.#readPrimary());
    let left = read();
    for (let word = this.stream.takeOneOf(...words); word !== undefined; word = this.stream.takeOneOf(...words)) {
      const all = this.stream.takeOneOf('ALL', 'DISTINCT') === 'ALL';
      const operation = word === 'UNION' ? 'union' : word === 'INTERSECT' ? 'intersect' : 'except';
      left = { kind: 'set', operation, all, left, right: read() };
    }
    return left;
  }

  #readPrimary(): QueryBody {
    const { stream } = this;
    const token = stream.peek();
    const reference = token.kind === 'quoted-name' ? subqueryOf(token.value) : undefined;
    if (reference !== undefined) {
      stream.next();
      return { kind: 'nested', query: this.nested(reference.key) };
    }
    if (stream.takeWords('VALUES')) return { kind: 'values', rows: this.readValueRows() };
    if (stream.takeWords('TABLE')) {
      const from = new FromParser(this).readTableName();
      return { kind: 'select', select: { distinct: false, items: [allColumns(token)], from } };
    }
    if (stream.atWords('FROM')) return { kind: 'select', select: this.#readFromFirst() };
    stream.expectOneOf('SELECT', 'WITH', 'VALUES', 'TABLE', 'FROM');
    return { kind: 'select', select: this.#readSelect() };
  }

  /** Rows between commas; a row of one value needs no parentheses. */
  readValueRows(): readonly (readonly Expression[])[] {
    return this.stream.list(() =>
      this.stream.atOperator('(')
        ? this.stream.parenthesised(() => this.expressions.readExpression())
        : [this.expressions.readExpression()],
    );
  }

  #readFromFirst(): Select {
    const start = this.stream.peek();
    const from = this.#readFrom();
    if (!this.stream.takeWords('SELECT')) return { distinct: false, items: [allColumns(start)], from, ...this.#readTail() };
    const head = this.#readItems();
    return { ...head, from, ...this.#readTail() };
  }

  #readSelect(): Select {
    const head = this.#readItems();
    const from = this.stream.atWords('FROM') ? this.#readFrom() : undefined;
    return { ...head, from, ...this.#readTail() };
  }

  #readItems(): Pick<Select, 'distinct' | 'items'> {
    const distinct = this.stream.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT';
    return { distinct, items: this.stream.list(() => this.#readItem()) };
  }

  #readFrom(): Select['from'] {
    this.stream.expectWords('FROM');
    return new FromParser(this).readFrom();
  }

  #readItem(): SelectItem {
    const { stream } = this;
    const at = stream.position;
    if (stream.takeOperator('*')) return { kind: 'star', qualifier: undefined, except: this.#readExcept(), at };
    const value = this.expressions.readExpression();
    if (value.kind === 'star') {
      return { kind: 'star', qualifier: value.qualifier?.split('.') ?? [], except: this.#readExcept(), at };
    }
    const token = stream.peek();
    if (stream.takeWords('AS')) {
      const names = stream.atOperator('(') ? stream.parenthesised(() => stream.expectName('an alias')) : [stream.expectName('an alias')];
      return { kind: 'value', value, names, at };
    }
    const aliased = token.kind === 'quoted-name' || (token.kind === 'word' && !isClauseWord(token.value));
    const names = aliased ? [stream.expectName('an alias')] : [];
    if (aliased) refuseMisspelled(stream, token);
    return { kind: 'value', value, names, at };
  }

  #readExcept(): readonly string[] {
    const { stream } = this;
    if (!(stream.atWords('EXCEPT') && stream.atOperator('(', 1))) return [];
    stream.next();
    return stream.parenthesised(() => stream.expectName('a column name'));
  }

  #readTail(): Pick<Select, 'where' | 'groupBy' | 'having' | 'qualify'> {
    const { stream, expressions } = this;
    const where = stream.takeWords('WHERE') ? expressions.readExpression() : undefined;
    const groupBy = stream.takeWords('GROUP', 'BY') ? this.#readGroupBy() : undefined;
    const having = stream.takeWords('HAVING') ? expressions.readExpression() : undefined;
    const qualify = stream.takeWords('QUALIFY') ? expressions.readExpression() : undefined;
    return {
      ...(where === undefined ? {} : { where }),
      ...(groupBy === undefined ? {} : { groupBy }),
      ...(having === undefined ? {} : { having }),
      ...(qualify === undefined ? {} : { qualify }),
    };
  }

  #readGroupBy(): GroupBy {
    const { stream } = this;
    if (stream.takeWords('ALL')) return { kind: 'all' };
    const elements = stream.list(() => this.#readGroupElement());
    const form = stream.takeWords('WITH') ? stream.expectOneOf('ROLLUP', 'CUBE') : undefined;
    if (form === undefined) return { kind: 'keys', elements };
    const sets = elements.flatMap((element) => element.sets);
    return { kind: 'keys', elements: [{ kind: form === 'ROLLUP' ? 'rollup' : 'cube', sets }] };
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

  #readOrderBy(): readonly SortKey[] {
    if (!this.stream.takeWords('ORDER', 'BY')) return [];
    return this.stream.list(() => readSortKey(this.expressions));
  }
}

function allColumns(at: Token): SelectItem {
  return { kind: 'star', qualifier: undefined, except: [], at: at.position };
}
