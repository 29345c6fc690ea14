import { positionAt, syntaxError } from './syntax-error.ts';

/** Decoded text that ends before the offset `end`. */
export interface TextPart {
  readonly value: string;
  readonly end: number;
}

/** Comments nest at most this deep. */
const maxCommentDepth = 100;

/**
 * The name in backticks at `offset`; a doubled backtick stands for one.
 *
 * @throws ParseException when it is not closed.
 */
export function readQuotedName(text: string, offset: number): TextPart {
  let value = '';
  for (let from = offset + 1; ; ) {
    const quote = text.indexOf('`', from);
    if (quote < 0) throw unclosed(text, offset, 'a closing backtick');
    value += text.slice(from, quote);
    if (text[quote + 1] !== '`') return { value, end: quote + 1 };
    value += '`';
    from = quote + 2;
  }
}

/**
 * The literal in `'` or `"` at `offset`: a doubled quote stands for one; unless `raw`, a backslash escapes as in Spark
 * (`\n`, `\'`, `\u00e9`, `\U0001F600`, `\101`; `\%` and `\_` keep their backslash).
 *
 * @throws ParseException when it is not closed.
 */
export function readString(text: string, offset: number, { raw }: { readonly raw: boolean }): TextPart {
  const quote = text[offset] ?? "'";
  let value = '';
  for (let at = offset + 1; at < text.length; ) {
    const character = text[at] ?? '';
    if (character === quote) {
      // In a raw literal nothing is escaped, not even its quote.
      if (raw || text[at + 1] !== quote) return { value, end: at + 1 };
      value += quote;
      at += 2;
    } else if (character === '\\' && !raw) {
      const escape = readEscape(text, at);
      value += escape.value;
      at = escape.end;
    } else {
      const until = endOfPlainText(text, at, quote);
      value += text.slice(at, until);
      at = until;
    }
  }
  throw unclosed(text, offset, `a closing ${quote}`);
}

/** The offset after the comment that begins at `offset`; `undefined` when none does. @throws ParseException when it is not closed. */
export function endOfComment(text: string, offset: number): number | undefined {
  if (text.startsWith('--', offset)) {
    const newline = text.indexOf('\n', offset);
    return newline < 0 ? text.length : newline + 1;
  }
  if (!text.startsWith('/*', offset)) return undefined;
  let depth = 0;
  const edge = /\/\*|\*\//g;
  edge.lastIndex = offset;
  for (let found = edge.exec(text); found !== null; found = edge.exec(text)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
    if (depth > maxCommentDepth) throw unclosed(text, offset, `comments nested at most ${maxCommentDepth} deep`);
  }
  throw unclosed(text, offset, '*/');
}

function endOfPlainText(text: string, from: number, quote: string): number {
  let at = from + 1;
  while (at < text.length && text[at] !== quote && text[at] !== '\\') at += 1;
  return at;
}

const simpleEscapes: Readonly<Record<string, string>> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' };

function readEscape(text: string, at: number): TextPart {
  const unicode = /\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})|\\([0-3][0-7]{2})/y;
  unicode.lastIndex = at;
  const found = unicode.exec(text);
  if (found !== null) {
    const code = Number.parseInt(found[1] ?? found[2] ?? found[3] ?? '', found[3] === undefined ? 16 : 8);
    if (code > 0x10ffff) {
      throw syntaxError({ text, position: positionAt(text, at), found: found[0], expected: ['a Unicode code point'] });
    }
    return { value: String.fromCodePoint(code), end: unicode.lastIndex };
  }
  const escaped = text[at + 1];
  if (escaped === undefined) return { value: '', end: at + 1 };
  // LIKE reads these itself.
  if (escaped === '%' || escaped === '_') return { value: `\\${escaped}`, end: at + 2 };
  return { value: simpleEscapes[escaped] ?? escaped, end: at + 2 };
}

function unclosed(text: string, offset: number, expected: string): Error {
  return syntaxError({ text, position: positionAt(text, offset), found: `'${text.slice(offset, offset + 20)}'`, expected: [expected] });
}
