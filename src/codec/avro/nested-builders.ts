import type { Column, ListColumn, MapColumn, StructColumn } from '../../schema/columns.ts';
import type { ListType, MapType, StructType } from '../../schema/types.ts';
import type { ByteCursor } from './byte-cursor.ts';
import { OffsetsBuilder } from './bytes-builders.ts';
import { type ColumnBuilder, Validity } from './column-builder.ts';
import type { ValueSkipper } from './decode-values.ts';

/** A value that may be null where the file has a union of null and one more type. */
export class NullableBuilder implements ColumnBuilder {
  readonly #inner: ColumnBuilder;
  readonly #branches: number;
  readonly #nullBranch: number;

  constructor(inner: ColumnBuilder, branches: number, nullBranch: number) {
    this.#inner = inner;
    this.#branches = branches;
    this.#nullBranch = nullBranch;
  }

  read(cursor: ByteCursor): void {
    if (cursor.branch(this.#branches) === this.#nullBranch) this.#inner.readNull();
    else this.#inner.read(cursor);
  }

  readNull(): void {
    this.#inner.readNull();
  }

  take(cursor: ByteCursor): Column {
    return this.#inner.take(cursor);
  }
}

/** What a field of a record in the file means to the struct that is read from it. */
export type RecordStep =
  | { readonly kind: 'read'; readonly builder: ColumnBuilder }
  | { readonly kind: 'skip'; readonly skip: ValueSkipper };

/** Structs from records. */
export class StructBuilder implements ColumnBuilder {
  readonly #type: StructType;
  readonly #steps: readonly RecordStep[];
  readonly #children: readonly ColumnBuilder[];
  readonly #absent: readonly ColumnBuilder[];
  readonly #validity = new Validity();

  /** `steps`: the fields of the file in order; `children`: the fields of the type, of which those without a step are absent. */
  constructor(type: StructType, steps: readonly RecordStep[], children: readonly ColumnBuilder[]) {
    const stored = new Set(steps.map((step) => (step.kind === 'read' ? step.builder : undefined)));
    this.#type = type;
    this.#steps = steps;
    this.#children = children;
    this.#absent = children.filter((child) => !stored.has(child));
  }

  get length(): number {
    return this.#validity.length;
  }

  read(cursor: ByteCursor): void {
    for (const step of this.#steps) {
      if (step.kind === 'read') step.builder.read(cursor);
      else step.skip(cursor);
    }
    for (const child of this.#absent) child.readNull();
    this.#validity.valid();
  }

  readNull(): void {
    for (const child of this.#children) child.readNull();
    this.#validity.null();
  }

  take(cursor: ByteCursor): StructColumn {
    const children = this.#children.map((child) => child.take(cursor));
    return { ...this.#validity.take(this.#type), layout: 'struct', children };
  }
}

/** Lists from arrays. */
export class ListBuilder implements ColumnBuilder {
  readonly #type: ListType;
  readonly #element: ColumnBuilder;
  readonly #itemBytes: number;
  readonly #offsets = new OffsetsBuilder();

  /** `itemBytes`: the least an item takes. */
  constructor(type: ListType, element: ColumnBuilder, itemBytes: number) {
    this.#type = type;
    this.#element = element;
    this.#itemBytes = itemBytes;
  }

  read(cursor: ByteCursor): void {
    let total = 0;
    for (let count = cursor.blockLength(this.#itemBytes); count > 0; count = cursor.blockLength(this.#itemBytes)) {
      for (let index = 0; index < count; index++) this.#element.read(cursor);
      total += count;
    }
    this.#offsets.valid(total);
  }

  readNull(): void {
    this.#offsets.null();
  }

  take(cursor: ByteCursor): ListColumn {
    return { ...this.#offsets.take(this.#type), layout: 'list', element: this.#element.take(cursor) };
  }
}

/** Maps from maps, and from arrays of pairs: both spell key and value in turn. */
export class MapBuilder implements ColumnBuilder {
  readonly #type: MapType;
  readonly #keys: ColumnBuilder;
  readonly #values: ColumnBuilder;
  readonly #itemBytes: number;
  readonly #offsets = new OffsetsBuilder();

  constructor(type: MapType, keys: ColumnBuilder, values: ColumnBuilder, itemBytes: number) {
    this.#type = type;
    this.#keys = keys;
    this.#values = values;
    this.#itemBytes = itemBytes;
  }

  read(cursor: ByteCursor): void {
    let total = 0;
    for (let count = cursor.blockLength(this.#itemBytes); count > 0; count = cursor.blockLength(this.#itemBytes)) {
      for (let index = 0; index < count; index++) {
        this.#keys.read(cursor);
        this.#values.read(cursor);
      }
      total += count;
    }
    this.#offsets.valid(total);
  }

  readNull(): void {
    this.#offsets.null();
  }

  take(cursor: ByteCursor): MapColumn {
    const keys = this.#keys.take(cursor);
    return { ...this.#offsets.take(this.#type), layout: 'map', keys, values: this.#values.take(cursor) };
  }
}
