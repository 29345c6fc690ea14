import { throwIfAborted } from '../../base/abort.ts';
import { buildColumn } from '../../codec/build-columns.ts';
import { type Column, type ColumnBatch, longColumn } from '../../schema/columns.ts';
import { nullColumn } from '../../schema/null-column.ts';
import type { StructType } from '../../schema/types.ts';
import type { FileScan } from '../../table/scan.ts';
import { nullableStruct } from '../duckdb-types.ts';
import type { ScanGroup } from './scan-groups.ts';

const rowsPerBatch = 8_192;

/** Index of the file, and one text column for each partition column, in the layout's order. */
export function partitionsSchema({ layout }: ScanGroup): StructType {
  return nullableStruct([
    { name: 'file', type: { kind: 'long' } },
    ...layout.partitionColumns.map((_, index) => ({ name: `p${index}`, type: { kind: 'string' } as const })),
  ]);
}

/** One row for each file. */
export function* partitionBatches(group: ScanGroup): Generator<ColumnBatch, void, undefined> {
  const schema = partitionsSchema(group);
  for (let from = 0; from < group.files.length; from += rowsPerBatch) {
    const files = group.files.slice(from, from + rowsPerBatch);
    const columns = [
      buildColumn(
        { kind: 'long' },
        files.map(({ index }) => index),
        'file',
      ),
      ...group.layout.partitionColumns.map((name) =>
        buildColumn(
          { kind: 'string' },
          files.map(({ file }) => file.partitionValues[name]),
          name,
        ),
      ),
    ];
    yield { schema, rowCount: files.length, columns };
  }
}

/** Index of the file, and what it says of itself for hidden columns: `c0`, `c1`, … in the order of the facts. */
export function factsSchema(facts: ColumnBatch): StructType {
  const columns = facts.schema.fields.map(({ type }, index) => ({ name: `c${index}`, type }));
  return nullableStruct([{ name: 'file', type: { kind: 'long' } }, ...columns]);
}

/** One row for each file. */
export function factsBatch(facts: ColumnBatch): ColumnBatch {
  const files = longColumn(BigInt64Array.from({ length: facts.rowCount }, (_, index) => BigInt(index)));
  return { schema: factsSchema(facts), rowCount: facts.rowCount, columns: [files, ...facts.columns] };
}

/** Index of the file, and the position of the row. */
export const positionsSchema: StructType = nullableStruct([
  { name: 'file', type: { kind: 'long' } },
  { name: 'pos', type: { kind: 'long' } },
]);

/** One row for each row position that the files name; one file's positions are in memory at a time. */
export async function* positionBatches(
  scan: FileScan,
  which: 'deletedRows' | 'onlyRows',
  signal?: AbortSignal,
): AsyncGenerator<ColumnBatch, void, undefined> {
  for (const [index, file] of scan.files.entries()) {
    const read = file[which];
    if (read === undefined) continue;
    throwIfAborted(signal);
    const positions = await read(signal);
    for (let from = 0; from < positions.length; from += rowsPerBatch) {
      const values = positions.subarray(from, from + rowsPerBatch);
      const files = longColumn(new BigInt64Array(values.length).fill(BigInt(index)));
      yield { schema: positionsSchema, rowCount: values.length, columns: [files, longColumn(values)] };
    }
  }
}

/** Place of the row, the scan's columns that come from files (`c0`, `c1`, …), and what row tracking stores (`r0`, `r1`). */
export function givenRowsSchema(scan: FileScan, { layout }: ScanGroup): StructType {
  const fields = scan.schema.fields.filter((field) => !layout.partitionColumns.includes(field.name));
  return nullableStruct([
    { name: 'file', type: { kind: 'long' } },
    { name: 'pos', type: { kind: 'long' } },
    ...fields.map((field, index) => ({ name: `c${index}`, type: field.type })),
    { name: 'r0', type: { kind: 'long' } },
    { name: 'r1', type: { kind: 'long' } },
  ]);
}

/** The rows of files that the engine does not read itself, one file after the other. */
export async function* givenRowBatches(
  scan: FileScan,
  group: ScanGroup,
  signal?: AbortSignal,
): AsyncGenerator<ColumnBatch, void, undefined> {
  const schema = givenRowsSchema(scan, group);
  const columnCount = schema.fields.length;
  for (const { file, index } of group.files) {
    if (file.rows === undefined) continue;
    let position = 0;
    for await (const batch of file.rows(signal)) {
      throwIfAborted(signal);
      const { rowCount } = batch;
      const from = position;
      position += rowCount;
      const files = longColumn(new BigInt64Array(rowCount).fill(BigInt(index)));
      const positions = longColumn(BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(from + row)));
      const given: Column[] = [files, positions, ...batch.columns].slice(0, columnCount);
      while (given.length < columnCount) given.push(nullColumn(schema.fields[given.length]?.type ?? { kind: 'long' }, rowCount));
      yield { schema, rowCount, columns: given };
    }
  }
}
