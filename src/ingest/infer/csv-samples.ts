import type { JsonObject, JsonValue } from '../../base/bigint-json.ts';
import type { ColumnLimits, FoundRow } from './found-row.ts';
import { rowOfJson } from './row-of-json.ts';

/** Lines of fields between delimiters. */
export interface CsvSamples {
  readonly delimiter: string;
  readonly fields: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

const delimiters = [',', ';', '\t', '|'] as const;
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** The lines, when all have as many fields, more than one, by the same delimiter. Quoted fields count as one. */
export function fieldsOfCsv(texts: readonly string[]): CsvSamples | undefined {
  for (const delimiter of delimiters) {
    const lines = texts.map((text) => splitLine(text.replace(/\r?\n$/u, ''), delimiter));
    const count = lines[0]?.length ?? 0;
    if (count < 2 || lines.some(({ length }) => length !== count)) continue;
    return { delimiter, lines, fields: Array.from({ length: count }, (_, index) => `field${index + 1}`) };
  }
  return undefined;
}

/** Columns by what the fields look like. */
export function rowOfCsv({ fields, lines }: CsvSamples, limits: ColumnLimits): FoundRow {
  const objects = lines.map((line): JsonObject => Object.fromEntries(fields.map((name, index) => [name, valueOf(line[index] ?? '')])));
  return rowOfJson(objects, limits);
}

function valueOf(field: string): JsonValue {
  if (field === '') return null;
  if (field === 'true' || field === 'false') return field === 'true';
  // Digits past those of a number stay what they are: text of a decimal or a name.
  return numberPattern.test(field) && field.length <= 15 ? Number(field) : field;
}

function splitLine(line: string, delimiter: string): readonly string[] {
  const fields: string[] = [];
  let field = '';
  let quoted = false;
  for (const character of line) {
    if (character === '"') quoted = !quoted;
    else if (character === delimiter && !quoted) {
      fields.push(field);
      field = '';
    } else field += character;
  }
  return [...fields, field];
}
