import type { ColumnBuilder } from '../columns/column-builder.ts';
import type { ListBuilder, MapBuilder, StructBuilder } from '../columns/nested-builders.ts';
import type { AvroReader } from './avro-reader.ts';
import type { ByteCursor } from './byte-cursor.ts';
import type { ValueSkipper } from './skip-values.ts';

/** A value that may be null where the file has a union of null and one more type. */
export class NullableReader implements AvroReader {
  readonly #inner: AvroReader;
  readonly #branches: number;
  readonly #nullBranch: number;

  constructor(inner: AvroReader, branches: number, nullBranch: number) {
    this.#inner = inner;
    this.#branches = branches;
    this.#nullBranch = nullBranch;
  }

  get column(): ColumnBuilder {
    return this.#inner.column;
  }

  read(cursor: ByteCursor): void {
    if (cursor.branch(this.#branches) === this.#nullBranch) this.#inner.column.appendNull();
    else this.#inner.read(cursor);
  }
}

/** What a field of a record in the file means to the struct that is read from it. */
export type RecordStep = { readonly kind: 'read'; readonly reader: AvroReader } | { readonly kind: 'skip'; readonly skip: ValueSkipper };

/** Structs from records. */
export class StructReader implements AvroReader {
  readonly column: StructBuilder;
  readonly #steps: readonly RecordStep[];
  readonly #absent: readonly ColumnBuilder[];

  /** `steps`: the fields of the file in order. The members of the struct without a step are absent, which is null. */
  constructor(column: StructBuilder, steps: readonly RecordStep[]) {
    const stored = new Set(steps.map((step) => (step.kind === 'read' ? step.reader.column : undefined)));
    this.column = column;
    this.#steps = steps;
    this.#absent = column.children.filter((child) => !stored.has(child));
  }

  read(cursor: ByteCursor): void {
    for (const step of this.#steps) {
      if (step.kind === 'read') step.reader.read(cursor);
      else step.skip(cursor);
    }
    for (const child of this.#absent) child.appendNull();
    this.column.end();
  }
}

/** Lists from arrays. */
export class ListReader implements AvroReader {
  readonly column: ListBuilder;
  readonly #element: AvroReader;
  readonly #itemBytes: number;

  /** `itemBytes`: the least an item takes. */
  constructor(column: ListBuilder, element: AvroReader, itemBytes: number) {
    this.column = column;
    this.#element = element;
    this.#itemBytes = itemBytes;
  }

  read(cursor: ByteCursor): void {
    for (let count = cursor.blockLength(this.#itemBytes); count > 0; count = cursor.blockLength(this.#itemBytes)) {
      for (let index = 0; index < count; index++) this.#element.read(cursor);
    }
    this.column.end();
  }
}

/** Maps from maps, and from arrays of pairs: both spell key and value in turn. */
export class MapReader implements AvroReader {
  readonly column: MapBuilder;
  readonly #keys: AvroReader;
  readonly #values: AvroReader;
  readonly #itemBytes: number;

  constructor(column: MapBuilder, keys: AvroReader, values: AvroReader, itemBytes: number) {
    this.column = column;
    this.#keys = keys;
    this.#values = values;
    this.#itemBytes = itemBytes;
  }

  read(cursor: ByteCursor): void {
    for (let count = cursor.blockLength(this.#itemBytes); count > 0; count = cursor.blockLength(this.#itemBytes)) {
      for (let index = 0; index < count; index++) {
        this.#keys.read(cursor);
        this.#values.read(cursor);
      }
    }
    this.column.end();
  }
}
