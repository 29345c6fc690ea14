import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { valueSkipper } from '../../codec/avro/skip-values.ts';
import {
  bigintReader,
  bytesReader,
  type FieldStep,
  type FieldSteps,
  into,
  numberReader,
  numbersReader,
  optionalReader,
  type Read,
  recordSteps,
  textReader,
  unexpected,
} from './avro-fields.ts';
import type { ContentFile, FileContent, FileFormat, PartitionValue } from './content-file.ts';
import { boundsReader, countsReader, LazyMetrics, type MetricName, type MetricsReaders, metricNames } from './manifest-metrics.ts';
import { entryFieldIds, fileFieldIds } from './manifest-schemas.ts';
import type { PartitionReader } from './partition-reader.ts';

/** An entry as it is written: what is inherited is not there. */
export interface RawEntry {
  status: number;
  snapshotId: bigint | undefined;
  sequenceNumber: bigint | undefined;
  fileSequenceNumber: bigint | undefined;
  file: RawFile;
}

/** A file as it is written, its maps still in their bytes. */
export type RawFile = { -readonly [Key in Exclude<keyof ContentFile, MetricName | 'content' | 'format' | 'specId'>]: ContentFile[Key] } & {
  content: number;
  format: string;
  readonly metrics: LazyMetrics;
};

/** A block of entries and a name for it in errors. */
export interface EntryBlock {
  readonly bytes: Uint8Array;
  readonly where: string;
}

/** Reads one entry. The cursor is at it in the block. */
export type EntryReader = (cursor: ByteCursor, block: EntryBlock) => RawEntry;

/** A reader of the entries that a writer's record describes. Fields are known by id, else by name; others are passed over. */
export function entryReader(record: AvroRecord, partitionOf: (type: AvroRecord) => PartitionReader): EntryReader {
  const readers: MetricsReaders = {};
  const steps = recordSteps(record, entryFieldIds, {
    ...entrySteps,
    [entryFieldIds.data_file]: (type) => fileStep(type, fileSteps(readers, partitionOf)),
  });
  return (cursor, block) => {
    const entry: RawEntry = {
      status: -1,
      snapshotId: undefined,
      sequenceNumber: undefined,
      fileSequenceNumber: undefined,
      file: emptyFile(new LazyMetrics(readers, block.bytes, block.where)),
    };
    for (const step of steps) step(cursor, entry);
    return entry;
  };
}

/** What is known of a file beside what its entry says. */
export interface KnownFile {
  readonly content: FileContent;
  readonly format: FileFormat;
  readonly specId: number;
  readonly firstRowId: bigint | undefined;
}

/** The file of an entry, its maps decoded when they are asked for. */
export function contentFileOf(raw: RawFile, known: KnownFile): ContentFile {
  return new ReadFile(raw, known);
}

/**
 * The maps are properties of every file, so that a copy by spreading has them, and their getters the same for all: a manifest may have a
 * hundred thousand files.
 */
class ReadFile implements ContentFile {
  readonly content: FileContent;
  readonly path: string;
  readonly format: FileFormat;
  readonly specId: number;
  readonly partition: readonly PartitionValue[];
  readonly recordCount: number;
  readonly fileSizeBytes: number;
  declare readonly columnSizes: ReadonlyMap<number, number> | undefined;
  declare readonly valueCounts: ReadonlyMap<number, number> | undefined;
  declare readonly nullValueCounts: ReadonlyMap<number, number> | undefined;
  declare readonly nanValueCounts: ReadonlyMap<number, number> | undefined;
  declare readonly lowerBounds: ReadonlyMap<number, Uint8Array> | undefined;
  declare readonly upperBounds: ReadonlyMap<number, Uint8Array> | undefined;
  readonly keyMetadata: Uint8Array | undefined;
  readonly splitOffsets: readonly number[] | undefined;
  readonly equalityIds: readonly number[] | undefined;
  readonly sortOrderId: number | undefined;
  readonly firstRowId: bigint | undefined;
  readonly referencedDataFile: string | undefined;
  readonly contentOffset: number | undefined;
  readonly contentSizeBytes: number | undefined;
  readonly #lazy: LazyMetrics;

  constructor(raw: RawFile, known: KnownFile) {
    this.#lazy = raw.metrics;
    this.content = known.content;
    this.path = raw.path;
    this.format = known.format;
    this.specId = known.specId;
    this.partition = raw.partition;
    this.recordCount = raw.recordCount;
    this.fileSizeBytes = raw.fileSizeBytes;
    Object.defineProperties(this, ReadFile.#metrics);
    this.keyMetadata = raw.keyMetadata;
    this.splitOffsets = raw.splitOffsets;
    this.equalityIds = raw.equalityIds;
    this.sortOrderId = raw.sortOrderId;
    this.firstRowId = known.firstRowId;
    this.referencedDataFile = raw.referencedDataFile;
    this.contentOffset = raw.contentOffset;
    this.contentSizeBytes = raw.contentSizeBytes;
  }

  static readonly #metrics: PropertyDescriptorMap & ThisType<ReadFile> = Object.fromEntries(
    metricNames.map((name) => {
      const place = `${name}At` as const;
      return [
        name,
        {
          enumerable: true,
          get(this: ReadFile) {
            return this.#lazy.map(name, place);
          },
        },
      ];
    }),
  );
}

const entrySteps: FieldSteps<RawEntry> = {
  [entryFieldIds.status]: into(numberReader, (entry, value) => (entry.status = value ?? -1)),
  [entryFieldIds.snapshot_id]: into(bigintReader, (entry, value) => (entry.snapshotId = value)),
  [entryFieldIds.sequence_number]: into(bigintReader, (entry, value) => (entry.sequenceNumber = value)),
  [entryFieldIds.file_sequence_number]: into(bigintReader, (entry, value) => (entry.fileSequenceNumber = value)),
};

function fileStep(type: AvroType, known: FieldSteps<RawFile>): FieldStep<RawEntry> {
  const branches = (type.kind === 'union' ? type.branches : [type]).map((branch): readonly FieldStep<RawFile>[] => {
    if (branch.kind === 'null') return [];
    return branch.kind === 'record' ? recordSteps(branch, fileFieldIds, known) : [unexpected(branch)];
  });
  return (cursor, { file }) => {
    const steps = branches[type.kind === 'union' ? cursor.branch(branches.length) : 0] ?? [];
    for (const step of steps) step(cursor, file);
  };
}

function fileSteps(readers: MetricsReaders, partitionOf: (type: AvroRecord) => PartitionReader): FieldSteps<RawFile> {
  const partitions = (type: AvroType): Read<readonly PartitionValue[]> =>
    optionalReader(type, (branch) => (branch.kind === 'record' ? partitionOf(branch) : unexpected(branch)));
  return {
    ...scalarSteps,
    [fileFieldIds.partition]: into(partitions, (file, value) => (file.partition = value ?? [])),
    [fileFieldIds.column_sizes]: lazyStep('columnSizes', (branch) => (readers.columnSizes = countsReader(branch))),
    [fileFieldIds.value_counts]: lazyStep('valueCounts', (branch) => (readers.valueCounts = countsReader(branch))),
    [fileFieldIds.null_value_counts]: lazyStep('nullValueCounts', (branch) => (readers.nullValueCounts = countsReader(branch))),
    [fileFieldIds.nan_value_counts]: lazyStep('nanValueCounts', (branch) => (readers.nanValueCounts = countsReader(branch))),
    [fileFieldIds.lower_bounds]: lazyStep('lowerBounds', (branch) => (readers.lowerBounds = boundsReader(branch))),
    [fileFieldIds.upper_bounds]: lazyStep('upperBounds', (branch) => (readers.upperBounds = boundsReader(branch))),
  };
}

/** Remembers where a map is and passes over it. */
function lazyStep(name: MetricName, keep: (type: AvroType) => unknown): (type: AvroType) => FieldStep<RawFile> {
  const placeReader = (type: AvroType): Read<number> =>
    optionalReader(type, (branch) => {
      keep(branch);
      const skip = valueSkipper(branch);
      return (cursor) => {
        const { at } = cursor;
        skip(cursor);
        return at;
      };
    });
  const place = `${name}At` as const;
  return into(placeReader, ({ metrics }, at) => (metrics[place] = at ?? -1));
}

const scalarSteps: FieldSteps<RawFile> = {
  [fileFieldIds.content]: into(numberReader, (file, value) => (file.content = value ?? 0)),
  [fileFieldIds.file_path]: into(textReader, (file, value) => (file.path = value ?? '')),
  [fileFieldIds.file_format]: into(textReader, (file, value) => (file.format = value ?? '')),
  [fileFieldIds.record_count]: into(numberReader, (file, value) => (file.recordCount = value ?? 0)),
  [fileFieldIds.file_size_in_bytes]: into(numberReader, (file, value) => (file.fileSizeBytes = value ?? 0)),
  [fileFieldIds.key_metadata]: into(bytesReader, (file, value) => (file.keyMetadata = value)),
  [fileFieldIds.split_offsets]: into(numbersReader, (file, value) => (file.splitOffsets = value)),
  [fileFieldIds.equality_ids]: into(numbersReader, (file, value) => (file.equalityIds = value)),
  [fileFieldIds.sort_order_id]: into(numberReader, (file, value) => (file.sortOrderId = value)),
  [fileFieldIds.first_row_id]: into(bigintReader, (file, value) => (file.firstRowId = value)),
  [fileFieldIds.referenced_data_file]: into(textReader, (file, value) => (file.referencedDataFile = value)),
  [fileFieldIds.content_offset]: into(numberReader, (file, value) => (file.contentOffset = value)),
  [fileFieldIds.content_size_in_bytes]: into(numberReader, (file, value) => (file.contentSizeBytes = value)),
};

function emptyFile(metrics: LazyMetrics): RawFile {
  return {
    content: 0,
    path: '',
    format: '',
    partition: [],
    recordCount: 0,
    fileSizeBytes: 0,
    metrics,
    keyMetadata: undefined,
    splitOffsets: undefined,
    equalityIds: undefined,
    sortOrderId: undefined,
    firstRowId: undefined,
    referencedDataFile: undefined,
    contentOffset: undefined,
    contentSizeBytes: undefined,
  };
}
