import { present } from '../../base/assert.ts';
import type { Expectation, TransformOutput, TransformSpec } from '../../protocol/transform-spec.ts';
import { bitAt } from '../../schema/bitmap.ts';
import { type Column, type ColumnBatch, isValid } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import { takeColumn } from '../../schema/take.ts';
import type { Field, StructType } from '../../schema/types.ts';
import { refusesEmptyText } from '../decode/filled-text.ts';
import type { FailedRecord, TransformedRows, TransformTarget } from './transformed-rows.ts';
import { valuesRead } from './values-read.ts';

interface Computation {
  /** Decoded. */
  readonly records: ColumnBatch;
  /** Of the records in the batch they are of. */
  readonly places: Int32Array;
  /** What the engine gave; absent where nothing had to be computed. */
  readonly computed: { readonly columns: readonly number[]; readonly result: ColumnBatch } | undefined;
}

/** Rows that may go into the table, before it is known which of them do. */
interface Candidates {
  readonly columns: readonly Column[];
  readonly count: number;
  /** The record of each row. */
  readonly sources: Int32Array;
  /** False of a row that stands for a record without any. */
  readonly made: Column | undefined;
  /** Of each expectation, whether the row meets it. */
  readonly checks: readonly (Column | undefined)[];
}

type Failures = Map<number, Omit<FailedRecord, 'row'>>;

/** The rows of the table, without those of records that do not fit it. */
export function settledRows(spec: TransformSpec, target: TransformTarget, computation: Computation): TransformedRows {
  const { records, places } = computation;
  const candidates = candidatesOf(spec, target.schema, computation);
  const failures: Failures = new Map();
  for (const [index, field] of target.schema.fields.entries()) {
    for (const record of missing(candidates, index, field, target)) {
      if (!failures.has(record)) failures.set(record, missingFailure(spec, field, { index, records, record }));
    }
  }
  const unmet = new Map<string, number>();
  for (const [index, expectation] of spec.expectations.entries()) {
    const failed = new Set(recordsOf(candidates, (row) => !isTrue(candidates.checks[index], row)));
    if (failed.size === 0) continue;
    unmet.set(expectation.name, failed.size);
    if (expectation.onFailure === 'count') continue;
    for (const record of failed) if (!failures.has(record)) failures.set(record, unmetFailure(expectation, { records, record }));
  }
  const { columns, rowCount, withRows, seen } = keptRows(candidates, failures, records.rowCount);
  const failed = [...failures].map(([record, failure]): FailedRecord => ({ row: places[record] ?? 0, ...failure }));
  return {
    rows: { schema: target.schema, rowCount, columns },
    records: withRows,
    failed: failed.toSorted((left, right) => left.row - right.row),
    filtered: records.rowCount - seen,
    empty: seen - withRows - failed.length,
    unmet,
  };
}

function candidatesOf(spec: TransformSpec, table: StructType, { records, computed }: Computation): Candidates {
  const result = computed?.result;
  const count = result?.rowCount ?? records.rowCount;
  const given = result?.columns ?? [];
  const firstComputed = spec.generator === undefined ? 1 : 2;
  const { sources, inOrder } = sourcesOf(given[0], count, records.rowCount);
  const columnOf = (output: TransformOutput, index: number): Column => {
    switch (output.kind) {
      case 'record': {
        const column = present(records.columns[output.column], 'a column of the record is there');
        return inOrder ? column : takeColumn(column, sources);
      }
      case 'absent':
        return nullColumn(present(table.fields[index], 'there is an output for each column').type, count);
      default:
        return present(given[firstComputed + (computed?.columns.indexOf(index) ?? 0)], 'a computed column is in the result');
    }
  };
  return {
    columns: spec.outputs.map(columnOf),
    count,
    sources,
    made: spec.generator === undefined ? undefined : given[1],
    checks: spec.expectations.map((_, index) => given[firstComputed + (computed?.columns.length ?? 0) + index]),
  };
}

function sourcesOf(
  numbers: Column | undefined,
  count: number,
  records: number,
): { readonly sources: Int32Array; readonly inOrder: boolean } {
  const sources = new Int32Array(count);
  // The numbers of records are small: of each 64-bit word the lower half.
  const values = numbers?.layout === 'fixed' ? numbers.values : undefined;
  const halves = values === undefined ? undefined : new Int32Array(values.buffer, values.byteOffset, 2 * count);
  let inOrder = count === records;
  for (let row = 0; row < count; row++) {
    const source = halves?.[2 * row] ?? row;
    sources[row] = source;
    inOrder &&= source === row;
  }
  return { sources, inOrder };
}

/** The records of the rows that the test is true of. */
function* recordsOf({ count, sources, made }: Candidates, test: (row: number) => boolean): Generator<number> {
  for (let row = 0; row < count; row++) if ((made === undefined || isTrue(made, row)) && test(row)) yield sources[row] ?? 0;
}

/** The records that have no value in a column that needs one. */
function missing(candidates: Candidates, index: number, field: Field, { partitionColumns }: TransformTarget): Iterable<number> {
  const column = candidates.columns[index];
  if (column === undefined || field.nullable) return [];
  const notEmpty = column.layout === 'bytes' && refusesEmptyText(field, partitionColumns);
  if (column.nullCount === 0 && !notEmpty) return [];
  const isEmpty = (row: number): boolean => notEmpty && column.offsets[row] === column.offsets[row + 1];
  return recordsOf(candidates, (row) => !isValid(column, row) || isEmpty(row));
}

interface AtRecord {
  readonly records: ColumnBatch;
  readonly record: number;
}

function missingFailure(
  { outputs }: TransformSpec,
  { name }: Field,
  { index, records, record }: AtRecord & { readonly index: number },
): Omit<FailedRecord, 'row'> {
  const output = outputs[index];
  const given =
    output?.kind === 'computed'
      ? `${output.expression.place} gives none${valuesRead(output.expression, records, record)}`
      : 'there is none';
  return { reason: 'missing-required', message: `column "${name}": a value is required, and ${given}`, suspends: false };
}

function unmetFailure({ expression, onFailure }: Expectation, { records, record }: AtRecord): Omit<FailedRecord, 'row'> {
  const message = `${expression.place} is not met${valuesRead(expression, records, record)}`;
  return { reason: 'expectation-failed', message, suspends: onFailure === 'suspend' };
}

function keptRows(
  { columns, count, sources, made }: Candidates,
  failures: Failures,
  records: number,
): { readonly columns: readonly Column[]; readonly rowCount: number; readonly withRows: number; readonly seen: number } {
  if (made === undefined && failures.size === 0) return { columns, rowCount: count, withRows: count, seen: count };
  const [seen, kept] = [new Uint8Array(records), new Uint8Array(records)];
  const rows = new Int32Array(count);
  let rowCount = 0;
  for (let row = 0; row < count; row++) {
    const source = sources[row] ?? 0;
    seen[source] = 1;
    if ((made !== undefined && !isTrue(made, row)) || failures.has(source)) continue;
    kept[source] = 1;
    rows[rowCount] = row;
    rowCount += 1;
  }
  const chosen = rows.subarray(0, rowCount);
  const taken = rowCount === count ? columns : columns.map((column) => takeColumn(column, chosen));
  return { columns: taken, rowCount, withRows: ones(kept), seen: ones(seen) };
}

function ones(marks: Uint8Array): number {
  return marks.reduce((sum, mark) => sum + mark, 0);
}

function isTrue(column: Column | undefined, row: number): boolean {
  return column?.layout === 'boolean' && bitAt(column.bits, row);
}
