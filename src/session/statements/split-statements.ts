import type { TextPosition } from '../../base/analysis-exception.ts';
import { tokenize } from '../../expr/parse/tokens.ts';

/** One of several statements, with comments and without the semicolon; `at` is its place in the whole text. */
export interface StatementText {
  readonly text: string;
  readonly at: TextPosition;
}

/**
 * The statements of a text, which semicolons outside of quotes and comments divide; empty ones are left out.
 *
 * @throws ParseException for an unclosed quote or comment.
 */
export function splitStatements(text: string): readonly StatementText[] {
  const statements: StatementText[] = [];
  let first: TextPosition | undefined;
  let end = 0;
  for (const token of tokenize(text)) {
    if (token.kind === 'end' || (token.kind === 'operator' && token.value === ';')) {
      if (first !== undefined) statements.push({ text: text.slice(first.offset, end), at: first });
      first = undefined;
    } else {
      first ??= token.position;
      end = token.end;
    }
  }
  return statements;
}
