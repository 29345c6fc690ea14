import type { ZoneRule } from '../../expr/time-zone.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { cellText } from './cell-text.ts';

export interface ShowOptions {
  /** Rows shown at most. */
  readonly rows: number;
  /** Longest cell in characters, 0 for no limit. Limited cells are aligned to the right, others to the left, as Spark does. */
  readonly truncate: number;
  /** One line for each cell instead of a table. */
  readonly vertical: boolean;
  /** Of the times that are shown. */
  readonly zone?: ZoneRule;
}

const narrowestColumn = 3;

/** The rows of the batches as Spark's `show` prints them, with a closing note when there are more than `options.rows`. */
export function showRows(names: readonly string[], batches: readonly ColumnBatch[], options: ShowOptions): string {
  const all = batches.flatMap((batch) => cellsOf(batch, options));
  const rows = all.slice(0, options.rows);
  const note = all.length > rows.length ? `only showing top ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}\n` : '';
  const header = names.map((name) => shortened(escaped(name), options.truncate));
  const body = options.vertical ? verticalText(header, rows) : tableText(header, rows, options.truncate > 0);
  return `${body}${note}`;
}

function cellsOf(batch: ColumnBatch, { truncate, zone }: ShowOptions): string[][] {
  return Array.from({ length: batch.rowCount }, (_, index) =>
    batch.columns.map((column) => shortened(escaped(cellText(column, index, zone)), truncate)),
  );
}

function tableText(header: readonly string[], rows: readonly (readonly string[])[], alignedRight: boolean): string {
  const widths = header.map((name, column) =>
    rows.reduce((width, row) => Math.max(width, displayWidth(row[column] ?? '')), Math.max(narrowestColumn, displayWidth(name))),
  );
  const rule = `+${widths.map((width) => '-'.repeat(width)).join('+')}+\n`;
  const line = (cells: readonly string[]): string =>
    `|${cells.map((cell, column) => padded(cell, widths[column] ?? 0, alignedRight)).join('|')}|\n`;
  return `${rule}${line(header)}${rule}${rows.map(line).join('')}${rule}`;
}

function verticalText(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '(0 rows)\n';
  const nameWidth = header.reduce((width, name) => Math.max(width, displayWidth(name)), narrowestColumn);
  const cellWidth = rows.flat().reduce((width, cell) => Math.max(width, displayWidth(cell)), narrowestColumn);
  return rows
    .map((row, index) => {
      const title = `-RECORD ${index}`.padEnd(nameWidth + cellWidth + 5, '-');
      const lines = row.map((cell, column) => ` ${padded(header[column] ?? '', nameWidth, false)} | ${padded(cell, cellWidth, false)} \n`);
      return `${title}\n${lines.join('')}`;
    })
    .join('');
}

function shortened(text: string, truncate: number): string {
  const characters = Array.from(text);
  if (truncate <= 0 || characters.length <= truncate) return text;
  return truncate < 4 ? characters.slice(0, truncate).join('') : `${characters.slice(0, truncate - 3).join('')}...`;
}

/** Control characters would break the box: Spark shows them as escapes. */
export function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '\n': '\\n',
    '\r': '\\r',
    '\t': '\\t',
    '\f': '\\f',
    '\b': '\\b',
    '\u000b': '\\v',
    '\u0007': '\\a',
  };
  return text.replace(/[\n\r\t\f\b\v\u0007]/g, (character) => names[character] ?? character);
}

function padded(text: string, width: number, right: boolean): string {
  const filling = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? `${filling}${text}` : `${text}${filling}`;
}

/** Columns of a terminal: East Asian wide characters take two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1;
  return width;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}
