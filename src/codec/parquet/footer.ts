import { serviceError } from '../../base/errors.ts';
import { parseThriftStruct, printThriftStruct, type ThriftStruct, type ThriftValue, thriftField } from './thrift-compact.ts';

/** What a Parquet file begins and ends with. */
export const parquetMark: Uint8Array = Buffer.from('PAR1');

/** Bytes at the end of a file that say how long the footer is, with the mark of the format. */
export const footerTailBytes = 8;

/** Bytes `[from, until)` of a file. */
export interface ByteRange {
  readonly from: number;
  readonly until: number;
}

/** A Parquet file's footer, without length and mark behind it. */
export interface FooterBytes {
  readonly bytes: Uint8Array;
  /** Where it begins: data ends before. */
  readonly start: number;
}

/** Length of the footer by the end of a file; `undefined`: it is not the end of a Parquet file. */
export function footerLength(end: Uint8Array): number | undefined {
  if (end.length < footerTailBytes || Buffer.compare(end.subarray(-parquetMark.length), parquetMark) !== 0) return undefined;
  return new DataView(end.buffer, end.byteOffset, end.byteLength).getUint32(end.length - footerTailBytes, true);
}

/** @throws ServiceError `PARQUET_CORRUPT` (corrupt) when the file does not end with a whole footer. */
export function footerOf(file: Uint8Array): FooterBytes {
  const start = file.length - footerTailBytes - (footerLength(file) ?? Number.POSITIVE_INFINITY);
  if (start < 0) throw serviceError.corrupt('PARQUET_CORRUPT', 'the parquet footer exceeds the file');
  return { bytes: file.subarray(start, file.length - footerTailBytes), start };
}

const rowsField = 3;

/**
 * Rows of a file by its footer.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (corrupt).
 */
export function rowsInFooter(file: Uint8Array): number {
  return numberOf(parseThriftStruct(footerOf(file).bytes), rowsField);
}

/** The file with another footer; the data pages are copied as they are. */
export function withFooter(file: Uint8Array, start: number, footer: ThriftStruct): Uint8Array {
  const printed = printThriftStruct(footer);
  return Buffer.concat([file.subarray(0, start), printed, footerTail(printed.length)]);
}

/** What stands behind a footer of so many bytes. */
export function footerTail(length: number): Uint8Array {
  const tail = Buffer.alloc(footerTailBytes);
  tail.writeUInt32LE(length);
  tail.set(parquetMark, footerTailBytes - parquetMark.length);
  return tail;
}

const chunkField = { metadata: 3 } as const;
const columnField = { packedBytes: 7, dataPage: 9, dictionaryPage: 11 } as const;

/** Where the pages of a column chunk are; `undefined` when the footer does not say, as of encrypted columns. */
export function chunkRange(chunk: ThriftStruct): ByteRange | undefined {
  const metadata = thriftField(chunk, chunkField.metadata);
  if (!isStruct(metadata)) return undefined;
  const dictionary = numberOf(metadata, columnField.dictionaryPage);
  const data = numberOf(metadata, columnField.dataPage);
  const from = dictionary > 0 ? Math.min(dictionary, data) : data;
  return { from, until: from + numberOf(metadata, columnField.packedBytes) };
}

/** The structs of a list field; none when it is missing or no list. */
export function structsOf(struct: ThriftStruct, id: number): readonly ThriftStruct[] {
  const value = thriftField(struct, id);
  return isList(value) ? value.items.filter(isStruct) : [];
}

/** 0 when the field is missing or no integer. */
export function numberOf(struct: ThriftStruct, id: number): number {
  const value = thriftField(struct, id);
  return typeof value === 'bigint' ? Number(value) : 0;
}

export function isStruct(value: ThriftValue | undefined): value is ThriftStruct {
  return typeof value === 'object' && 'kind' in value && value.kind === 'struct';
}

export function isList(value: ThriftValue | undefined): value is Extract<ThriftValue, { readonly kind: 'list' }> {
  return typeof value === 'object' && 'kind' in value && value.kind === 'list';
}
