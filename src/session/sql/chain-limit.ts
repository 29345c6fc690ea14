import { syntaxError } from '../../expr/parse/syntax-error.ts';
import type { TokenStream } from '../../expr/parse/token-stream.ts';

/** Links of a chain of set operations or joins: each is a level of the query, and levels are held on the stack. */
const maxLinks = 2_000;

/** @throws ParseException `QUERY_TOO_LONG` for a chain with more links than a query may have. */
export function requireShortChain({ position, text }: TokenStream, links: number, what: 'set operations' | 'joins'): void {
  if (links <= maxLinks) return;
  const message = `a query has more than ${maxLinks} ${what} in a row`;
  throw syntaxError({
    text,
    position,
    found: '',
    errorClass: 'QUERY_TOO_LONG',
    message,
    hint: 'write parts of it to tables, or take VALUES',
  });
}
