import { printJson } from '../../base/bigint-json.ts';
import { printable } from '../../base/printable.ts';
import { jsonRows } from '../../codec/json-rows.ts';
import type { TransformExpression } from '../../protocol/transform-spec.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import { sliceRows } from '../../schema/slice.ts';
import { maxShownCharacters } from '../decode/rejection.ts';

const maxShownColumns = 4;

/** What an expression was computed from, for messages: ` from placed = "yesterday", id = 7`. */
export function valuesRead({ reads }: TransformExpression, records: ColumnBatch, row: number): string {
  if (reads.length === 0) return '';
  const { schema } = records;
  const shown = reads.slice(0, maxShownColumns);
  const fields = shown.flatMap((index) => schema.fields[index] ?? []);
  const columns = shown.flatMap((index) => records.columns[index] ?? []);
  const one = sliceRows({ schema: { kind: 'struct', fields }, rowCount: records.rowCount, columns }, { from: row, until: row + 1 });
  const [values = {}] = jsonRows(one);
  const texts = fields.map(({ name }) => `${name} = ${cut(printJson(values[name] ?? null))}`);
  return ` from ${texts.join(', ')}${reads.length > shown.length ? ' and others' : ''}`;
}

function cut(text: string): string {
  const shown = printable(text);
  return shown.length > maxShownCharacters ? `${shown.slice(0, maxShownCharacters)}…` : shown;
}
