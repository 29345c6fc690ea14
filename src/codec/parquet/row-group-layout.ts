import { serviceError } from '../../base/errors.ts';
import { chunkRange, footerOf, structsOf } from './footer.ts';
import { parseThriftStruct } from './thrift-compact.ts';

/** What a Parquet file's footer says of where its columns are. */
export interface RowGroupLayout {
  /** Where the row groups begin, ascending. */
  readonly offsets: readonly number[];
  /** Packed bytes of each leaf column of all row groups, in schema order. */
  readonly columnBytes: readonly number[];
}

const fileField = { rowGroups: 4 } as const;
const groupField = { columns: 1 } as const;

/** @throws ServiceError `PARQUET_CORRUPT` (corrupt). */
export function rowGroupLayout(file: Uint8Array): RowGroupLayout {
  const offsets: number[] = [];
  const columnBytes: number[] = [];
  for (const group of structsOf(parseThriftStruct(footerOf(file).bytes), fileField.rowGroups)) {
    const ranges = structsOf(group, groupField.columns).map((chunk) => {
      const range = chunkRange(chunk);
      if (range !== undefined) return range;
      throw serviceError.corrupt('PARQUET_CORRUPT', 'the parquet footer has no row groups');
    });
    for (const [index, { from, until }] of ranges.entries()) columnBytes[index] = (columnBytes[index] ?? 0) + until - from;
    offsets.push(Math.min(...ranges.map(({ from }) => from)));
  }
  return { offsets, columnBytes };
}
