import { present } from '../base/assert.ts';
import { serviceError } from '../base/errors.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { StructType } from '../schema/types.ts';
import type { PartitionValues } from '../table/staged-file.ts';
import type { JsonBuffer } from './json-buffer.ts';
import { partitionConstant } from './partition-constant.ts';
import { memberPrefixes, type ValueWriter, valueWriterOf } from './value-writers.ts';

interface BatchWriters {
  readonly firstRow: number;
  readonly untilRow: number;
  readonly columns: readonly ValueWriter[];
}

/** Prints rows of one file, counted over its batches: every column of the table, partition columns filled in from the log. */
export class RowWriters {
  readonly rowCount: number;
  readonly #batches: readonly BatchWriters[];
  readonly #prefixes: readonly Uint8Array[];
  readonly #keyPositions: readonly number[];
  readonly #keyPrefixes: readonly Uint8Array[];
  #current: BatchWriters | undefined;

  /** @throws ServiceError `CDF_KEY_COLUMN_UNKNOWN` (kind invalid), `CDF_PARTITION_VALUE_INVALID` (kind corrupt). */
  constructor(options: {
    readonly schema: StructType;
    readonly partitionValues: PartitionValues;
    readonly batches: readonly ColumnBatch[];
    readonly keyColumns: readonly string[];
  }) {
    const names = options.schema.fields.map((field) => field.name);
    this.#prefixes = memberPrefixes(names);
    this.#keyPositions = keyPositions(options.schema, options.keyColumns);
    this.#keyPrefixes = memberPrefixes(options.keyColumns);
    const constants = partitionWriters(options.schema, options.partitionValues);
    let firstRow = 0;
    this.#batches = options.batches.map((batch) => {
      const columns = columnWriters(options.schema, batch, constants);
      const writers: BatchWriters = { firstRow, untilRow: firstRow + batch.rowCount, columns };
      firstRow = writers.untilRow;
      return writers;
    });
    this.rowCount = firstRow;
  }

  /** The row as a JSON object without its closing brace. */
  openRow(out: JsonBuffer, row: number): void {
    const batch = this.#batchOf(row);
    const index = row - batch.firstRow;
    const { columns } = batch;
    for (let position = 0; position < columns.length; position++) {
      const prefix = this.#prefixes[position];
      const write = columns[position];
      if (prefix !== undefined) out.chunk(prefix);
      if (write !== undefined) write(out, index);
    }
  }

  /** The key columns as a JSON object. */
  key(out: JsonBuffer, row: number): void {
    const batch = this.#batchOf(row);
    const index = row - batch.firstRow;
    for (let position = 0; position < this.#keyPositions.length; position++) {
      const prefix = this.#keyPrefixes[position];
      const write = batch.columns[this.#keyPositions[position] ?? 0];
      if (prefix !== undefined) out.chunk(prefix);
      if (write !== undefined) write(out, index);
    }
    out.byte(0x7d);
  }

  #batchOf(row: number): BatchWriters {
    const current = this.#current;
    if (current !== undefined && row >= current.firstRow && row < current.untilRow) return current;
    const found = this.#batches.find((batch) => row >= batch.firstRow && row < batch.untilRow);
    this.#current = present(found, `row ${row} lies in one of the batches`);
    return this.#current;
  }
}

/** Where the key columns are in the table's schema. @throws ServiceError `CDF_KEY_COLUMN_UNKNOWN` (kind invalid). */
export function keyPositions({ fields }: StructType, keyColumns: readonly string[]): readonly number[] {
  const names = fields.map((field) => field.name);
  return keyColumns.map((name) => keyPosition(names, name));
}

function keyPosition(names: readonly string[], name: string): number {
  const position = names.indexOf(name);
  if (position >= 0) return position;
  throw serviceError.invalid('CDF_KEY_COLUMN_UNKNOWN', `key column "${name}" is none of the table's columns ${names.join(', ')}`, {
    hint: "correct the feed's keyColumns",
  });
}

function partitionWriters(schema: StructType, partitionValues: PartitionValues): ReadonlyMap<string, ValueWriter> {
  const writers = new Map<string, ValueWriter>();
  for (const field of schema.fields) {
    if (!Object.hasOwn(partitionValues, field.name)) continue;
    const text = partitionConstant(field, partitionValues[field.name]);
    writers.set(field.name, (out) => {
      out.chunk(text);
    });
  }
  return writers;
}

function columnWriters(schema: StructType, batch: ColumnBatch, constants: ReadonlyMap<string, ValueWriter>): readonly ValueWriter[] {
  const columnOf = new Map(batch.schema.fields.map((field, position) => [field.name, batch.columns[position]]));
  return schema.fields.map((field) => {
    const constant = constants.get(field.name);
    if (constant !== undefined) return constant;
    return valueWriterOf(present(columnOf.get(field.name), `column "${field.name}" was read`));
  });
}
