import { ServiceError } from '../../base/errors.ts';
import { parseThriftStruct, type ThriftStruct, type ThriftValue, thriftField } from './thrift-compact.ts';

/** What a Parquet file's footer says of where its columns are. */
export interface RowGroupLayout {
  /** Where the row groups begin, ascending. */
  readonly offsets: readonly number[];
  /** Packed bytes of each leaf column of all row groups, in schema order. */
  readonly columnBytes: readonly number[];
}

const tailBytes = 8;
const fileField = { rowGroups: 4 } as const;
const groupField = { columns: 1 } as const;
const chunkField = { metadata: 3 } as const;
const columnField = { packedBytes: 7, dataPage: 9, dictionaryPage: 11 } as const;

/** @throws ServiceError `PARQUET_CORRUPT` (corrupt). */
export function rowGroupLayout(file: Uint8Array): RowGroupLayout {
  const length = new DataView(file.buffer, file.byteOffset, file.byteLength).getUint32(file.length - tailBytes, true);
  const footer = parseThriftStruct(file.subarray(file.length - tailBytes - length, file.length - tailBytes));
  const offsets: number[] = [];
  const columnBytes: number[] = [];
  for (const group of structs(thriftField(footer, fileField.rowGroups))) {
    const starts: number[] = [];
    for (const [index, chunk] of structs(thriftField(group, groupField.columns)).entries()) {
      const metadata = thriftField(chunk, chunkField.metadata);
      if (!isStruct(metadata)) throw corrupt();
      columnBytes[index] = (columnBytes[index] ?? 0) + numberOf(metadata, columnField.packedBytes);
      const dictionary = numberOf(metadata, columnField.dictionaryPage);
      const data = numberOf(metadata, columnField.dataPage);
      starts.push(dictionary > 0 ? Math.min(dictionary, data) : data);
    }
    offsets.push(Math.min(...starts));
  }
  return { offsets, columnBytes };
}

function structs(value: ThriftValue | undefined): readonly ThriftStruct[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || !('kind' in value) || value.kind !== 'list') throw corrupt();
  return value.items.filter(isStruct);
}

function isStruct(value: ThriftValue | undefined): value is ThriftStruct {
  return typeof value === 'object' && 'kind' in value && value.kind === 'struct';
}

function numberOf(struct: ThriftStruct, id: number): number {
  const value = thriftField(struct, id);
  return typeof value === 'bigint' ? Number(value) : 0;
}

function corrupt(): ServiceError {
  return new ServiceError({ code: 'PARQUET_CORRUPT', kind: 'corrupt', message: 'the parquet footer has no row groups' });
}
