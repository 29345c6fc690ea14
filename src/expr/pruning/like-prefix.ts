import type { Expression } from '../expression.ts';

/** The text every match of a LIKE pattern begins with; `undefined` when it is not known or empty. */
export function likePrefix({ pattern, escape = '\\' }: Extract<Expression, { kind: 'like' }>): string | undefined {
  if (pattern.kind !== 'literal' || pattern.literal.type !== 'string') return undefined;
  const text = pattern.literal.value;
  let prefix = '';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (text.startsWith(escape, at)) {
      at += escape.length;
      prefix += text[at] ?? '';
    } else if (character === '%' || character === '_') break;
    else prefix += character;
  }
  return prefix === '' ? undefined : prefix;
}
