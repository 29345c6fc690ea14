import { assert, present } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { KeyedSpec } from '../../protocol/sealed-batch.ts';
import { isValidAt } from '../../schema/bitmap.ts';
import { columnBytes } from '../../schema/column-bytes.ts';
import { type Column, type ColumnBatch, fieldOf, isValid } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import { takeRows } from '../../schema/take.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { KeyedRows } from '../../table/keyed.ts';
import { groupRows } from '../group-rows.ts';
import { rowOrder } from './row-order.ts';

/** What is left of the rows of a batch when only the last one of each key counts. */
interface Folded {
  /** Rows of the table, in the order of arrival. */
  readonly rows: ColumnBatch;
  readonly keyed: KeyedRows;
}

/** Takes the rows of a batch in their order and keeps the last of each key. */
export class KeyFold {
  readonly #schema: StructType;
  readonly #spec: KeyedSpec;
  readonly #maxBytes: number;
  #rows: ColumnBatch | undefined;

  /** `schema`: of the table's rows. `maxBytes`: what the rows that are kept may take in memory. */
  constructor(schema: StructType, spec: KeyedSpec, maxBytes: number) {
    this.#schema = schema;
    this.#spec = spec;
    this.#maxBytes = maxBytes;
  }

  /**
   * `batch`: rows of the table, with the column that `KeyedSpec.deleted` adds.
   *
   * @throws ServiceError `KEYED_BATCH_TOO_LARGE` (kind invalid) when what is kept does not fit in memory.
   */
  add(batch: ColumnBatch): void {
    const all = concatBatches(batch.schema, this.#rows === undefined ? [batch] : [this.#rows, batch]);
    const last = lastOfKeys(all, this.#spec);
    this.#rows = last.length === all.rowCount ? all : takeRows(all, last);
    const bytes = this.#rows.columns.reduce((sum, column) => sum + columnBytes(column), 0);
    if (bytes > this.#maxBytes) throw tooLarge(bytes, this.#maxBytes);
  }

  /** What is left; `undefined`: there were no rows. */
  take(): Folded | undefined {
    const all = this.#rows;
    this.#rows = undefined;
    if (all === undefined || all.rowCount === 0) return undefined;
    const { keyColumns, orderColumns } = this.#spec;
    const told = [...keyColumns, ...orderColumns];
    const deleted = deletedBits(all, this.#spec);
    const kept = new Int32Array(all.rowCount);
    let count = 0;
    for (let row = 0; row < all.rowCount; row++) {
      if (isValidAt(deleted, row)) continue;
      kept[count] = row;
      count += 1;
    }
    const ofTable: ColumnBatch = {
      schema: this.#schema,
      rowCount: all.rowCount,
      columns: all.columns.slice(0, this.#schema.fields.length),
    };
    const mark: Column = {
      layout: 'boolean',
      type: { kind: 'boolean' },
      length: all.rowCount,
      nullCount: 0,
      validity: undefined,
      bits: deleted,
    };
    const fields = [...told.map((name) => fieldNamed(all, name)), deletedField];
    return {
      rows: count === all.rowCount ? ofTable : takeRows(ofTable, kept.subarray(0, count)),
      keyed: {
        keyColumns,
        orderColumns,
        keys: { schema: { kind: 'struct', fields }, rowCount: all.rowCount, columns: [...requiredOf(all, told), mark] },
      },
    };
  }
}

const deletedField: Field = { name: 'deleted', type: { kind: 'boolean' }, nullable: false };

/** The last row of each key by the order, of rows of one order the last that came; ascending. Keys are equal when the bits of all their columns are. */
function lastOfKeys(batch: ColumnBatch, { keyColumns, orderColumns }: KeyedSpec): Int32Array {
  const { rowCount } = batch;
  const { codes, count } = groupRows(requiredOf(batch, keyColumns), rowCount, () => undefined);
  const last = new Int32Array(count).fill(-1);
  const compare = rowOrder(requiredOf(batch, orderColumns));
  for (let row = 0; row < rowCount; row++) {
    const code = codes[row] ?? 0;
    const known = last[code] ?? -1;
    if (known < 0 || compare(row, known) >= 0) last[code] = row;
  }
  return last.sort();
}

function requiredOf(batch: ColumnBatch, names: readonly string[]): readonly Column[] {
  return names.map((name) => {
    const column = columnNamed(batch, name);
    assert(column.nullCount === 0, `column "${name}" has a row without a value`);
    return column;
  });
}

function deletedBits(batch: ColumnBatch, { deleted }: KeyedSpec): Uint8Array {
  const bits = new Uint8Array((batch.rowCount + 7) >> 3);
  if (deleted.kind === 'none') return bits;
  const column = columnNamed(batch, deleted.kind === 'column' ? deleted.name : deleted.field.name);
  for (let row = 0; row < batch.rowCount; row++)
    if (isValid(column, row) && saysDeleted(column, row)) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  return bits;
}

/** A boolean, or the text that Debezium's own unwrapping writes. */
function saysDeleted(column: Column, row: number): boolean {
  if (column.layout === 'boolean') return isValidAt(column.bits, row);
  if (column.layout !== 'bytes') return false;
  return (
    Buffer.from(column.data.buffer, column.data.byteOffset, column.data.byteLength).toString(
      'utf8',
      column.offsets[row],
      column.offsets[row + 1],
    ) === 'true'
  );
}

function columnNamed(batch: ColumnBatch, name: string): Column {
  return present(batch.columns[batch.schema.fields.findIndex((field) => field.name === name)], `the rows must have the column "${name}"`);
}

function fieldNamed(batch: ColumnBatch, name: string): Field {
  return present(fieldOf(batch.schema, name), `the rows must have the column "${name}"`);
}

function tooLarge(bytes: number, maxBytes: number): ServiceError {
  return serviceError.invalid(
    'KEYED_BATCH_TOO_LARGE',
    `the last rows of the keys of one batch take ${bytes} bytes of memory, more than ${maxBytes}`,
    { hint: 'set ingest.maxBatchBytes or ingest.maxBatchRows lower, or ingest.memory higher (foldedBytes in the log at the start)' },
  );
}
