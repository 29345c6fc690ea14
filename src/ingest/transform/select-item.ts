import type { Expression } from '../../expr/expression.ts';
import { ExpressionParser, readTokens } from '../../expr/parse/parse-expression.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import { tokenize } from '../../expr/parse/tokens.ts';

/** One entry of a select list. */
export type SelectItem =
  | { readonly kind: 'value'; readonly value: Expression; readonly names: readonly string[] }
  | { readonly kind: 'star'; readonly except: readonly string[] };

/** `a + 1 AS b`, `posexplode(list) AS (place, value)`, `*`, `* EXCEPT (a, b)`. @throws ParseException. */
export function parseSelectItem(text: string): SelectItem {
  const stream = new TokenStream(text, readTokens(text));
  const item = readItem(stream);
  stream.expectEnd('AS');
  return item;
}

function readItem(stream: TokenStream): SelectItem {
  if (stream.takeOperator('*')) {
    const except = stream.takeWords('EXCEPT') ? stream.parenthesised(() => stream.expectName('a column name')) : [];
    return { kind: 'star', except };
  }
  const item = new ExpressionParser(stream).readSelectItem();
  return item.kind === 'alias'
    ? { kind: 'value', value: item.operand, names: [item.name, ...(item.otherNames ?? [])].filter((name) => name !== '') }
    : { kind: 'value', value: item, names: [] };
}

/** The entries of a select list, as written. @throws ParseException. */
export function splitSelectList(text: string): readonly string[] {
  const items: string[] = [];
  let from = 0;
  let depth = 0;
  for (const { kind, value, position } of tokenize(text)) {
    if (kind !== 'operator') continue;
    if ('([{'.includes(value)) depth += 1;
    if (')]}'.includes(value)) depth -= 1;
    if (value !== ',' || depth > 0) continue;
    items.push(text.slice(from, position.offset).trim());
    from = position.offset + 1;
  }
  return [...items, text.slice(from).trim()];
}
