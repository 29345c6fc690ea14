import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { InspectedFile } from '../inspected-file.ts';
import { chunkRange, footerLength, footerTailBytes, numberOf, parquetMark, structsOf } from './footer.ts';
import { parseThriftStruct, type ThriftStruct } from './thrift-compact.ts';

/** Footers of most files are shorter: they are fetched at once. */
const guessedTailBytes = 16 * 1024;
const markBytes = parquetMark.length;
const fileField = { rows: 3, rowGroups: 4 } as const;
const groupField = { columns: 1, rows: 3 } as const;

/**
 * Rows of a Parquet file by its footer: it begins and ends as one, its row groups add up, and every column lies between its two ends. Pages are
 * not read.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (corrupt).
 */
export async function inspectParquet(file: InspectedFile): Promise<number> {
  const { sizeBytes } = file;
  if (sizeBytes < markBytes + footerTailBytes) throw corrupt(file, `${sizeBytes} bytes are too few`);
  const head = await file.read({ from: 0, until: markBytes });
  if (Buffer.compare(head, parquetMark) !== 0) throw corrupt(file, 'it does not begin as a parquet file does');
  const footer = await footerOf(file);
  const struct = parseThriftStruct(footer);
  const rows = numberOf(struct, fileField.rows);
  const end = sizeBytes - footerTailBytes - footer.length;
  let inGroups = 0;
  for (const group of structsOf(struct, fileField.rowGroups)) {
    inGroups += numberOf(group, groupField.rows);
    for (const chunk of structsOf(group, groupField.columns)) checkPlace(file, chunk, end);
  }
  if (inGroups !== rows) throw corrupt(file, `its footer says ${rows} rows, its row groups ${inGroups}`);
  return rows;
}

async function footerOf(file: InspectedFile): Promise<Uint8Array> {
  const { sizeBytes } = file;
  const tailOf = (bytes: number): Promise<Uint8Array> => file.read({ from: Math.max(0, sizeBytes - bytes), until: sizeBytes });
  let tail = await tailOf(guessedTailBytes);
  const length = footerLength(tail);
  if (length === undefined) throw corrupt(file, 'it does not end as a parquet file does');
  const needed = length + footerTailBytes;
  if (needed + markBytes > sizeBytes) throw corrupt(file, 'its footer is longer than the file');
  if (needed > tail.length) tail = await tailOf(needed);
  return tail.subarray(tail.length - needed, tail.length - footerTailBytes);
}

function checkPlace(file: InspectedFile, chunk: ThriftStruct, end: number): void {
  const range = chunkRange(chunk);
  // Encrypted columns have theirs elsewhere.
  if (range === undefined) return;
  const { from, until } = range;
  if (from < markBytes || until > end) throw corrupt(file, `a column at [${from}, ${until}) lies outside of [${markBytes}, ${end})`);
}

function corrupt({ name }: InspectedFile, problem: string): ServiceError {
  return serviceError.corrupt('PARQUET_CORRUPT', `parquet file "${name}": ${problem}`);
}
