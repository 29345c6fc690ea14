import { printable } from '../../base/printable.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import { cellText } from '../../session/show/cell-text.ts';
import { displayWidth, escaped } from '../../session/show/show-rows.ts';
import { countText } from '../display-text.ts';
import type { ResultPrinter } from './result-format.ts';

const narrowestColumn = 3;
const numeric: ReadonlySet<DataType['kind']> = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal']);

/**
 * A box as Spark's `show` draws it, cells in full and numbers at the right. Columns are as wide as the rows so far need them; where a batch
 * needs more, the box is closed and a wider one begins.
 */
export class TablePrinter implements ResultPrinter {
  #schema: StructType = { kind: 'struct', fields: [] };
  #widths: readonly number[] | undefined;

  begin(schema: StructType): string {
    this.#schema = schema;
    return '';
  }

  rows(batch: ColumnBatch): string {
    const cells = cellsOf(batch);
    return this.#head(cells) + cells.map((row) => this.#line(row)).join('');
  }

  end(rowCount: number): string {
    return `${this.#head([])}${this.#rule()}(${countText(rowCount)} ${rowCount === 1 ? 'row' : 'rows'})\n`;
  }

  /** The beginning of a box, unless the one that is open is wide enough. */
  #head(cells: readonly (readonly string[])[]): string {
    const before = this.#widths;
    const names = this.#schema.fields.map((field) => safe(field.name));
    const widths = names.map((name, column) =>
      cells.reduce(
        (width, row) => Math.max(width, displayWidth(row[column] ?? '')),
        before?.[column] ?? Math.max(narrowestColumn, displayWidth(name)),
      ),
    );
    if (before !== undefined && widths.every((width, column) => width === before[column])) return '';
    const end = before === undefined ? '' : this.#rule();
    this.#widths = widths;
    return `${end}${this.#rule()}${this.#line(names)}${this.#rule()}`;
  }

  #rule(): string {
    return `+${(this.#widths ?? []).map((width) => '-'.repeat(width)).join('+')}+\n`;
  }

  #line(cells: readonly string[]): string {
    const padded = cells.map((cell, column) => {
      const filling = ' '.repeat(Math.max(0, (this.#widths?.[column] ?? 0) - displayWidth(cell)));
      const kind = this.#schema.fields[column]?.type.kind;
      return kind !== undefined && numeric.has(kind) ? filling + cell : cell + filling;
    });
    return `|${padded.join('|')}|\n`;
  }
}

/** One line for each cell, for rows that are wider than the terminal. */
export class VerticalPrinter implements ResultPrinter {
  #names: readonly string[] = [];
  #nameWidth = narrowestColumn;
  #printed = 0;

  begin(schema: StructType): string {
    this.#names = schema.fields.map((field) => safe(field.name));
    this.#nameWidth = this.#names.reduce((width, name) => Math.max(width, displayWidth(name)), narrowestColumn);
    return '';
  }

  rows(batch: ColumnBatch): string {
    return cellsOf(batch)
      .map((row) => this.#record(row))
      .join('');
  }

  end(rowCount: number): string {
    return `(${countText(rowCount)} ${rowCount === 1 ? 'row' : 'rows'})\n`;
  }

  #record(row: readonly string[]): string {
    const lines = row.map((cell, column) => {
      const name = this.#names[column] ?? '';
      return `${name}${' '.repeat(this.#nameWidth - displayWidth(name))} | ${cell}\n`;
    });
    const title = `-[ row ${countText(this.#printed)} ]`.padEnd(this.#nameWidth + narrowestColumn, '-');
    this.#printed += 1;
    return `${title}\n${lines.join('')}`;
  }
}

/** A result of one text, such as a plan or a statement, which is meant to be read as it is. */
export function wholeText(batch: ColumnBatch): string | undefined {
  const [column] = batch.columns;
  if (batch.rowCount !== 1 || batch.columns.length !== 1 || column?.type.kind !== 'string') return undefined;
  const text = cellText(column, 0);
  return text.includes('\n') ? printable(text) : undefined;
}

function cellsOf(batch: ColumnBatch): string[][] {
  return Array.from({ length: batch.rowCount }, (_, row) => batch.columns.map((column: Column) => safe(cellText(column, row))));
}

function safe(text: string): string {
  return printable(escaped(text));
}
