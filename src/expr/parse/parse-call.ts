import { AnalysisException, type TextPosition } from '../../base/analysis-exception.ts';
import type { Expression, FrameBound, SortKey, Window } from '../expression.ts';
import type { TokenStream } from './token-stream.ts';

/** What the parsers of parts need of the expression parser. */
export interface ExpressionReader {
  readonly stream: TokenStream;
  readExpression(): Expression;
  /** An operand without comparisons and predicates. */
  readOperand(): Expression;
  nested<T>(read: () => T): T;
}

type Call = Extract<Expression, { kind: 'call' }>;

/** From the opening parenthesis of a call to the end of its FILTER and OVER. */
export function readCallTail(reader: ExpressionReader, head: { readonly name: string; readonly at: TextPosition }): Expression {
  const { stream } = reader;
  stream.expectOperator('(');
  const distinct = stream.takeOneOf('DISTINCT', 'ALL') === 'DISTINCT';
  const star = stream.atOperator('*') && stream.atOperator(')', 1);
  if (star) stream.next();
  const given = star || stream.atOperator(')') ? [] : stream.list(() => readArgument(reader));
  let ignoreNulls = readNullTreatment(stream);
  stream.expectOperator(')');
  const order = stream.atWords('WITHIN', 'GROUP') ? readWithinGroup(reader, head.name, given.length) : [];
  const filter = stream.atWords('FILTER') && stream.atOperator('(', 1) ? readFilter(reader) : undefined;
  ignoreNulls ||= readNullTreatment(stream);
  const over = stream.atWords('OVER') && stream.atOperator('(', 1) ? readWindow(reader) : undefined;
  const call: Call = { kind: 'call', name: head.name, arguments: [...withUnit(head.name, given), ...order], at: head.at };
  const rows = asRowMaker(call);
  if (rows !== call) return rows;
  return {
    ...call,
    ...(distinct ? { distinct } : {}),
    ...(star ? { star } : {}),
    ...(ignoreNulls ? { ignoreNulls } : {}),
    ...(filter === undefined ? {} : { filter }),
    ...(over === undefined ? {} : { over }),
  };
}

/** Aggregates over ordered rows, with the number of their own arguments. */
const orderedAggregates: Readonly<Record<string, number | undefined>> = {
  listagg: 2,
  string_agg: 2,
  percentile_cont: 1,
  percentile_disc: 1,
};

/** `WITHIN GROUP (ORDER BY key)` as arguments behind the aggregate's own: the key, and whether it descends. */
function readWithinGroup(reader: ExpressionReader, name: string, given: number): readonly Expression[] {
  const { stream } = reader;
  const own = orderedAggregates[name.toLowerCase()];
  if (own === undefined || given > own) throw stream.unexpected('the end of a call without WITHIN GROUP');
  stream.expectWords('WITHIN', 'GROUP');
  stream.expectOperator('(');
  stream.expectWords('ORDER', 'BY');
  const { expression, descending } = readSortKey(reader);
  stream.expectOperator(')');
  const missing = Array.from({ length: own - given }, (): Expression => ({ kind: 'literal', literal: { type: 'null' } }));
  return [...missing, expression, { kind: 'literal', literal: { type: 'boolean', value: descending } }];
}

/** Each is a part of the expression. */
const maxStackedRows = 100_000;

function noRowCount(rows: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE',
    message: `Cannot resolve "stack(${rows}, …)" due to data type mismatch: The \`n\` must be between (0, ${maxStackedRows}] (current value = ${rows}).`,
    parameters: { exprName: 'n', valueRange: `(0, ${maxStackedRows}]`, currentValue: String(rows) },
  });
}

/** `stack(n, …)`: n rows of the values, columns `col0`, `col1` …, as the structs of one list. */
function stacked(call: Call): Expression {
  const [count, ...values] = call.arguments;
  const rows = count?.kind === 'literal' && count.literal.type === 'integer' ? Number(count.literal.value) : undefined;
  if (rows === undefined || rows > maxStackedRows || values.length === 0) return call;
  if (rows < 1) throw noRowCount(rows);
  const width = Math.ceil(values.length / rows);
  const structs = Array.from({ length: rows }, (_, row): Expression => {
    const members = Array.from({ length: width }, (_member, column): Expression => {
      const operand = values[row * width + column] ?? { kind: 'literal', literal: { type: 'null' } };
      return { kind: 'alias', operand, name: `col${column}` };
    });
    return { kind: 'call', name: 'struct', arguments: members };
  });
  return { ...call, name: 'inline', arguments: [{ kind: 'call', name: 'array', arguments: structs }] };
}

/** `json_tuple(text, 'a', 'b')`: a row of the members of an object, columns `c0`, `c1` …, as the struct of a list. */
function jsonTuple(call: Call): Expression {
  const [text, ...names] = call.arguments;
  const members = names.flatMap((name, column): readonly Expression[] => {
    const member = name.kind === 'literal' && name.literal.type === 'string' ? name.literal.value : "'";
    // No path could tell such a name.
    if (text === undefined || member.includes("'")) return [];
    const path: Expression = { kind: 'literal', literal: { type: 'string', value: `$['${member}']` } };
    return [{ kind: 'alias', operand: { kind: 'call', name: 'get_json_object', arguments: [text, path] }, name: `c${column}` }];
  });
  if (members.length === 0 || members.length < names.length) return call;
  const row: Expression = { kind: 'call', name: 'struct', arguments: members };
  return { ...call, name: 'inline', arguments: [{ kind: 'call', name: 'array', arguments: [row] }] };
}

/** Functions that are written as other ones that make rows. */
const rowMakers: Readonly<Record<string, ((call: Call) => Expression) | undefined>> = { stack: stacked, json_tuple: jsonTuple };

/** The call written as another one, if it is one that is. */
export function asRowMaker(call: Call): Expression {
  return rowMakers[call.name.toLowerCase()]?.(call) ?? call;
}

/** Functions whose first of three arguments is a unit, written as a bare word: `datediff(DAY, a, b)`. */
const unitFunctions: ReadonlySet<string> = new Set(['datediff', 'date_diff', 'timestampdiff', 'dateadd', 'timestampadd']);

function withUnit(name: string, given: readonly Expression[]): readonly Expression[] {
  const [unit, ...rest] = given;
  if (given.length !== 3 || unit?.kind !== 'column' || !unitFunctions.has(name.toLowerCase())) return given;
  return [{ kind: 'literal', literal: { type: 'string', value: unit.path.join('.') } }, ...rest];
}

/** `x -> body` or `(x, y) -> body`; `undefined`, with nothing read, when something else comes next. */
export function readLambda(reader: ExpressionReader): Expression | undefined {
  const { stream } = reader;
  const mark = stream.mark();
  const parameters: string[] = [];
  if (stream.takeOperator('(')) {
    do {
      if (!isName(stream)) break;
      parameters.push(stream.next().value);
    } while (stream.takeOperator(','));
    if (!stream.takeOperator(')')) parameters.length = 0;
  } else if (isName(stream)) parameters.push(stream.next().value);
  if (parameters.length === 0 || !stream.takeOperator('->')) {
    stream.reset(mark);
    return undefined;
  }
  return { kind: 'lambda', parameters, body: reader.readExpression() };
}

/** `(expression)`; `(a, b)` is a struct of both. */
export function readParenthesised(reader: ExpressionReader): Expression {
  const at = reader.stream.position;
  const parts = reader.stream.parenthesised(() => reader.readExpression());
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : { kind: 'call', name: 'struct', arguments: parts, at };
}

/** `struct(*, x AS y)` takes all columns as members. */
function readArgument(reader: ExpressionReader): Expression {
  if (reader.stream.takeOperator('*')) return { kind: 'star' };
  const operand = reader.readExpression();
  return reader.stream.takeWords('AS') ? { kind: 'alias', operand, name: reader.stream.expectName('a member name') } : operand;
}

function isName(stream: TokenStream): boolean {
  const { kind } = stream.peek();
  return kind === 'word' || kind === 'quoted-name';
}

function readNullTreatment(stream: TokenStream): boolean {
  if (stream.takeWords('IGNORE', 'NULLS')) return true;
  stream.takeWords('RESPECT', 'NULLS');
  return false;
}

function readFilter(reader: ExpressionReader): Expression {
  const { stream } = reader;
  stream.expectWords('FILTER');
  stream.expectOperator('(');
  stream.expectWords('WHERE');
  const filter = reader.readExpression();
  stream.expectOperator(')');
  return filter;
}

function readWindow(reader: ExpressionReader): Window {
  const { stream } = reader;
  stream.expectWords('OVER');
  stream.expectOperator('(');
  let partitionBy: readonly Expression[] = [];
  if (stream.takeOneOf('PARTITION', 'DISTRIBUTE') !== undefined) {
    stream.expectWords('BY');
    partitionBy = stream.list(() => reader.readExpression());
  }
  let orderBy: readonly SortKey[] = [];
  if (stream.takeOneOf('ORDER', 'SORT') !== undefined) {
    stream.expectWords('BY');
    orderBy = stream.list(() => readSortKey(reader));
  }
  const unit = stream.takeOneOf('ROWS', 'RANGE');
  const frame = unit === undefined ? undefined : { unit: unit === 'ROWS' ? ('rows' as const) : ('range' as const), ...readFrame(stream) };
  stream.expectOperator(')');
  return { partitionBy, orderBy, ...(frame === undefined ? {} : { frame }) };
}

/** `expression [ASC | DESC] [NULLS FIRST | LAST]`. */
export function readSortKey(reader: ExpressionReader): SortKey {
  const { stream } = reader;
  const expression = reader.readExpression();
  const descending = stream.takeOneOf('ASC', 'DESC') === 'DESC';
  if (!stream.takeWords('NULLS')) return { expression, descending };
  return { expression, descending, nullsFirst: stream.expectOneOf('FIRST', 'LAST') === 'FIRST' };
}

function readFrame(stream: TokenStream): { readonly from: FrameBound; readonly until: FrameBound } {
  if (!stream.takeWords('BETWEEN')) return { from: readBound(stream), until: { kind: 'current-row' } };
  const from = readBound(stream);
  stream.expectWords('AND');
  return { from, until: readBound(stream) };
}

function readBound(stream: TokenStream): FrameBound {
  if (stream.takeWords('CURRENT', 'ROW')) return { kind: 'current-row' };
  const token = stream.peek();
  const unbounded = stream.takeWords('UNBOUNDED');
  if (!unbounded && !/^\d{1,9}$/.test(token.value)) throw stream.unexpected('UNBOUNDED', 'CURRENT', 'a number');
  if (!unbounded) stream.next();
  const kind = stream.expectOneOf('PRECEDING', 'FOLLOWING') === 'PRECEDING' ? 'preceding' : 'following';
  return unbounded ? { kind } : { kind, rows: Number(token.value) };
}
