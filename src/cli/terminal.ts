import { type JsonValue, printJson } from '../base/bigint-json.ts';
import { printableLine } from '../base/printable.ts';

/** Where a command writes; handed in so that tests can read it. */
export interface Terminal {
  /** Writes to standard output; resolves when the reader took it. */
  readonly out: (text: string) => Promise<void>;
  readonly err: (text: string) => Promise<void>;
  /** Whether standard output is a person's terminal that wants colours. */
  readonly colour: boolean;
  /** Whether standard error is. */
  readonly errorColour: boolean;
  /** `--json`: one JSON object a line. */
  readonly json: boolean;
}

export type Style = 'bold' | 'faint' | 'red' | 'green' | 'yellow';

const codes: Readonly<Record<Style, string>> = { bold: '1', faint: '2', red: '31', green: '32', yellow: '33' };

export function paint(text: string, style: Style, colour: boolean): string {
  return colour && text !== '' ? `\u001b[${codes[style]}m${text}\u001b[0m` : text;
}

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  /** Numbers stand at the right. */
  readonly align?: 'left' | 'right' | undefined;
}

/** Rows as aligned text with a head, or with `--json` one object a row. */
export async function writeRows<Row>(
  terminal: Terminal,
  rows: readonly Row[],
  shape: { readonly columns: readonly Column<Row>[]; readonly json: (row: Row) => JsonValue; readonly empty: string },
): Promise<void> {
  if (terminal.json) {
    for (const row of rows) await terminal.out(`${printJson(shape.json(row))}\n`);
    return;
  }
  await terminal.out(rows.length === 0 ? `${shape.empty}\n` : alignedTable(rows, shape.columns, terminal.colour));
}

/** The text of an aligned table, a line feed after each line; cells keep to theirs. */
export function alignedTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[], colour: boolean): string {
  const cells = rows.map((row) => columns.map((column) => printableLine(column.text(row))));
  const widths = columns.map(({ title }, index) => Math.max(title.length, ...cells.map((line) => line[index]?.length ?? 0)));
  const line = (texts: readonly string[]): string =>
    columns
      .map(({ align }, index) => {
        const text = texts[index] ?? '';
        const width = widths[index] ?? 0;
        return align === 'right' ? text.padStart(width) : text.padEnd(width);
      })
      .join('  ')
      .trimEnd();
  const head = paint(line(columns.map(({ title }) => title)), 'bold', colour);
  return [head, ...cells.map(line)].map((text) => `${text}\n`).join('');
}
