import { closingOf } from '../../expr/parse/identifier-clause.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
import { isWord } from '../../expr/parse/token-stream.ts';
import type { Token } from '../../expr/parse/tokens.ts';

/** Tokens in which `OVER name` has the definition that `WINDOW name AS (…)` gives, and the clause itself is gone. */
export function expandWindows(text: string, tokens: readonly Token[]): readonly Token[] {
  const { rest, windows } = takeDefinitions(tokens);
  if (windows.size === 0 && !rest.some((token, index) => isNamedUse(rest, index) && token.kind === 'word')) return tokens;
  return rest.flatMap((token, index) => {
    if (!isNamedUse(rest, index)) return [token];
    const definition = windows.get(token.value.toLowerCase());
    if (definition !== undefined) return definition;
    const message = `Window specification ${token.value} is not defined in the WINDOW clause`;
    throw syntaxError({ text, position: token.position, found: token.value, errorClass: 'MISSING_WINDOW_SPECIFICATION', message });
  });
}

function isNamedUse(tokens: readonly Token[], index: number): boolean {
  const before = tokens[index - 1];
  const token = tokens[index];
  const closed = tokens[index - 2];
  if (before === undefined || token === undefined || !isWord(before, 'OVER')) return false;
  // `OVER` after a call; as a name it follows something else.
  return closed?.value === ')' && (token.kind === 'word' || token.kind === 'quoted-name');
}

interface Taken {
  readonly rest: readonly Token[];
  readonly windows: ReadonlyMap<string, readonly Token[]>;
}

function takeDefinitions(tokens: readonly Token[]): Taken {
  const windows = new Map<string, readonly Token[]>();
  const start = tokens.findIndex((token, index) => isWord(token, 'WINDOW') && isDefinition(tokens, index + 1));
  if (start < 0) return { rest: tokens, windows };
  let index = start + 1;
  for (;;) {
    const name = tokens[index];
    const end = closingOf(tokens, index + 2);
    if (name === undefined || end === undefined) break;
    windows.set(name.value.toLowerCase(), tokens.slice(index + 2, end + 1));
    index = end + 1;
    if (tokens[index]?.value !== ',' || !isDefinition(tokens, index + 1)) break;
    index += 1;
  }
  return { rest: [...tokens.slice(0, start), ...tokens.slice(index)], windows };
}

/** `name AS (`. */
function isDefinition(tokens: readonly Token[], index: number): boolean {
  const [name, as, open] = tokens.slice(index, index + 3);
  return (name?.kind === 'word' || name?.kind === 'quoted-name') && as !== undefined && isWord(as, 'AS') && open?.value === '(';
}
