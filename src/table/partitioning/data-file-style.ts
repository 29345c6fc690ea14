import { partitionDirectory } from '../partition-directory.ts';
import type { PartitionValues, WriteSpec } from '../staged-file.ts';
import { type PartitionPart, partitionPathOf, partitionValueText } from './partition-path.ts';
import { partitionText } from './partition-text.ts';
import { dataFilePath } from './spread-path.ts';

/** Where a kind of table has its data files and how it spells their partitions. */
export interface DataFileStyle {
  /** `undefined` is null, and what the table cannot tell from it. */
  readonly text: (part: PartitionPart) => string | undefined;
  /** Below the spec's location. */
  readonly path: (spec: WriteSpec, parts: readonly PartitionPart[], values: PartitionValues, fileName: string) => string;
  /** As Spark names files of the kind; `stem` is unique for ever. */
  readonly fileName: (spec: WriteSpec, stem: string, index: number) => string;
}

/** By `WriteSpec.partitionPathStyle`. */
export const dataFileStyles: Readonly<Record<WriteSpec['partitionPathStyle'], DataFileStyle>> = {
  'hive-delta': {
    text: ({ type, value }) => (value === undefined || value === '' ? undefined : partitionText(type, value, 'log')),
    path: ({ partitionColumns }, _parts, values, fileName) => partitionDirectory(partitionColumns, values) + fileName,
    fileName({ compression }, stem, index) {
      const codec = compression === 'uncompressed' ? '' : `.${compression}`;
      return `part-${index.toString().padStart(5, '0')}-${stem}.c000${codec}.parquet`;
    },
  },
  iceberg: {
    text: ({ transform, type, value }) => (value === undefined ? undefined : partitionValueText(transform, type, value)),
    path: ({ spread }, parts, _values, fileName) => dataFilePath(spread, partitionPathOf(parts), fileName),
    fileName: (_spec, stem, index) => `00000-0-${stem}-${(index + 1).toString().padStart(5, '0')}.parquet`,
  },
};
