import { canonicalRows } from '../../codec/canonical-json.ts';
import { bytesAt } from '../../codec/rows.ts';
import { type Column, type ColumnBatch, isValid } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { cellText } from '../../session/show/cell-text.ts';
import type { ResultPrinter } from './result-format.ts';

const lineEnd = '\r\n';

/**
 * RFC 4180 with a header. Null is nothing between the commas, empty text is `""`; binary is lower-case hex; structs, lists and maps are
 * JSON; everything else as casts to text spell it.
 */
export class CsvPrinter implements ResultPrinter {
  readonly #shown: (text: string) => string;

  /** @param shown makes of a cell's text what is printed. */
  constructor(shown: (text: string) => string) {
    this.#shown = shown;
  }

  begin(schema: StructType): string {
    return schema.fields.map((field) => quoted(this.#shown(field.name))).join(',') + lineEnd;
  }

  rows(batch: ColumnBatch): string {
    const columns = batch.columns.map((column, index) => cellsOf(column, batch.schema.fields[index], batch.rowCount, this.#shown));
    return Array.from({ length: batch.rowCount }, (_, row) => columns.map((cells) => cells[row] ?? '').join(',') + lineEnd).join('');
  }

  end(): string {
    return '';
  }
}

function cellsOf(column: Column, field: Field | undefined, rowCount: number, shown: (text: string) => string): readonly string[] {
  const text = field !== undefined && isNested(column) ? nestedTexts(column, field, rowCount) : (row: number) => plainText(column, row);
  return Array.from({ length: rowCount }, (_, row) => (isValid(column, row) ? quoted(shown(text(row))) : ''));
}

function isNested(column: Column): boolean {
  return column.layout === 'struct' || column.layout === 'list' || column.layout === 'map';
}

/** JSON of the cells of one column: what JSON rows of that column alone have as their only member. */
function nestedTexts(column: Column, field: Field, rowCount: number): (row: number) => string {
  const schema: StructType = { kind: 'struct', fields: [{ ...field, name: '' }] };
  const lines = [...canonicalRows({ schema, rowCount, columns: [column] }, { members: 'schema' })];
  return (row) => (lines[row] ?? '').slice('{"":'.length, -1);
}

function plainText(column: Column, row: number): string {
  if (column.layout !== 'bytes' || column.type.kind === 'string') return cellText(column, row);
  return Buffer.from(bytesAt(column, row)).toString('hex');
}

function quoted(text: string): string {
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
