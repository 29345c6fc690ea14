import { printJson } from '../../base/bigint-json.ts';
import type { ColumnBuilder } from '../../codec/columns/column-builder.ts';
import { DecimalBuilder } from '../../codec/columns/decimal-builder.ts';
import { FloatingBuilder } from '../../codec/columns/floating-builder.ts';
import { Int32Builder } from '../../codec/columns/int32-builder.ts';
import { Int64Builder } from '../../codec/columns/int64-builder.ts';
import { createJsonReader } from './json/create-reader.ts';
import { JsonCursor } from './json/json-cursor.ts';
import { shown } from './rejection.ts';
import { ValueRefused } from './value-refused.ts';

/** Text in a column of another type, by the rules of strings in JSON (docs/spec/json-decoding.md), whatever the payload is written in. */
export class TextInColumn {
  readonly column: ColumnBuilder;
  readonly #where: string;
  readonly #reader: ReturnType<typeof createJsonReader>;
  readonly #cursor = new JsonCursor(1);

  /** `undefined`: the column takes no text. */
  static of(column: ColumnBuilder, where: string): TextInColumn | undefined {
    const scalar = [Int32Builder, Int64Builder, FloatingBuilder, DecimalBuilder].some((builder) => column instanceof builder);
    return scalar ? new TextInColumn(column, where) : undefined;
  }

  constructor(column: ColumnBuilder, where: string) {
    this.column = column;
    this.#where = where;
    this.#reader = createJsonReader(column, 'ignore');
  }

  /** @throws ValueRefused when it is no value of the column. */
  append(value: string): void {
    const text = Buffer.from(printJson(value));
    const json = this.#cursor;
    json.load(text, 0, text.length);
    if (this.#reader.read(json)) return;
    const { reason = 'wrong-type', detail = 'does not fit' } = json.failure ?? {};
    json.failure = undefined;
    throw new ValueRefused(this.#where, reason, `${shown(text, 0, text.length)} ${detail}`);
  }
}
