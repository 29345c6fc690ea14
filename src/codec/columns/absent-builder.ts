import type { Column } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import type { DataType } from '../../schema/types.ts';
import type { ColumnBuilder } from './column-builder.ts';

/** A column that what is read does not have, or of which it stores nothing but that it is null: nulls only, which are counted. */
export class AbsentBuilder implements ColumnBuilder {
  readonly type: DataType;
  #length = 0;

  constructor(type: DataType) {
    this.type = type;
  }

  get length(): number {
    return this.#length;
  }

  appendNull(): void {
    this.#length += 1;
  }

  truncate(length: number): void {
    this.#length = length;
  }

  finish(): Column {
    const column = nullColumn(this.type, this.#length);
    this.#length = 0;
    return column;
  }
}
