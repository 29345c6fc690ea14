import type { BooleanBuilder } from '../../../codec/columns/boolean-builder.ts';
import type { JsonCursor } from './json-cursor.ts';
import type { JsonReader } from './json-reader.ts';

/** boolean: `true` and `false` only. */
export class BooleanReader implements JsonReader {
  readonly column: BooleanBuilder;

  constructor(column: BooleanBuilder) {
    this.column = column;
  }

  read(cursor: JsonCursor): boolean {
    const value = cursor.readBoolean();
    if (value < 0) return false;
    this.column.append(value === 1);
    return true;
  }
}
