import type { Expression, Literal } from '../expression.ts';
import { readInterval } from './interval-literal.ts';
import { parseDateText, parseTimestampText } from './temporal-text.ts';
import type { TokenStream } from './token-stream.ts';

/**
 * A literal that is not a number, when one comes next: `'text'`, `X'1F'`, TRUE, FALSE, NULL, DATE '…', TIMESTAMP '…', INTERVAL ….
 *
 * @throws ParseException `INVALID_TYPED_LITERAL` 42604 for a malformed date or timestamp.
 */
export function readTypedLiteral(stream: TokenStream): Expression {
  return { kind: 'literal', literal: tryTypedLiteral(stream) ?? fail(stream) };
}

/** As `readTypedLiteral`; `undefined`, with nothing read, when something else comes next. */
export function tryTypedLiteral(stream: TokenStream): Literal | undefined {
  const token = stream.peek();
  if (token.kind === 'string') return { type: 'string', value: stream.next().value };
  if (token.kind === 'binary') return { type: 'binary', value: bytesOf(stream.next().value) };
  if (token.kind !== 'word') return undefined;
  const word = token.value.toUpperCase();
  // `true.x` and `date(x)` are something else.
  if (['TRUE', 'FALSE', 'NULL'].includes(word) && !stream.atOperator('.', 1) && !stream.atOperator('(', 1)) {
    stream.next();
    return word === 'NULL' ? { type: 'null' } : { type: 'boolean', value: word === 'TRUE' };
  }
  const after = stream.peek(1);
  if (word === 'INTERVAL' && (after.kind === 'string' || after.kind === 'number' || stream.atOperator('-', 1))) {
    stream.next();
    return readInterval(stream);
  }
  if (after.kind !== 'string' || !['DATE', 'TIMESTAMP', 'TIMESTAMP_LTZ', 'TIMESTAMP_NTZ'].includes(word)) return undefined;
  const literal = temporalLiteral(word, after.value);
  if (literal === undefined) throw stream.unexpectedAt(after, `a ${word} such as '2024-02-29${word === 'DATE' ? "'" : " 10:00:00'"}`);
  stream.next();
  stream.next();
  return literal;
}

function temporalLiteral(word: string, text: string): Literal | undefined {
  if (word === 'DATE') {
    const days = parseDateText(text);
    return days === undefined ? undefined : { type: 'date', days };
  }
  const instant = parseTimestampText(text);
  if (instant === undefined) return undefined;
  if (word === 'TIMESTAMP_NTZ') return { type: 'timestamp_ntz', micros: instant.micros };
  return { type: 'timestamp', micros: instant.micros, ...(instant.zoned ? {} : { local: true }) };
}

function bytesOf(digits: string): Uint8Array {
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  return Uint8Array.from({ length: even.length / 2 }, (_, index) => Number.parseInt(even.slice(2 * index, 2 * index + 2), 16));
}

function fail(stream: TokenStream): never {
  throw stream.unexpected('a literal');
}
