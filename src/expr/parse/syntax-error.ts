import { ParseException, type TextPosition } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';

export interface SyntaxErrorOptions {
  /** The whole text that is parsed. */
  readonly text: string;
  readonly position: TextPosition;
  /** What stands at the position, as shown to the user. */
  readonly found: string;
  /** What could stand there: words in capitals or descriptions. */
  readonly expected?: readonly string[] | undefined;
  /** Default `PARSE_SYNTAX_ERROR`. */
  readonly errorClass?: string | undefined;
  /** Replaces the message's beginning; the position is added. */
  readonly message?: string | undefined;
  readonly hint?: string | undefined;
}

const maxShownLength = 60;
const maxShownAlternatives = 12;

/** `PARSE_SYNTAX_ERROR` where no other class is given: names the place, what was found, what was expected and the nearest word to it. */
export function syntaxError(options: SyntaxErrorOptions): ParseException {
  const { text, position, expected = [] } = options;
  const found = shorten(options.found);
  const head = options.message ?? `Syntax error at or near ${found}`;
  const place = `line ${position.line}, column ${position.column}`;
  const nearest = nearestName(
    options.found.replaceAll(/^'|'$/g, ''),
    expected.filter((words) => /^\w+$/.test(words)),
  );
  return new ParseException({
    errorClass: options.errorClass ?? 'PARSE_SYNTAX_ERROR',
    message: `${head} (${place})${expected.length === 0 ? '' : `: expected ${listAlternatives(expected)}`}`,
    hint: options.hint ?? (nearest === undefined ? undefined : `did you mean ${nearest}?`),
    parameters: { error: found, line: String(position.line), column: String(position.column) },
    position,
    text,
  });
}

/** Line and column of an offset. */
export function positionAt(text: string, offset: number): TextPosition {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    lineStart = at + 1;
  }
  return { offset, line, column: offset - lineStart + 1 };
}

function shorten(found: string): string {
  return found.length <= maxShownLength ? found : `${found.slice(0, maxShownLength)}…`;
}

function listAlternatives(expected: readonly string[]): string {
  const shown = expected.slice(0, maxShownAlternatives);
  return expected.length > shown.length ? `${shown.join(', ')}, …` : shown.join(shown.length === 2 ? ' or ' : ', ');
}
