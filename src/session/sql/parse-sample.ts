import { syntaxError } from '../../expr/parse/syntax-error.ts';
import type { TokenStream } from '../../expr/parse/token-stream.ts';
import type { Plan } from '../plan/plan.ts';
import type { QueryReader } from './query-reader.ts';

/** `TABLESAMPLE (10 PERCENT | 5 ROWS) [REPEATABLE (seed)]` behind a relation; the rows themselves where it does not come next. */
export function readSample({ stream, expressions }: QueryReader, input: Plan): Plan {
  if (!stream.takeWords('TABLESAMPLE')) return input;
  stream.expectOperator('(');
  if (stream.atWords('BUCKET')) throw unsupported(stream, 'BUCKET', 'tables have no buckets: take PERCENT or ROWS');
  const negative = stream.takeOperator('-');
  const token = stream.peek();
  if (/^\d+b$/iu.test(token.value)) throw unsupported(stream, 'a number of bytes', 'take PERCENT or ROWS');
  if (token.kind === 'number' && stream.atOperator(')', 1)) throw stream.unexpectedAt(stream.peek(1), 'PERCENT', 'ROWS');
  const count = expressions.readExpression();
  const unit = stream.expectOneOf('PERCENT', 'ROWS');
  stream.expectOperator(')');
  const seed = readSeed(stream);
  if (unit === 'ROWS') return { kind: 'limit', count: negative ? { kind: 'unary', operator: '-', operand: count } : count, input };
  const percent = Number(token.value.replace(/(?:BD|[LSYDF])$/iu, '')) * (negative ? -1 : 1);
  if (token.kind !== 'number' || Number.isNaN(percent)) throw stream.unexpectedAt(token, 'a number');
  if (percent < 0 || percent > 100) {
    const message = `Sampling fraction (${percent / 100}) must be on interval [0, 1]`;
    throw syntaxError({ text: stream.text, position: token.position, found: token.value, errorClass: '_LEGACY_ERROR_TEMP_0064', message });
  }
  return { kind: 'sample', fraction: percent / 100, seed, input };
}

function readSeed(stream: TokenStream): number {
  // As DataFrame.sample without a seed.
  if (!stream.takeWords('REPEATABLE')) return 0;
  stream.expectOperator('(');
  const token = stream.peek();
  if (token.kind !== 'number' || !/^\d{1,9}$/u.test(token.value)) throw stream.unexpected('a whole number');
  stream.next();
  stream.expectOperator(')');
  return Number(token.value);
}

function unsupported(stream: TokenStream, what: string, hint: string): Error {
  const { position, value } = stream.peek();
  const message = `TABLESAMPLE of ${what} is not supported`;
  return syntaxError({ text: stream.text, position, found: value, errorClass: 'UNSUPPORTED_FEATURE', message, hint });
}
