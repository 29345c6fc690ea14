import { canonicalRows } from '../../codec/canonical-json.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import { refuseDuplicateNames } from '../../session/rows/duplicate-names.ts';
import type { ResultPrinter } from './result-format.ts';

/** One JSON object a row, as `tidewater rows` prints them: longs beyond 2^53 and decimals are text, nothing is rounded. */
export class JsonPrinter implements ResultPrinter {
  readonly #shown: (line: string) => string;

  /** @param shown makes of a line what is printed. */
  constructor(shown: (line: string) => string) {
    this.#shown = shown;
  }

  /** @throws AnalysisException `COLUMN_ALREADY_EXISTS`: an object cannot hold two columns of a name. */
  begin(schema: StructType): string {
    refuseDuplicateNames(schema);
    return '';
  }

  rows(batch: ColumnBatch): string {
    return [...canonicalRows(batch, { members: 'schema' })].map((line) => `${this.#shown(line)}\n`).join('');
  }

  end(): string {
    return '';
  }
}
