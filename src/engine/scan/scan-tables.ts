import { throwIfAborted } from '../../base/abort.ts';
import { buildColumn } from '../../codec/build-columns.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { FileScan } from '../../table/scan.ts';
import { nullableStruct } from '../duckdb-types.ts';

const rowsPerBatch = 8_192;

/** Index of the file, and one text column for each partition column, in the scan's order. */
export function partitionsSchema(scan: FileScan): StructType {
  return nullableStruct([
    { name: 'file', type: { kind: 'long' } },
    ...scan.partitionColumns.map((_, index) => ({ name: `p${index}`, type: { kind: 'string' } as const })),
  ]);
}

/** One row for each file. */
export function* partitionBatches(scan: FileScan): Generator<ColumnBatch, void, undefined> {
  const schema = partitionsSchema(scan);
  for (let from = 0; from < scan.files.length; from += rowsPerBatch) {
    const files = scan.files.slice(from, from + rowsPerBatch);
    const indices = files.map((_, index) => from + index);
    const columns = [
      buildColumn({ kind: 'long' }, indices, 'file'),
      ...scan.partitionColumns.map((name) =>
        buildColumn(
          { kind: 'string' },
          files.map((file) => file.partitionValues[name]),
          name,
        ),
      ),
    ];
    yield { schema, rowCount: files.length, columns };
  }
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
      const base = { type: { kind: 'long' }, length: values.length, nullCount: 0, validity: undefined, layout: 'fixed' } as const;
      const files = new BigInt64Array(values.length).fill(BigInt(index));
      yield {
        schema: positionsSchema,
        rowCount: values.length,
        columns: [
          { ...base, values: files },
          { ...base, values },
        ],
      };
    }
  }
}
