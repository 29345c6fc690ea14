import type { Expression } from '../expr/expression.ts';
import { ExpressionParser, readTokens } from '../expr/parse/parse-expression.ts';
import { TokenStream } from '../expr/parse/token-stream.ts';

/** SQL text of one column: `a + 1 AS b`, `*`, `t.*`. @throws ParseException. */
export function parseSelectItem(text: string): Expression {
  const stream = new TokenStream(text, readTokens(text));
  const item = new ExpressionParser(stream).readSelectItem();
  stream.expectEnd('AS');
  return item;
}
