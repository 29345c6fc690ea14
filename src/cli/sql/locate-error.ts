import { ParseException, type TextPosition } from '../../base/analysis-exception.ts';
import type { ScannedStatement } from './statement-scanner.ts';

/** An error of a statement as one of the whole input: line and column count from the input's beginning. Other errors stay as they are. */
export function locateError(error: unknown, statement: ScannedStatement, input: string | undefined): unknown {
  if (!(error instanceof ParseException)) return error;
  const { message, position, text, errorClass, alias, sqlState, parameters, kind, hint, cause } = error;
  const place = placeInInput(position, statement);
  const before = `line ${position.line}, column ${position.column}`;
  const after = `${input === undefined ? '' : `${input}, `}line ${place.line}, column ${place.column}`;
  return new ParseException({
    errorClass,
    alias,
    sqlState,
    parameters,
    kind,
    hint,
    cause,
    message: message.includes(before) ? message.replace(before, after) : `${message} (${after})`,
    position: place,
    // Blank lines stand for what was before the statement: the place stays right, and nothing else is shown of it.
    text: `${'\n'.repeat(statement.line - 1)}${' '.repeat(statement.column - 1)}${text}`,
  });
}

function placeInInput(position: TextPosition, statement: ScannedStatement): TextPosition {
  return {
    offset: statement.line - 1 + statement.column - 1 + position.offset,
    line: statement.line + position.line - 1,
    column: position.line === 1 ? statement.column + position.column - 1 : position.column,
  };
}
