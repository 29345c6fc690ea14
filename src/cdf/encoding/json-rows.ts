import type { RowEncoding } from '../row-writers.ts';
import { jsonNotation } from './json-notation.ts';

/** Rows and keys as JSON without schemas. */
export function jsonRows(keyColumns: readonly string[]): RowEncoding {
  const value = {
    notation: jsonNotation,
    forms: { decimals: 'string', times: 'text', binary: 'bytes', variants: 'json', textMaps: 'of-scalars' },
  } as const;
  return { value, key: value, keyColumns };
}
