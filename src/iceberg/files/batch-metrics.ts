import { bytesAt, unscaledAt } from '../../codec/rows.ts';
import { columnStatistics } from '../../codec/statistics.ts';
import type { StoredBound } from '../../engine/engine.ts';
import { isFloating } from '../../expr/sql/cast-sql.ts';
import { andBits, bitAt, countOnes, isValidAt } from '../../schema/bitmap.ts';
import type { Column, ColumnBatch, FixedColumn } from '../../schema/columns.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { LeafMetrics } from './file-metrics.ts';

interface Leaf {
  readonly id: number | undefined;
  readonly type: DataType;
  /** Places of the column and of the members on the way to the leaf. */
  readonly places: readonly number[];
  nullCount: number;
  nanCount: number;
  min: StoredBound | undefined;
  max: StoredBound | undefined;
}

/** Metrics of a file gathered from the batches that are written to it. Lists and maps have none. */
export class BatchMetrics {
  readonly #leaves: readonly Leaf[];
  #rowCount = 0;

  constructor(schema: StructType) {
    this.#leaves = schema.fields.flatMap((field, place) => leavesOf(field, [place]));
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** The batch has the columns of the schema, in its order. */
  add(batch: ColumnBatch): void {
    this.#rowCount += batch.rowCount;
    for (const leaf of this.#leaves) addColumn(leaf, batch);
  }

  /** `storedBytes`: of leaf columns by id, where the format says it. */
  finish(storedBytes: ReadonlyMap<number, number> | undefined): readonly LeafMetrics[] {
    return this.#leaves.map(({ id, type, nullCount, nanCount, min, max }) => ({
      id,
      storedBytes: id === undefined ? undefined : storedBytes?.get(id),
      nullCount,
      nanCount: isFloating(type) ? nanCount : undefined,
      min,
      max,
    }));
  }
}

function leavesOf(field: Field, places: readonly number[]): readonly Leaf[] {
  const { type, id } = field;
  if (type.kind === 'struct') return type.fields.flatMap((member, place) => leavesOf(member, [...places, place]));
  if (type.kind === 'list' || type.kind === 'map') return [];
  return [{ id, type, places, nullCount: 0, nanCount: 0, min: undefined, max: undefined }];
}

function addColumn(leaf: Leaf, batch: ColumnBatch): void {
  const [first = 0, ...rest] = leaf.places;
  let column = batch.columns[first];
  let validity = column?.validity;
  for (const place of rest) {
    column = column?.layout === 'struct' ? column.children[place] : undefined;
    validity = andBits(validity, column?.validity, batch.rowCount);
  }
  if (column === undefined) return;
  const { length } = column;
  const nullCount = validity === undefined ? 0 : length - countOnes(validity, length);
  leaf.nullCount += nullCount;
  if (nullCount === length || leaf.type.kind === 'variant') return;
  const masked: Column = { ...column, validity: nullCount === 0 ? undefined : validity, nullCount };
  if (masked.layout === 'fixed' && isFloating(leaf.type)) addFloats(leaf, masked);
  else if (masked.layout === 'boolean' || (masked.layout === 'bytes' && leaf.type.kind === 'binary')) addOthers(leaf, masked);
  else addOrdered(leaf, masked);
}

/** Numbers, text, dates and times: the batch's own bounds. */
function addOrdered(leaf: Leaf, column: Column): void {
  const schema: StructType = { kind: 'struct', fields: [{ name: 'c', type: column.type, nullable: true }] };
  const [found] = columnStatistics({ schema, rowCount: column.length, columns: [column] }, { indexedColumns: -1 });
  if (found?.min !== undefined) widen(leaf, found.min);
  if (found?.max !== undefined) widen(leaf, found.max);
}

function addFloats(leaf: Leaf, { values, length, validity }: FixedColumn): void {
  for (let row = 0; row < length; row++) {
    if (!isValidAt(validity, row)) continue;
    const value = Number(values[row]);
    if (Number.isNaN(value)) leaf.nanCount += 1;
    else widen(leaf, value);
  }
}

function addOthers(leaf: Leaf, column: Column): void {
  for (let row = 0; row < column.length; row++) {
    if (!isValidAt(column.validity, row)) continue;
    if (column.layout === 'boolean') widen(leaf, bitAt(column.bits, row));
    else if (column.layout === 'bytes') widen(leaf, bytesAt(column, row));
    else if (column.layout === 'decimal') widen(leaf, unscaledAt(column.words, row));
  }
}

function widen(leaf: Leaf, value: StoredBound): void {
  if (leaf.min === undefined || compare(value, leaf.min) < 0) leaf.min = kept(value);
  if (leaf.max === undefined || compare(value, leaf.max) > 0) leaf.max = kept(value);
}

/** Bytes belong to a batch that goes. */
function kept(value: StoredBound): StoredBound {
  return value instanceof Uint8Array ? value.slice() : value;
}

function compare(left: StoredBound, right: StoredBound): number {
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return left < right ? -1 : left > right ? 1 : 0;
}
