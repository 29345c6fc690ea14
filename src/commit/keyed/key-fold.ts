import { assert, present } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { KeyedSpec } from '../../protocol/sealed-batch.ts';
import { isValidAt } from '../../schema/bitmap.ts';
import { columnBytes } from '../../schema/column-bytes.ts';
import { type BytesColumn, type Column, type ColumnBatch, fieldOf, isValid } from '../../schema/columns.ts';
import { concatBatches } from '../../schema/concat.ts';
import { takeRows } from '../../schema/take.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { KeyedRows, Patches } from '../../table/keyed.ts';
import { AbsentBits, type AbsentColumn } from './absent-bits.ts';
import { lastRows } from './last-rows.ts';

/** What is left of the rows of a batch when only the last one of each key counts. */
interface Folded {
  /** Rows of the table, in the order of arrival. */
  readonly rows: ColumnBatch;
  readonly keyed: KeyedRows;
}

/** Takes the rows of a batch in their order and keeps the last of each key, with what earlier ones have that it leaves as it is. */
export class KeyFold {
  readonly #schema: StructType;
  readonly #spec: KeyedSpec;
  readonly #maxBytes: number;
  #rows: ColumnBatch | undefined;
  #empties = false;

  /** `schema`: of the table's rows. `maxBytes`: what the rows that are kept may take in memory. */
  constructor(schema: StructType, spec: KeyedSpec, maxBytes: number) {
    this.#schema = schema;
    this.#spec = spec;
    this.#maxBytes = maxBytes;
  }

  /**
   * `batch`: rows of the table, with the columns that `KeyedSpec` adds.
   *
   * @throws ServiceError `KEYED_BATCH_TOO_LARGE` (kind invalid) when what is kept does not fit in memory.
   */
  add(batch: ColumnBatch): void {
    const all = concatBatches(batch.schema, this.#rows === undefined ? [batch] : [this.#rows, batch]);
    const { keyColumns, orderColumns } = this.#spec;
    this.#rows = lastRows({
      batch: all,
      keys: requiredOf(all, keyColumns),
      order: requiredOf(all, orderColumns),
      deleted: () => deletedBits(all, this.#spec),
      absent: this.#absentIn(all),
      onNothing: this.#empties,
    });
    const bytes = this.#rows.columns.reduce((sum, column) => sum + columnBytes(column), 0);
    if (bytes > this.#maxBytes) throw tooLarge(bytes, this.#maxBytes);
  }

  /** All rows of the table end, those taken so far too. */
  empty(): void {
    this.#rows = undefined;
    this.#empties = true;
  }

  /** What is left; `undefined`: nothing becomes of the table. */
  take(): Folded | undefined {
    const all = this.#rows ?? concatBatches(this.#schema, []);
    const empties = this.#empties;
    this.#rows = undefined;
    this.#empties = false;
    if (all.rowCount === 0 && !empties) return undefined;
    const { keyColumns, orderColumns } = this.#spec;
    const told = [...keyColumns, ...orderColumns];
    const deleted = all.rowCount === 0 ? new Uint8Array(0) : deletedBits(all, this.#spec);
    const absent = this.#absentIn(all);
    const bits = absent === undefined ? undefined : new AbsentBits(all.columns[absent.index] as BytesColumn);
    const [whole, partial]: [number[], number[]] = [[], []];
    for (let row = 0; row < all.rowCount; row++) if (!isValidAt(deleted, row)) (bits?.hasAny(row) === true ? partial : whole).push(row);
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
      rows: whole.length === all.rowCount ? ofTable : takeRows(ofTable, Int32Array.from(whole)),
      keyed: {
        keyColumns,
        orderColumns,
        ...(empties ? { empties } : {}),
        ...(bits === undefined || partial.length === 0 ? {} : { patches: this.#patches(ofTable, bits, Int32Array.from(partial)) }),
        keys: { schema: { kind: 'struct', fields }, rowCount: all.rowCount, columns: [...requiredOf(all, told), mark] },
      },
    };
  }

  #patches(ofTable: ColumnBatch, bits: AbsentBits, partial: Int32Array): Patches {
    const flags = (this.#spec.absent?.columns ?? []).flatMap((name, bit) => {
      const flag = bits.flags(partial, bit);
      return flag === undefined ? [] : [{ name, flag }];
    });
    const { columns } = takeRows(ofTable, partial);
    const fields = [...this.#schema.fields, ...flags.map(({ name }) => ({ ...deletedField, name: `left ${name}` }))];
    return {
      rows: { schema: { kind: 'struct', fields }, rowCount: partial.length, columns: [...columns, ...flags.map(({ flag }) => flag)] },
      columns: flags.map(({ name }) => name),
    };
  }

  /** Where the rows say what they leave as it is. */
  #absentIn({ schema: { fields } }: ColumnBatch): AbsentColumn | undefined {
    const { absent } = this.#spec;
    const placeOf = (name: string): number => fields.findIndex((field) => field.name === name);
    const index = absent === undefined ? -1 : placeOf(absent.field.name);
    return absent === undefined || index < 0 ? undefined : { index, columns: absent.columns.map(placeOf) };
  }
}

const deletedField: Field = { name: 'deleted', type: { kind: 'boolean' }, nullable: false };

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
