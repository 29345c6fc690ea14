import type { ParseException } from '../../base/analysis-exception.ts';
import { bindParameters, type ParameterValues } from '../bind-parameters.ts';
import type { BinaryOperator, Expression, UnaryOperator } from '../expression.ts';
import { expandIdentifiers } from './identifier-clause.ts';
import { numberLiteral } from './number-literal.ts';
import { readCallTail, readLambda, readParenthesised } from './parse-call.ts';
import { readKeywordCall } from './parse-keyword-call.ts';
import { readTypedLiteral } from './parse-literal.ts';
import { readDataType } from './read-type.ts';
import { syntaxError } from './syntax-error.ts';
import { TokenStream } from './token-stream.ts';
import { type Token, tokenize } from './tokens.ts';

/** Expressions nest at most this deep; long chains of AND and OR count by the logarithm of their length. */
export const maxExpressionDepth: number = 400;

/**
 * An expression in Spark's dialect, not bound to columns.
 *
 * @throws ParseException `PARSE_SYNTAX_ERROR` 42601; `UNSUPPORTED_SUBQUERY` for a query inside; `EXPRESSION_TOO_DEEP`.
 */
export function parseExpression(text: string): Expression {
  const stream = new TokenStream(text, readTokens(text));
  const expression = new ExpressionParser(stream).readExpression();
  stream.expectEnd('AND', 'OR');
  return expression;
}

/**
 * The tokens of a text with what `IDENTIFIER(…)` names in its place. `parameters`: values of those that stand in it.
 *
 * @throws ParseException as `tokenize`; what `expandIdentifiers` throws, `UNBOUND_SQL_PARAMETER`.
 */
export function readTokens(text: string, parameters: ParameterValues = {}): readonly Token[] {
  return expandIdentifiers(tokenize(text), (tokens) => {
    const stream = new TokenStream(text, tokens);
    const expression = new ExpressionParser(stream, { parameters }).readExpression();
    stream.expectEnd("')'");
    return expression;
  });
}

/** An expression and its text, as written. */
export interface WrittenExpression {
  readonly expression: Expression;
  readonly text: string;
}

const comparisons: Readonly<Record<string, BinaryOperator>> = {
  '=': '=',
  '==': '=',
  '<>': '<>',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '<=>': '<=>',
};

// From loose to tight; comparisons bind loosest, as in Spark's grammar.
const levels: readonly Readonly<Record<string, BinaryOperator>>[] = [
  comparisons,
  { '|': '|' },
  { '^': '^' },
  { '&': '&' },
  { '+': '+', '-': '-', '||': '||' },
  { '*': '*', '/': '/', '%': '%', DIV: 'div' },
];
/** Sums; what shifts them binds looser than they do. */
const sumLevel = 4;
/** Words that end an operand or begin the next part of an expression; as names they need backticks. */
const reserved: ReadonlySet<string> = new Set(
  'AND OR IN IS LIKE ILIKE RLIKE REGEXP BETWEEN THEN WHEN ELSE WHERE SELECT AS DIV HAVING'.split(' '),
);

/** Reads expressions at the place of a token stream; leaves the stream behind each. Other parsers share the stream. */
export class ExpressionParser {
  readonly stream: TokenStream;
  readonly #parameters: ParameterValues | undefined;
  #depth = 0;

  /** `parameters`: values to put in the place of `:name` and `?`; without them the places stay in the expressions. */
  constructor(stream: TokenStream, options: { readonly parameters?: ParameterValues | undefined } = {}) {
    this.stream = stream;
    this.#parameters = options.parameters;
  }

  /** @throws ParseException as `parseExpression`. */
  readExpression(): Expression {
    return this.nested(() => this.#readLogical('OR'));
  }

  /** An operand of a comparison: no comparison, no predicate, no AND or OR outside parentheses. */
  readOperand(): Expression {
    return this.nested(() => this.#readBinary(1));
  }

  /** An expression with the text it was read from, comments and all. */
  readExpressionText(): WrittenExpression {
    const from = this.stream.position.offset;
    const expression = this.readExpression();
    return { expression, text: this.stream.text.slice(from, this.stream.peek(-1).end) };
  }

  /** `expression [[AS] name]`, `*` or `t.*`: an item of a select list. */
  readSelectItem(): Expression {
    if (this.stream.takeOperator('*')) return { kind: 'star' };
    const operand = this.readExpression();
    const token = this.stream.peek();
    if (this.stream.atWords('AS') && this.stream.atOperator('(', 1)) {
      this.stream.next();
      const [name = '', ...otherNames] = this.stream.parenthesised(() => this.stream.expectName('an alias'));
      return { kind: 'alias', operand, name, otherNames };
    }
    if (this.stream.takeWords('AS') || token.kind === 'quoted-name' || (token.kind === 'word' && operand.kind !== 'star')) {
      return { kind: 'alias', operand, name: this.stream.expectName('an alias') };
    }
    return operand;
  }

  /** Runs a step of one level deeper nesting. */
  nested<T>(read: () => T): T {
    if (this.#depth >= maxExpressionDepth) throw this.#tooDeep();
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  #tooDeep(): ParseException {
    const { position, text } = this.stream;
    const message = `expression nests deeper than ${maxExpressionDepth}`;
    return syntaxError({ text, position, found: '', errorClass: 'EXPRESSION_TOO_DEEP', message });
  }

  #readLogical(operator: 'OR' | 'AND'): Expression {
    const readOperand = (): Expression => (operator === 'OR' ? this.#readLogical('AND') : this.#readNot());
    const operands = [readOperand()];
    while (this.stream.takeWords(operator)) operands.push(readOperand());
    return balanced(operator === 'OR' ? 'or' : 'and', operands);
  }

  #readNot(): Expression {
    if (!this.stream.takeWords('NOT') && !this.stream.takeOperator('!')) return this.#readPredicate();
    return { kind: 'unary', operator: 'not', operand: this.nested(() => this.#readNot()) };
  }

  #readPredicate(): Expression {
    const operand = this.#readBinary(0);
    const { stream } = this;
    if (stream.takeWords('IS')) return this.#readIs(operand);
    const negated = stream.takeWords('NOT');
    if (stream.takeWords('BETWEEN')) {
      const low = this.#readBinary(1);
      stream.expectWords('AND');
      return { kind: 'between', operand, low, high: this.#readBinary(1), negated };
    }
    if (stream.takeWords('IN')) {
      if (stream.atOperator('(')) this.#refuseSubquery(1);
      return { kind: 'in', operand, options: stream.parenthesised(() => this.readExpression()), negated };
    }
    const form = stream.takeOneOf('LIKE', 'ILIKE', 'RLIKE', 'REGEXP');
    if (form !== undefined) return this.#readLike(operand, form, negated);
    if (negated) throw stream.unexpected('BETWEEN', 'IN', 'LIKE', 'ILIKE', 'RLIKE');
    return operand;
  }

  #readIs(operand: Expression): Expression {
    const { stream } = this;
    const negated = stream.takeWords('NOT');
    if (stream.takeWords('DISTINCT')) {
      stream.expectWords('FROM');
      return { kind: 'is-distinct', left: operand, right: this.#readBinary(1), negated };
    }
    const word = stream.expectOneOf('NULL', 'TRUE', 'FALSE', 'UNKNOWN');
    const test = word === 'TRUE' ? 'true' : word === 'FALSE' ? 'false' : 'null';
    return { kind: 'is', operand, test, negated };
  }

  #readLike(operand: Expression, word: string, negated: boolean): Expression {
    const { stream } = this;
    const form = word === 'LIKE' ? 'like' : word === 'ILIKE' ? 'ilike' : 'rlike';
    const quantifier = form === 'rlike' ? undefined : stream.takeOneOf('ANY', 'SOME', 'ALL');
    if (quantifier !== undefined && stream.atOperator('(')) {
      const patterns = stream.parenthesised(() => this.readExpression());
      const tests = patterns.map((pattern): Expression => ({ kind: 'like', form, operand, pattern, negated }));
      return balanced(quantifier === 'ALL' ? 'and' : 'or', tests);
    }
    const pattern = this.#readBinary(1);
    if (form === 'rlike' || !stream.takeWords('ESCAPE')) return { kind: 'like', form, operand, pattern, negated };
    const token = stream.peek();
    const escape = stream.expectString('one character in quotes');
    if (!/^.$/su.test(escape)) throw stream.unexpectedAt(token, 'one character in quotes');
    return { kind: 'like', form, operand, pattern, escape, negated };
  }

  #readBinary(level: number): Expression {
    if (level === levels.length) return this.#readUnary();
    const left = this.#chain(level, this.#readBinary(level + 1));
    return level === sumLevel ? this.#shifted(left) : left;
  }

  /** What begins with an operand, and goes on with operators of the level. */
  #chain(level: number, first: Expression): Expression {
    const operators = levels[level] ?? {};
    let left = first;
    let count = 0;
    for (let operator = this.#binaryOperator(operators); operator !== undefined; operator = this.#binaryOperator(operators)) {
      this.stream.next();
      // Each operand of a chain lies one level deeper.
      if (++count + this.#depth > maxExpressionDepth) throw this.#tooDeep();
      left = { kind: 'binary', operator, left, right: this.#readBinary(level + 1) };
    }
    return left;
  }

  /** A sum with the shifts behind it, which are read by their signs one by one: `>>` may as well end two types. */
  #shifted(sum: Expression): Expression {
    let left = sum;
    for (let count = 1, name = this.#shift(); name !== undefined; name = this.#shift()) {
      if (++count + this.#depth > maxExpressionDepth) throw this.#tooDeep();
      for (let sign = 0; sign < name.length; sign++) this.stream.next();
      left = { kind: 'call', name, arguments: [left, this.#chain(sumLevel, this.#readBinary(sumLevel + 1))] };
    }
    return left;
  }

  /** The shift whose signs come next, one directly behind the other. */
  #shift(): string | undefined {
    const { stream } = this;
    const first = stream.peek();
    if (first.kind !== 'operator' || (first.value !== '<' && first.value !== '>')) return undefined;
    let length = 1;
    while (stream.atOperator(first.value, length) && stream.peek(length).position.offset === first.position.offset + length) length += 1;
    return length === 2 || (length === 3 && first.value === '>') ? first.value.repeat(length) : undefined;
  }

  #binaryOperator(operators: Readonly<Record<string, BinaryOperator>>): BinaryOperator | undefined {
    const { kind, value } = this.stream.peek();
    if (kind !== 'operator' && kind !== 'word') return undefined;
    const key = kind === 'word' ? value.toUpperCase() : value;
    return Object.hasOwn(operators, key) ? operators[key] : undefined;
  }

  #readUnary(): Expression {
    const { stream } = this;
    const token = stream.peek();
    if (token.kind !== 'operator' || !['-', '+', '~'].includes(token.value)) return this.#readPostfix();
    stream.next();
    if (token.value === '-' && stream.peek().kind === 'number') return this.#readPostfixOf(this.#readNumber({ negative: true }));
    const operator: UnaryOperator = token.value === '-' ? '-' : token.value === '+' ? '+' : '~';
    return { kind: 'unary', operator, operand: this.nested(() => this.#readUnary()) };
  }

  #readPostfix(): Expression {
    return this.#readPostfixOf(this.#readPrimary());
  }

  #readPostfixOf(primary: Expression): Expression {
    const { stream } = this;
    let operand = primary;
    for (let count = 0; ; count++) {
      if (count + this.#depth > maxExpressionDepth) throw this.#tooDeep();
      if (stream.takeOperator('::')) operand = { kind: 'cast', operand, type: readDataType(stream), safe: false };
      else if (stream.takeOperator('[')) {
        operand = { kind: 'element', operand, index: this.readExpression() };
        stream.expectOperator(']');
      } else if (stream.atOperator('(') && isSystemName(operand)) {
        operand = this.#readSystemCall(operand.path.at(-1) ?? '');
      } else if (stream.atOperator('.') && operand.kind !== 'star') {
        stream.next();
        operand = this.#readMember(operand);
      } else return operand;
    }
  }

  #readSystemCall(name: string): Expression {
    const head = { name: `system.${name}`, at: this.stream.position };
    return this.nested(() => readCallTail(this, head));
  }

  #readMember(operand: Expression): Expression {
    const { stream } = this;
    if (stream.takeOperator('*')) {
      if (operand.kind !== 'column') throw stream.unexpectedAt(stream.peek(-1), 'a member name');
      return { kind: 'star', qualifier: operand.path.join('.') };
    }
    const name = stream.expectName('a member name');
    return operand.kind === 'column' ? { ...operand, path: [...operand.path, name] } : { kind: 'member', operand, name };
  }

  #readPrimary(): Expression {
    const { stream } = this;
    const token = stream.peek();
    switch (token.kind) {
      case 'number':
        return this.#readNumber({ negative: false });
      case 'string':
      case 'binary':
        return readTypedLiteral(stream);
      case 'parameter':
        return this.#readParameter();
      case 'operator':
        if (token.value !== '(') throw stream.unexpected('an expression');
        this.#refuseSubquery(1);
        return this.nested(() => readLambda(this) ?? readParenthesised(this));
      case 'quoted-name':
        return stream.atOperator('(', 1) ? this.#readCall() : this.#readColumn();
      case 'word':
        return this.#readWord();
      case 'end':
        throw stream.unexpected('an expression');
    }
  }

  #readParameter(): Expression {
    const { value, position: at } = this.stream.next();
    const name = value === '?' ? this.stream.takeParameterNumber() : value;
    const parameter: Expression = { kind: 'parameter', name, at };
    return this.#parameters === undefined ? parameter : bindParameters(parameter, this.#parameters);
  }

  #readWord(): Expression {
    const { stream } = this;
    const token = stream.peek();
    if (stream.atWords('EXISTS') && stream.atOperator('(', 1)) this.#refuseSubquery(2);
    const special = readKeywordCall(this);
    if (special !== undefined) return special;
    const word = token.value.toUpperCase();
    if (stream.atOperator('(', 1) && (!reserved.has(word) || word === 'RLIKE' || word === 'REGEXP')) return this.#readCall();
    if (reserved.has(word)) throw stream.unexpected('an expression');
    const lambda = stream.atOperator('->', 1) ? this.nested(() => readLambda(this)) : undefined;
    return lambda ?? this.#readColumn();
  }

  #readColumn(): Expression {
    const at = this.stream.position;
    return { kind: 'column', path: [this.stream.expectName()], at };
  }

  #readCall(): Expression {
    const at = this.stream.position;
    const name = this.stream.expectName('a function');
    return this.nested(() => readCallTail(this, { name, at }));
  }

  #readNumber(options: { readonly negative: boolean }): Expression {
    const token = this.stream.next();
    const literal = numberLiteral(token.value, options);
    if (literal !== undefined) return { kind: 'literal', literal };
    const { text } = this.stream;
    const message = `Numeric literal ${options.negative ? '-' : ''}${token.value} is outside the valid range of its type`;
    throw syntaxError({ text, position: token.position, found: token.value, errorClass: 'INVALID_NUMERIC_LITERAL_RANGE', message });
  }

  #refuseSubquery(ahead: number): void {
    const token = this.stream.peek(ahead);
    if (token.kind !== 'word' || !['SELECT', 'WITH'].includes(token.value.toUpperCase())) return;
    // A column may be called so: `(with + 1)`.
    if (this.stream.peek(ahead + 1).kind === 'operator' && !this.stream.atOperator('*', ahead + 1)) return;
    throw syntaxError({
      text: this.stream.text,
      position: token.position,
      found: token.value,
      errorClass: 'UNSUPPORTED_SUBQUERY',
      message: 'Subqueries are not supported in this expression',
      hint: 'join with the query instead: MERGE INTO … USING (SELECT …)',
    });
  }
}

/** `system.bucket`, also behind a catalog's name: a function of Iceberg's. */
function isSystemName(operand: Expression): operand is Extract<Expression, { kind: 'column' }> {
  return operand.kind === 'column' && operand.path.length > 1 && operand.path.length < 4 && operand.path.at(-2)?.toLowerCase() === 'system';
}

/** The tree Spark builds of a chain: left to right for short ones, of logarithmic depth for long ones. */
function balanced(operator: 'and' | 'or', operands: readonly Expression[]): Expression {
  const build = (from: number, until: number): Expression | undefined => {
    if (until - from <= 1) return operands[from];
    const middle = from + Math.floor((until - 1 - from) / 2) + 1;
    const left = build(from, middle);
    const right = build(middle, until);
    return left === undefined || right === undefined ? (left ?? right) : { kind: 'binary', operator, left, right };
  };
  return build(0, operands.length) ?? { kind: 'literal', literal: { type: 'boolean', value: operator === 'and' } };
}
