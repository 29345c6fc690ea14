import type { TextPosition } from '../../base/analysis-exception.ts';
import type { Expression } from '../expression.ts';
import type { ExpressionReader } from './parse-call.ts';
import { tryTypedLiteral } from './parse-literal.ts';
import { readDataType } from './read-type.ts';

/** Functions that may stand without parentheses. */
const bareFunctions: ReadonlySet<string> = new Set(['CURRENT_DATE', 'CURRENT_TIMESTAMP', 'LOCALTIMESTAMP', 'CURRENT_USER', 'CURRENT_TIME']);

/**
 * What begins with a keyword: literals, CASE, CAST, and functions with words between their arguments (EXTRACT, SUBSTRING, TRIM, POSITION).
 * `undefined`, with nothing read, when something else comes next.
 */
export function readKeywordCall(reader: ExpressionReader): Expression | undefined {
  const { stream } = reader;
  const literal = tryTypedLiteral(stream);
  if (literal !== undefined) return { kind: 'literal', literal };
  const token = stream.peek();
  const word = token.value.toUpperCase();
  if (word === 'CASE' && !stream.atOperator('.', 1) && stream.peek(1).kind !== 'end') return reader.nested(() => readCase(reader));
  if (!stream.atOperator('(', 1)) {
    if (!bareFunctions.has(word) || stream.atOperator('.', 1)) return undefined;
    stream.next();
    return { kind: 'call', name: token.value, arguments: [], at: token.position };
  }
  const read = keywordCalls[word];
  return read === undefined ? undefined : reader.nested(() => read(reader));
}

function readCase(reader: ExpressionReader): Expression {
  const { stream } = reader;
  stream.expectWords('CASE');
  const operand = stream.atWords('WHEN') ? undefined : reader.readExpression();
  const branches: { readonly when: Expression; readonly then: Expression }[] = [];
  do {
    stream.expectWords('WHEN');
    const when = reader.readExpression();
    stream.expectWords('THEN');
    branches.push({ when, then: reader.readExpression() });
  } while (stream.atWords('WHEN'));
  const otherwise = stream.takeWords('ELSE') ? reader.readExpression() : undefined;
  stream.expectWords('END');
  return { kind: 'case', ...(operand === undefined ? {} : { operand }), branches, ...(otherwise === undefined ? {} : { otherwise }) };
}

const keywordCalls: Readonly<Record<string, ((reader: ExpressionReader) => Expression | undefined) | undefined>> = {
  CAST: (reader) => readCast(reader, false),
  TRY_CAST: (reader) => readCast(reader, true),
  EXTRACT: readExtract,
  SUBSTRING: readSubstring,
  SUBSTR: readSubstring,
  TRIM: readTrim,
  POSITION: readPosition,
  OVERLAY: readOverlay,
  LIKE: (reader) => readLikeCall(reader, 'like'),
  ILIKE: (reader) => readLikeCall(reader, 'ilike'),
};

function readCast(reader: ExpressionReader, safe: boolean): Expression {
  const { stream } = reader;
  stream.next();
  stream.expectOperator('(');
  const operand = reader.readExpression();
  stream.expectWords('AS');
  const type = readDataType(stream);
  stream.expectOperator(')');
  return { kind: 'cast', operand, type, safe };
}

function readExtract(reader: ExpressionReader): Expression {
  const { stream } = reader;
  const at = stream.next().position;
  stream.expectOperator('(');
  const part = stream.peek().kind === 'string' ? stream.expectString() : stream.expectName('a part such as YEAR');
  stream.expectWords('FROM');
  const source = reader.readExpression();
  stream.expectOperator(')');
  return { kind: 'call', name: 'extract', arguments: [textLiteral(part), source], at };
}

function readSubstring(reader: ExpressionReader): Expression {
  const { stream } = reader;
  const head = readHead(reader);
  if (stream.atOperator(')')) return readRest(reader, head, []);
  const source = reader.readExpression();
  if (!stream.takeWords('FROM')) return readRest(reader, head, [source]);
  const from = reader.readExpression();
  const length = stream.takeWords('FOR') ? [reader.readExpression()] : [];
  stream.expectOperator(')');
  return { kind: 'call', ...head, arguments: [source, from, ...length] };
}

function readTrim(reader: ExpressionReader): Expression {
  const { stream } = reader;
  const head = readHead(reader);
  if (stream.atOperator(')')) return readRest(reader, head, []);
  const side = stream.takeOneOf('BOTH', 'LEADING', 'TRAILING');
  const name = side === 'LEADING' ? 'ltrim' : side === 'TRAILING' ? 'rtrim' : 'trim';
  if (side !== undefined && stream.takeWords('FROM')) return readRest(reader, { ...head, name }, [reader.readExpression()]);
  const characters = reader.readExpression();
  if (!stream.takeWords('FROM')) return readRest(reader, { ...head, name }, [characters]);
  const source = reader.readExpression();
  stream.expectOperator(')');
  // Functions disagree which of two arguments comes first; `…_characters` has one order: text, characters.
  return { kind: 'call', ...head, name: `${name}_characters`, arguments: [source, characters] };
}

function readPosition(reader: ExpressionReader): Expression {
  const { stream } = reader;
  const head = readHead(reader);
  if (stream.atOperator(')')) return readRest(reader, head, []);
  const sought = reader.readOperand();
  if (!stream.takeWords('IN')) return readRest(reader, head, [sought]);
  const source = reader.readExpression();
  stream.expectOperator(')');
  return { kind: 'call', ...head, name: 'locate', arguments: [sought, source] };
}

/** `overlay(text PLACING other FROM place [FOR count])`, and the form with commas. */
function readOverlay(reader: ExpressionReader): Expression {
  const { stream } = reader;
  const head = readHead(reader);
  if (stream.atOperator(')')) return readRest(reader, head, []);
  const source = reader.readExpression();
  if (!stream.takeWords('PLACING')) return readRest(reader, head, [source]);
  const other = reader.readExpression();
  stream.expectWords('FROM');
  const from = reader.readExpression();
  const length = stream.takeWords('FOR') ? [reader.readExpression()] : [];
  stream.expectOperator(')');
  return { kind: 'call', ...head, arguments: [source, other, from, ...length] };
}

/** `like(text, pattern)`. */
function readLikeCall(reader: ExpressionReader, form: 'like' | 'ilike'): Expression {
  const { stream } = reader;
  readHead(reader);
  const operand = reader.readExpression();
  stream.expectOperator(',');
  const pattern = reader.readExpression();
  stream.expectOperator(')');
  return { kind: 'like', form, operand, pattern, negated: false };
}

interface CallHead {
  readonly name: string;
  readonly at: TextPosition;
}

function readHead({ stream }: ExpressionReader): CallHead {
  const { value: name, position: at } = stream.next();
  stream.expectOperator('(');
  return { name, at };
}

// The plain form, with commas, after the arguments that are read.
function readRest(reader: ExpressionReader, head: CallHead, first: readonly Expression[]): Expression {
  const { stream } = reader;
  const rest: Expression[] = [];
  while (first.length > 0 && stream.takeOperator(',')) rest.push(reader.readExpression());
  stream.expectOperator(')');
  return { kind: 'call', ...head, arguments: [...first, ...rest] };
}

function textLiteral(value: string): Expression {
  return { kind: 'literal', literal: { type: 'string', value } };
}
