import type { ParseException } from '../base/analysis-exception.ts';

/** Longest part of a line that is shown; the place is in its middle. */
const shownWidth = 100;

/** The line of the statement where the error is, and a mark below the place. */
export function placeLines({ text, position }: Pick<ParseException, 'text' | 'position'>): readonly string[] {
  const line = (text.split('\n')[position.line - 1] ?? '').replace(/\r$/, '');
  if (line.trim() === '') return [];
  const column = Math.min(position.column - 1, line.length);
  const from = line.length <= shownWidth ? 0 : Math.max(0, Math.min(column - shownWidth / 2, line.length - shownWidth));
  const shown = printable(line.slice(from, from + shownWidth));
  const cutBefore = from > 0 ? '…' : '';
  const cutAfter = from + shownWidth < line.length ? '…' : '';
  const margin = ' '.repeat(String(position.line).length);
  // Tabs stay tabs, so that the mark stands where the terminal puts them.
  const indent = (cutBefore + printable(line.slice(from, column))).replaceAll(/[^\t]/gu, ' ');
  return [`  ${position.line} | ${cutBefore}${shown}${cutAfter}`, `  ${margin} | ${indent}^`];
}

/** Control characters would move the cursor. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => (character === '\t' ? character : '\ufffd'));
}
