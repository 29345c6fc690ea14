import type { ListColumn, MapColumn, StructColumn } from '../../schema/columns.ts';
import { requireRoomForNulls } from '../../schema/null-column.ts';
import type { ListType, MapType, StructType } from '../../schema/types.ts';
import { AbsentBuilder } from './absent-builder.ts';
import type { ColumnBuilder } from './column-builder.ts';
import { grownInt32 } from './growable.ts';
import { Validity } from './validity.ts';

/** struct: one value is appended to every child, then `end` closes the struct. */
export class StructBuilder implements ColumnBuilder {
  readonly type: StructType;
  readonly children: readonly ColumnBuilder[];
  readonly #validity = new Validity();

  constructor(type: StructType, children: readonly ColumnBuilder[]) {
    this.type = type;
    this.children = children;
  }

  get length(): number {
    return this.#validity.length;
  }

  end(): void {
    this.#validity.appendValid();
  }

  appendNull(): void {
    for (const child of this.children) child.appendNull();
    this.#validity.appendNull();
  }

  truncate(length: number): void {
    for (const child of this.children) child.truncate(length);
    this.#validity.truncate(length);
  }

  finish(): StructColumn {
    // What is not stored costs nothing to ask for: all of it together is bounded.
    const absent = this.children.flatMap((child) => (child instanceof AbsentBuilder ? [child.type] : []));
    requireRoomForNulls(absent, this.length);
    return { layout: 'struct', type: this.type, ...this.#validity.finish(), children: this.children.map((child) => child.finish()) };
  }
}

/** Where each list or map of a column ends among its elements. */
class Offsets {
  readonly validity: Validity = new Validity();
  #offsets: Int32Array = new Int32Array(1);

  append(end: number, valid: boolean): void {
    const next = this.validity.length + 1;
    if (next >= this.#offsets.length) this.#offsets = grownInt32(this.#offsets, next + 1);
    this.#offsets[next] = end;
    if (valid) this.validity.appendValid();
    else this.validity.appendNull();
  }

  /** Returns how many elements are left. */
  truncate(length: number): number {
    this.validity.truncate(length);
    return this.#offsets[length] ?? 0;
  }

  /** Where the elements of value `index` begin. */
  startOf(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  finish(length: number): Int32Array {
    const offsets = this.#offsets.subarray(0, length + 1);
    this.#offsets = new Int32Array(1);
    return offsets;
  }
}

/** list: any number of values is appended to `element`, then `end` closes the list. */
export class ListBuilder implements ColumnBuilder {
  readonly type: ListType;
  readonly element: ColumnBuilder;
  readonly #offsets = new Offsets();

  constructor(type: ListType, element: ColumnBuilder) {
    this.type = type;
    this.element = element;
  }

  get length(): number {
    return this.#offsets.validity.length;
  }

  /** How many elements the last list has. */
  get lastCount(): number {
    return this.element.length - this.#offsets.startOf(this.length - 1);
  }

  end(): void {
    this.#offsets.append(this.element.length, true);
  }

  appendNull(): void {
    this.#offsets.append(this.element.length, false);
  }

  truncate(length: number): void {
    this.element.truncate(this.#offsets.truncate(length));
  }

  finish(): ListColumn {
    const counted = this.#offsets.validity.finish();
    return { layout: 'list', type: this.type, ...counted, offsets: this.#offsets.finish(counted.length), element: this.element.finish() };
  }
}

/** map: as many values to `keys` as to `values`, no key twice (`KeySet`), then `end` closes the map. */
export class MapBuilder implements ColumnBuilder {
  readonly type: MapType;
  readonly keys: ColumnBuilder;
  readonly values: ColumnBuilder;
  readonly #offsets = new Offsets();

  constructor(type: MapType, keys: ColumnBuilder, values: ColumnBuilder) {
    this.type = type;
    this.keys = keys;
    this.values = values;
  }

  get length(): number {
    return this.#offsets.validity.length;
  }

  end(): void {
    this.#offsets.append(this.keys.length, true);
  }

  appendNull(): void {
    this.#offsets.append(this.keys.length, false);
  }

  truncate(length: number): void {
    const entries = this.#offsets.truncate(length);
    this.keys.truncate(entries);
    this.values.truncate(entries);
  }

  finish(): MapColumn {
    const counted = this.#offsets.validity.finish();
    const offsets = this.#offsets.finish(counted.length);
    return { layout: 'map', type: this.type, ...counted, offsets, keys: this.keys.finish(), values: this.values.finish() };
  }
}
