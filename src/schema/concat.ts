import { assert, assertNever } from '../base/assert.ts';
import { appendBits } from './bitmap.ts';
import type {
  BooleanColumn,
  BytesColumn,
  Column,
  ColumnBatch,
  DecimalColumn,
  FixedColumn,
  ListColumn,
  MapColumn,
  StructColumn,
} from './columns.ts';
import { fixedValues, nullColumn } from './null-column.ts';
import { sliceColumn } from './slice.ts';
import type { DataType, StructType } from './types.ts';

/** The rows of all batches in order, in one batch. They share the schema; no batch at all gives zero rows of `schema`. */
export function concatBatches(schema: StructType, batches: readonly ColumnBatch[]): ColumnBatch {
  const [only] = batches;
  if (only !== undefined && batches.length === 1) return only;
  const columns = schema.fields.map((field, index) =>
    concatColumns(
      field.type,
      batches.map((batch) => {
        const column = batch.columns[index];
        assert(column !== undefined, `batch without column ${index} "${field.name}"`);
        return column;
      }),
    ),
  );
  return { schema, rowCount: batches.reduce((sum, batch) => sum + batch.rowCount, 0), columns };
}

/** The values of all columns in order. All have the layout that belongs to `type`. */
export function concatColumns(type: DataType, columns: readonly Column[]): Column {
  const [only] = columns;
  if (only === undefined) return nullColumn(type, 0);
  if (columns.length === 1) return only;
  const length = columns.reduce((sum, column) => sum + column.length, 0);
  const base = { type, length, ...concatValidity(columns, length) };
  switch (only.layout) {
    case 'fixed':
      return { ...base, layout: 'fixed', values: concatFixed(ofLayout<FixedColumn>(columns, 'fixed'), length) };
    case 'boolean':
      return { ...base, layout: 'boolean', bits: concatBits(ofLayout<BooleanColumn>(columns, 'boolean'), length) };
    case 'decimal':
      return { ...base, layout: 'decimal', words: concatWords(ofLayout<DecimalColumn>(columns, 'decimal'), length) };
    case 'bytes':
      return { ...base, layout: 'bytes', ...concatBytes(ofLayout<BytesColumn>(columns, 'bytes'), length) };
    case 'struct': {
      const structs = ofLayout<StructColumn>(columns, 'struct');
      const children = only.children.map((child, index) =>
        concatColumns(
          child.type,
          structs.map((column) => childOf(column, index)),
        ),
      );
      return { ...base, layout: 'struct', children };
    }
    case 'list': {
      const lists = ofLayout<ListColumn>(columns, 'list');
      const parts = lists.map((list) => sliceColumn(list.element, entriesOf(list)));
      return { ...base, layout: 'list', offsets: concatOffsets(lists, length), element: concatColumns(only.element.type, parts) };
    }
    case 'map': {
      const maps = ofLayout<MapColumn>(columns, 'map');
      const keys = maps.map((map) => sliceColumn(map.keys, entriesOf(map)));
      const values = maps.map((map) => sliceColumn(map.values, entriesOf(map)));
      return {
        ...base,
        layout: 'map',
        offsets: concatOffsets(maps, length),
        keys: concatColumns(only.keys.type, keys),
        values: concatColumns(only.values.type, values),
      };
    }
    default:
      return assertNever(only);
  }
}

function ofLayout<T extends Column>(columns: readonly Column[], layout: T['layout']): readonly T[] {
  assert(
    columns.every((column) => column.layout === layout),
    `columns of layouts ${columns.map((column) => column.layout).join(', ')} cannot be joined`,
  );
  return columns as readonly T[];
}

function concatValidity(columns: readonly Column[], length: number): { validity: Uint8Array | undefined; nullCount: number } {
  const nullCount = columns.reduce((sum, column) => sum + column.nullCount, 0);
  if (nullCount === 0) return { validity: undefined, nullCount };
  const validity = new Uint8Array((length + 7) >> 3);
  let at = 0;
  for (const column of columns) {
    appendBits(column.validity, column.length, validity, at);
    at += column.length;
  }
  return { validity, nullCount };
}

function concatBits(columns: readonly BooleanColumn[], length: number): Uint8Array {
  const bits = new Uint8Array((length + 7) >> 3);
  let at = 0;
  for (const column of columns) {
    appendBits(column.bits, column.length, bits, at);
    at += column.length;
  }
  return bits;
}

function concatFixed(columns: readonly FixedColumn[], length: number): FixedColumn['values'] {
  const type = columns[0]?.type.kind;
  assert(type !== undefined && isFixedKind(type), `type ${String(type)} has no fixed width`);
  const target = fixedValues(type, length);
  let at = 0;
  for (const column of columns) {
    const part = column.values.subarray(0, column.length);
    if (target instanceof BigInt64Array && part instanceof BigInt64Array) target.set(part, at);
    else if (!(target instanceof BigInt64Array) && !(part instanceof BigInt64Array)) target.set(part, at);
    at += column.length;
  }
  return target;
}

function isFixedKind(kind: DataType['kind']): kind is Parameters<typeof fixedValues>[0] {
  return !['struct', 'list', 'map', 'string', 'binary', 'boolean', 'decimal'].includes(kind);
}

function concatWords(columns: readonly DecimalColumn[], length: number): BigInt64Array {
  const target = new BigInt64Array(2 * length);
  let at = 0;
  for (const column of columns) {
    target.set(column.words.subarray(0, 2 * column.length), at);
    at += 2 * column.length;
  }
  return target;
}

function concatBytes(columns: readonly BytesColumn[], length: number): { offsets: Int32Array; data: Uint8Array } {
  const offsets = concatOffsets(columns, length);
  const data = new Uint8Array(offsets[length] ?? 0);
  let at = 0;
  for (const column of columns) {
    const { from, until } = entriesOf(column);
    data.set(column.data.subarray(from, until), at);
    at += until - from;
  }
  return { offsets, data };
}

interface Ranges {
  readonly length: number;
  readonly offsets: Int32Array;
}

function concatOffsets(columns: readonly Ranges[], length: number): Int32Array {
  const offsets = new Int32Array(length + 1);
  let row = 0;
  let end = 0;
  for (const column of columns) {
    const { from, until } = entriesOf(column);
    const shift = end - from;
    for (let index = 0; index < column.length; index++) offsets[++row] = (column.offsets[index + 1] ?? 0) + shift;
    end += until - from;
    assert(end < 2 ** 31, `joined values hold ${end} entries or bytes, more than 2147483647`);
  }
  return offsets;
}

function entriesOf(column: Ranges): { from: number; until: number } {
  const from = column.offsets[0] ?? 0;
  return { from, until: column.offsets[column.length] ?? from };
}

function childOf(column: StructColumn, index: number): Column {
  const child = column.children[index];
  assert(child !== undefined, `struct column without child ${index}`);
  return child;
}
