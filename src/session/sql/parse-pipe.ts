import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression } from '../../expr/expression.ts';
import { hasAggregate } from '../../expr/expression-tree.ts';
import { readSortKey } from '../../expr/parse/parse-call.ts';
import type { Plan, Select, SetOperation } from '../plan/plan.ts';
import { FromParser } from './parse-from.ts';
import { readPivot } from './parse-pivot.ts';
import { readSample } from './parse-sample.ts';
import type { QueryReader } from './query-reader.ts';

/** What the steps of a pipe need of the parser of queries. */
export interface PipeReader extends QueryReader {
  readItems(): Pick<Select, 'distinct' | 'columns'>;
  readLimit(input: Plan): Plan;
  /** `UNION [ALL]`, `EXCEPT`, `INTERSECT` …; `undefined` when none comes next. */
  readSetOperation(): SetOperation | undefined;
  /** A query without an order of its own. */
  readTerm(): Plan;
}

type Step = (reader: PipeReader, input: Plan) => Plan;

const steps: Readonly<Record<string, Step>> = {
  SELECT: (reader, input) => {
    const items = reader.readItems();
    for (const item of items.columns) refuseAggregate(item.kind === 'star-item' ? undefined : item, 'SELECT');
    return { kind: 'select', ...items, input };
  },
  EXTEND: (reader, input) => {
    const { columns } = reader.readItems();
    for (const item of columns) refuseAggregate(item.kind === 'star-item' ? undefined : item, 'EXTEND');
    return { kind: 'select', columns: [{ kind: 'star-item', except: [] }, ...columns], input };
  },
  SET: readSet,
  DROP: ({ stream }, input) => {
    const except = stream.list(() => stream.expectName('a column name'));
    refuseRepeated(except);
    return { kind: 'select', columns: [{ kind: 'star-item', except }], input };
  },
  AS: ({ stream }, input) => ({ kind: 'alias', name: stream.expectName('a name for the rows'), input }),
  WHERE: ({ expressions }, input) => ({ kind: 'filter', condition: expressions.readExpression(), input }),
  AGGREGATE: readAggregate,
  ORDER: readOrder,
};

/** Words that begin a step whose reader wants to see them. */
const otherWords: readonly string[] = ['LIMIT', 'OFFSET', 'JOIN', 'UNION', 'EXCEPT', 'INTERSECT', 'PIVOT', 'UNPIVOT', 'TABLESAMPLE'];

/** `|> step |> step` behind a query: each takes the rows of what stands before it. */
export function readPipes(reader: PipeReader, query: Plan): Plan {
  let input = query;
  while (reader.stream.takeOperator('|>')) input = readStep(reader, input);
  return input;
}

function readStep(reader: PipeReader, input: Plan): Plan {
  const { stream } = reader;
  const word = stream.takeOneOf(...Object.keys(steps));
  const read = word === undefined ? undefined : steps[word];
  if (read !== undefined) return read(reader, input);
  if (stream.atWords('LIMIT') || stream.atWords('OFFSET')) return reader.readLimit(input);
  if (stream.atWords('PIVOT') || stream.atWords('UNPIVOT')) return readPivot(reader, input);
  if (stream.atWords('TABLESAMPLE')) return readSample(reader, input);
  const operation = reader.readSetOperation();
  if (operation !== undefined) return { kind: 'set', operation, left: input, right: reader.readTerm() };
  const joined = new FromParser(reader).readJoin(input);
  if (joined === undefined) throw stream.unexpected(...Object.keys(steps), ...otherWords);
  return joined;
}

/** Each value sees those that were set before it. */
function readSet({ stream, expressions }: PipeReader, input: Plan): Plan {
  let rows = input;
  stream.list(() => {
    const name = stream.expectName('a column name');
    stream.expectOperator('=');
    const value = expressions.readExpression();
    refuseAggregate(value, 'SET');
    rows = { kind: 'with-columns', columns: [{ name, value }], presentOnly: true, input: rows };
  });
  return rows;
}

function readOrder({ stream, expressions }: PipeReader, input: Plan): Plan {
  stream.expectWords('BY');
  const keys = stream.list(() => readSortKey(expressions));
  if (!stream.atWords('LIMIT') && !stream.atWords('OFFSET')) return { kind: 'sort', keys, input };
  throw new AnalysisException({
    errorClass: 'MULTIPLE_QUERY_RESULT_CLAUSES_WITH_PIPE_OPERATORS',
    message: 'ORDER BY and LIMIT cannot coexist in the same SQL pipe operator using "|>".',
    hint: 'separate them: |> ORDER BY … |> LIMIT …',
    parameters: { clause1: 'ORDER BY', clause2: 'LIMIT' },
  });
}

/** The keys come out before the aggregates. */
function readAggregate(reader: PipeReader, input: Plan): Plan {
  const { stream } = reader;
  const aggregates = stream.atWords('GROUP', 'BY') ? [] : stream.list(() => readNamed(reader));
  for (const aggregate of aggregates) requireAggregate(aggregate);
  const groups = stream.takeWords('GROUP', 'BY') ? stream.list(() => readKey(reader)) : [];
  return { kind: 'aggregate', groups, byPlace: true, aggregates, input };
}

function readKey(reader: PipeReader): Expression {
  const { stream } = reader;
  const form = ['ROLLUP', 'CUBE', 'GROUPING'].find((word) => stream.atWords(word));
  if (form !== undefined && (stream.atOperator('(', 1) || stream.atWords('GROUPING', 'SETS'))) {
    throw new AnalysisException({
      errorClass: 'UNSUPPORTED_FEATURE.PIPE_OPERATOR_AGGREGATE_UNSUPPORTED_CASE',
      kind: 'unsupported',
      message: `The SQL pipe operator syntax with aggregation (using |> AGGREGATE) does not support ${form}.`,
      hint: 'take a SELECT with GROUP BY in parentheses',
      parameters: { case: form },
    });
  }
  return readNamed(reader);
}

function readNamed({ stream, expressions }: PipeReader): Expression {
  const operand = expressions.readExpression();
  const token = stream.peek();
  const bare = token.kind === 'quoted-name' || (token.kind === 'word' && !stream.atWords('GROUP'));
  if (!stream.takeWords('AS') && !bare) return operand;
  return { kind: 'alias', operand, name: stream.expectName('an alias') };
}

function refuseRepeated(names: readonly string[]): void {
  const lower = names.map((name) => name.toLowerCase());
  if (new Set(lower).size === lower.length) return;
  throw new AnalysisException({
    errorClass: 'EXCEPT_OVERLAPPING_COLUMNS',
    message: `Columns in an EXCEPT list must be distinct and non-overlapping, but got (${names.join(', ')}).`,
    parameters: { columns: names.join(', ') },
  });
}

function refuseAggregate(value: Expression | undefined, clause: string): void {
  if (value === undefined || !hasAggregate(value)) return;
  throw new AnalysisException({
    errorClass: 'PIPE_OPERATOR_CONTAINS_AGGREGATE_FUNCTION',
    message: `Aggregate functions are not allowed when using the pipe operator |> ${clause} clause.`,
    hint: 'take |> AGGREGATE',
    parameters: { clause },
  });
}

function requireAggregate(value: Expression): void {
  if (hasAggregate(value)) return;
  throw new AnalysisException({
    errorClass: 'PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION',
    message:
      'Non-grouping expression is provided as an argument to the |> AGGREGATE pipe operator but does not contain any aggregate function.',
    hint: 'update it to include an aggregate function, or write it behind GROUP BY',
  });
}
