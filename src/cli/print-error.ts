import { AnalysisException, ParseException } from '../base/analysis-exception.ts';
import { type JsonValue, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import { shownJson, withoutSecrets } from '../base/redaction.ts';
import { exitCodeOf } from './exit-code.ts';
import { paint, type Terminal } from './terminal.ts';

const maxCauses = 5;

/** Tells the person what went wrong and what to do; with `--json` as one object on standard error. Resolves with the exit code. */
export async function printError(error: unknown, terminal: Terminal): Promise<number> {
  await terminal.err(
    terminal.json ? `${printJson(shownJson({ error: errorJson(error) }))}\n` : withoutSecrets(errorText(error, terminal.errorColour)),
  );
  return exitCodeOf(error);
}

function errorText(error: unknown, colour: boolean): string {
  if (!isServiceError(error)) {
    // Not foreseen: the stack is what helps.
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${paint('error', 'red', colour)} ${printable(text)}\n`;
  }
  const { code, message, hint, kind, stack } = error;
  const [first = '', ...more] = printable(message).split('\n');
  const state = error instanceof AnalysisException && error.sqlState !== undefined ? ` (${error.sqlState})` : '';
  const lines = [`${paint('error', 'red', colour)} ${paint(code, 'bold', colour)}${state}: ${first}`, ...more.map((line) => `  ${line}`)];
  if (error instanceof ParseException) lines.push(...placeLines(error).map(printable));
  lines.push(...causesOf(error).map((cause) => paint(`  caused by: ${printable(cause)}`, 'faint', colour)));
  if (hint !== undefined) lines.push(`${paint('hint', 'yellow', colour)}  ${printable(hint)}`);
  if (kind === 'internal' && stack !== undefined) lines.push(paint(stack, 'faint', colour));
  return `${lines.join('\n')}\n`;
}

function errorJson(error: unknown): JsonValue {
  if (!isServiceError(error))
    return { code: 'INTERNAL', kind: 'internal', message: error instanceof Error ? error.message : String(error) };
  const { code, kind, message, hint, context } = error;
  const sqlState = error instanceof AnalysisException ? error.sqlState : undefined;
  const place = error instanceof ParseException ? { line: error.position.line, column: error.position.column } : undefined;
  return { code, sqlState, kind, message, place, hint, context, causes: causesOf(error) };
}

/** Messages of the causes that say more than the error itself. */
function causesOf(error: Error): readonly string[] {
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error && causes.length < maxCauses; cause = cause.cause) {
    if (!error.message.includes(cause.message)) causes.push(isServiceError(cause) ? `${cause.code}: ${cause.message}` : cause.message);
  }
  return causes;
}

/** Longest part of a line that is shown; the place is in its middle. */
const shownWidth = 100;

/** The line of the statement where the error is, and a mark below the place. */
export function placeLines({ text, position }: Pick<ParseException, 'text' | 'position'>): readonly string[] {
  const line = (text.split('\n')[position.line - 1] ?? '').replace(/\r$/, '');
  if (line.trim() === '') return [];
  const column = Math.min(position.column - 1, line.length);
  const from = line.length <= shownWidth ? 0 : Math.max(0, Math.min(column - shownWidth / 2, line.length - shownWidth));
  const shown = inPlace(line.slice(from, from + shownWidth));
  const cutBefore = from > 0 ? '…' : '';
  const cutAfter = from + shownWidth < line.length ? '…' : '';
  const margin = ' '.repeat(String(position.line).length);
  // Tabs stay tabs, so that the mark stands where the terminal puts them.
  const indent = (cutBefore + inPlace(line.slice(from, column))).replaceAll(/[^\t]/gu, ' ');
  return [`  ${position.line} | ${cutBefore}${shown}${cutAfter}`, `  ${margin} | ${indent}^`];
}

/** Control characters would move the cursor; an escape in their place would move the mark. */
function inPlace(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => (character === '\t' ? character : '\ufffd'));
}
