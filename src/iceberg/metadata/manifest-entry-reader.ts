import type { AvroRecord, AvroType } from '../../codec/avro/avro-type.ts';
import type { ByteCursor } from '../../codec/avro/byte-cursor.ts';
import { valueSkipper } from '../../codec/avro/skip-values.ts';
import {
  bigintReader,
  bytesReader,
  knownFields,
  numberReader,
  numbersReader,
  optionalReader,
  type Read,
  textReader,
  unexpected,
} from './avro-fields.ts';
import type { ContentFile, FileContent, FileFormat, PartitionValue } from './content-file.ts';
import { boundsReader, countsReader, LazyMetrics, type MetricsReaders } from './manifest-metrics.ts';
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
export interface RawFile {
  content: number;
  path: string;
  format: string;
  partition: readonly PartitionValue[];
  recordCount: number;
  fileSizeBytes: number;
  metrics: LazyMetrics;
  keyMetadata: Uint8Array | undefined;
  splitOffsets: readonly number[] | undefined;
  equalityIds: readonly number[] | undefined;
  sortOrderId: number | undefined;
  firstRowId: bigint | undefined;
  referencedDataFile: string | undefined;
  contentOffset: number | undefined;
  contentSizeBytes: number | undefined;
}

/** A block of entries and a name for it in errors. */
export interface EntryBlock {
  readonly bytes: Uint8Array;
  readonly where: string;
}

/** Reads one entry. The cursor is at it in the block. */
export type EntryReader = (cursor: ByteCursor, block: EntryBlock) => RawEntry;

/** A reader of the entries that a writer's record describes. Fields are known by id, else by name; others are passed over. */
export function entryReader(record: AvroRecord, partitionOf: (type: AvroRecord) => PartitionReader): EntryReader {
  const readers: MetricsReaders = {
    columnSizes: undefined,
    valueCounts: undefined,
    nullValueCounts: undefined,
    nanValueCounts: undefined,
    lowerBounds: undefined,
    upperBounds: undefined,
  };
  const steps = knownFields(record, entryFieldIds).map(({ id, type }): EntryStep => {
    if (id === entryFieldIds.data_file) return fileStep(type, readers, partitionOf);
    return entryStep(id, type);
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
  readonly #metrics: LazyMetrics;

  constructor(raw: RawFile, known: KnownFile) {
    this.#metrics = raw.metrics;
    this.content = known.content;
    this.path = raw.path;
    this.format = known.format;
    this.specId = known.specId;
    this.partition = raw.partition;
    this.recordCount = raw.recordCount;
    this.fileSizeBytes = raw.fileSizeBytes;
    Object.defineProperty(this, 'columnSizes', ReadFile.#columnSizes);
    Object.defineProperty(this, 'valueCounts', ReadFile.#valueCounts);
    Object.defineProperty(this, 'nullValueCounts', ReadFile.#nullValueCounts);
    Object.defineProperty(this, 'nanValueCounts', ReadFile.#nanValueCounts);
    Object.defineProperty(this, 'lowerBounds', ReadFile.#lowerBounds);
    Object.defineProperty(this, 'upperBounds', ReadFile.#upperBounds);
    this.keyMetadata = raw.keyMetadata;
    this.splitOffsets = raw.splitOffsets;
    this.equalityIds = raw.equalityIds;
    this.sortOrderId = raw.sortOrderId;
    this.firstRowId = known.firstRowId;
    this.referencedDataFile = raw.referencedDataFile;
    this.contentOffset = raw.contentOffset;
    this.contentSizeBytes = raw.contentSizeBytes;
  }

  static readonly #columnSizes = ReadFile.#getter((metrics) => metrics.columnSizes);
  static readonly #valueCounts = ReadFile.#getter((metrics) => metrics.valueCounts);
  static readonly #nullValueCounts = ReadFile.#getter((metrics) => metrics.nullValueCounts);
  static readonly #nanValueCounts = ReadFile.#getter((metrics) => metrics.nanValueCounts);
  static readonly #lowerBounds = ReadFile.#getter((metrics) => metrics.lowerBounds);
  static readonly #upperBounds = ReadFile.#getter((metrics) => metrics.upperBounds);

  static #getter(read: (metrics: LazyMetrics) => unknown): PropertyDescriptor & ThisType<ReadFile> {
    return {
      enumerable: true,
      get() {
        return read(this.#metrics);
      },
    };
  }
}

type EntryStep = (cursor: ByteCursor, entry: RawEntry) => void;
type FileStep = (cursor: ByteCursor, file: RawFile) => void;

function entryStep(id: number, type: AvroType): EntryStep {
  switch (id) {
    case entryFieldIds.status: {
      const read = numberReader(type);
      return (cursor, entry) => {
        entry.status = read(cursor) ?? -1;
      };
    }
    case entryFieldIds.snapshot_id: {
      const read = bigintReader(type);
      return (cursor, entry) => {
        entry.snapshotId = read(cursor);
      };
    }
    case entryFieldIds.sequence_number: {
      const read = bigintReader(type);
      return (cursor, entry) => {
        entry.sequenceNumber = read(cursor);
      };
    }
    case entryFieldIds.file_sequence_number: {
      const read = bigintReader(type);
      return (cursor, entry) => {
        entry.fileSequenceNumber = read(cursor);
      };
    }
    default:
      return valueSkipper(type);
  }
}

function fileStep(type: AvroType, readers: MetricsReaders, partitionOf: (type: AvroRecord) => PartitionReader): EntryStep {
  const branches = (type.kind === 'union' ? type.branches : [type]).map((branch) => fileSteps(branch, readers, partitionOf));
  return (cursor, { file }) => {
    const steps = branches[type.kind === 'union' ? cursor.branch(branches.length) : 0] ?? [];
    for (const step of steps) step(cursor, file);
  };
}

function fileSteps(type: AvroType, readers: MetricsReaders, partitionOf: (type: AvroRecord) => PartitionReader): readonly FileStep[] {
  if (type.kind === 'null') return [];
  if (type.kind !== 'record') return [unexpected(type)];
  return knownFields(type, fileFieldIds).map((field) => fileFieldStep(field.id, field.type, readers, partitionOf));
}

function fileFieldStep(id: number, type: AvroType, readers: MetricsReaders, partitionOf: (type: AvroRecord) => PartitionReader): FileStep {
  switch (id) {
    case fileFieldIds.partition: {
      const read = optionalReader(type, (branch) => (branch.kind === 'record' ? partitionOf(branch) : unexpected(branch)));
      return (cursor, file) => {
        file.partition = read(cursor) ?? [];
      };
    }
    case fileFieldIds.column_sizes:
      return lazyStep(type, 'columnSizesAt', (branch) => (readers.columnSizes = countsReader(branch)));
    case fileFieldIds.value_counts:
      return lazyStep(type, 'valueCountsAt', (branch) => (readers.valueCounts = countsReader(branch)));
    case fileFieldIds.null_value_counts:
      return lazyStep(type, 'nullValueCountsAt', (branch) => (readers.nullValueCounts = countsReader(branch)));
    case fileFieldIds.nan_value_counts:
      return lazyStep(type, 'nanValueCountsAt', (branch) => (readers.nanValueCounts = countsReader(branch)));
    case fileFieldIds.lower_bounds:
      return lazyStep(type, 'lowerBoundsAt', (branch) => (readers.lowerBounds = boundsReader(branch)));
    case fileFieldIds.upper_bounds:
      return lazyStep(type, 'upperBoundsAt', (branch) => (readers.upperBounds = boundsReader(branch)));
    default:
      return scalarStep(id, type);
  }
}

type MapPlace = 'columnSizesAt' | 'valueCountsAt' | 'nullValueCountsAt' | 'nanValueCountsAt' | 'lowerBoundsAt' | 'upperBoundsAt';

/** Remembers where a map is and passes over it. */
function lazyStep(type: AvroType, place: MapPlace, keep: (type: AvroType) => unknown): FileStep {
  const read = optionalReader(type, (branch) => {
    keep(branch);
    const skip = valueSkipper(branch);
    return (cursor) => {
      const { at } = cursor;
      skip(cursor);
      return at;
    };
  });
  return (cursor, { metrics }) => {
    metrics[place] = read(cursor) ?? -1;
  };
}

function scalarStep(id: number, type: AvroType): FileStep {
  switch (id) {
    case fileFieldIds.content:
      return into(numberReader(type), (file, value) => (file.content = value ?? 0));
    case fileFieldIds.file_path:
      return into(textReader(type), (file, value) => (file.path = value ?? ''));
    case fileFieldIds.file_format:
      return into(textReader(type), (file, value) => (file.format = value ?? ''));
    case fileFieldIds.record_count:
      return into(numberReader(type), (file, value) => (file.recordCount = value ?? 0));
    case fileFieldIds.file_size_in_bytes:
      return into(numberReader(type), (file, value) => (file.fileSizeBytes = value ?? 0));
    case fileFieldIds.key_metadata:
      return into(bytesReader(type), (file, value) => (file.keyMetadata = value));
    case fileFieldIds.split_offsets:
      return into(numbersReader(type), (file, value) => (file.splitOffsets = value));
    case fileFieldIds.equality_ids:
      return into(numbersReader(type), (file, value) => (file.equalityIds = value));
    case fileFieldIds.sort_order_id:
      return into(numberReader(type), (file, value) => (file.sortOrderId = value));
    case fileFieldIds.first_row_id:
      return into(bigintReader(type), (file, value) => (file.firstRowId = value));
    case fileFieldIds.referenced_data_file:
      return into(textReader(type), (file, value) => (file.referencedDataFile = value));
    case fileFieldIds.content_offset:
      return into(numberReader(type), (file, value) => (file.contentOffset = value));
    case fileFieldIds.content_size_in_bytes:
      return into(numberReader(type), (file, value) => (file.contentSizeBytes = value));
    default:
      return valueSkipper(type);
  }
}

function into<T>(read: Read<T>, set: (file: RawFile, value: T | undefined) => unknown): FileStep {
  return (cursor, file) => {
    set(file, read(cursor));
  };
}

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
