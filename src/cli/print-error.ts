import { AnalysisException, ParseException } from '../base/analysis-exception.ts';
import { type JsonValue, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import { printable } from '../base/printable.ts';
import { shownJson, withoutSecrets } from '../base/redaction.ts';
import { placeLines } from './error-place.ts';
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
