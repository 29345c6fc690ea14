import type { SqlRow, SqlValue } from './sql-connection.ts';

/** A driver's row as text: the layout's columns are texts, and counts are small. */
export function rowOf(row: unknown): SqlRow {
  if (typeof row !== 'object' || row === null) return {};
  return Object.fromEntries(Object.entries(row).map(([name, value]: [string, unknown]) => [name, textOf(value)]));
}

function textOf(value: unknown): SqlValue {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return undefined;
  }
}
