import type { JsonObject } from '../base/bigint-json.ts';
import type { ServiceError } from '../base/errors.ts';
import type { PartitionValues } from '../table/staged-file.ts';

/** What a reader and a writer must know. `undefined` features: the legacy versions, which name none. */
export interface ProtocolAction {
  readonly kind: 'protocol';
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly readerFeatures?: readonly string[] | undefined;
  readonly writerFeatures?: readonly string[] | undefined;
}

/** Identity, schema, partitioning and properties; replaces the one before it entirely. */
export interface MetadataAction {
  readonly kind: 'metaData';
  readonly id: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly formatProvider: string;
  readonly formatOptions: Readonly<Record<string, string>>;
  readonly schemaString: string;
  readonly partitionColumns: readonly string[];
  readonly configuration: Readonly<Record<string, string>>;
  readonly createdTimeMs?: number | undefined;
}

/** Where the deleted row positions of a file lie. */
export interface DeletionVector {
  readonly storageType: string;
  readonly pathOrInlineDv: string;
  readonly offset?: number | undefined;
  readonly sizeInBytes: number;
  readonly cardinality: number;
}

/** No vector, spelled as one: there are no bytes to read. One that says it deletes nothing while it has bytes is held against them. */
export function isEmptyVector({ cardinality, sizeInBytes }: DeletionVector): boolean {
  return cardinality === 0 && sizeInBytes === 0;
}

interface FileAction {
  /** As in the log: a URI reference, byte for byte. */
  readonly path: string;
  /** The object's path in the table's store: `path` decoded once and made relative where it lies under the table's root. */
  readonly storedPath: string;
}

export interface AddFile extends FileAction {
  readonly kind: 'add';
  readonly partitionValues: PartitionValues;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
  /** False: the rows were in the table before (a rewrite). */
  readonly dataChange: boolean;
  /** JSON text of the file's statistics. */
  readonly stats?: string | undefined;
  readonly tags?: PartitionValues | undefined;
  readonly deletionVector?: DeletionVector | undefined;
  readonly baseRowId?: bigint | undefined;
  readonly defaultRowCommitVersion?: bigint | undefined;
  readonly clusteringProvider?: string | undefined;
}

export interface RemoveFile extends FileAction {
  readonly kind: 'remove';
  readonly dataChange: boolean;
  readonly deletedMs?: number | undefined;
  /** True: `partitionValues` and `sizeBytes` are given. */
  readonly extendedFileMetadata?: boolean | undefined;
  readonly partitionValues?: PartitionValues | undefined;
  readonly sizeBytes?: number | undefined;
  readonly stats?: string | undefined;
  readonly tags?: PartitionValues | undefined;
  readonly deletionVector?: DeletionVector | undefined;
  readonly baseRowId?: bigint | undefined;
  readonly defaultRowCommitVersion?: bigint | undefined;
}

/** A file of recorded row changes of the version. */
export interface CdcFile extends FileAction {
  readonly kind: 'cdc';
  readonly partitionValues: PartitionValues;
  readonly sizeBytes: number;
  readonly tags?: PartitionValues | undefined;
}

/** A writer's progress. Without `lastUpdatedMs` it never expires. */
export interface TxnAction {
  readonly kind: 'txn';
  readonly appId: string;
  readonly version: bigint;
  readonly lastUpdatedMs?: number | undefined;
}

/** What the version says about itself. Any writer may put anything into it: read members with care. */
export interface CommitInfoAction {
  readonly kind: 'commitInfo';
  readonly body: JsonObject;
}

export interface DomainMetadataAction {
  readonly kind: 'domainMetadata';
  readonly domain: string;
  readonly configuration: string;
  readonly removed: boolean;
}

/** One action of a commit. Actions this code does not know are left out when a commit is read, as the protocol asks. */
export type Action = ProtocolAction | MetadataAction | AddFile | RemoveFile | CdcFile | TxnAction | CommitInfoAction | DomainMetadataAction;

/** An action of a commit that cannot be read: harmless once something takes its place. */
export interface DamagedAction {
  /** What would supersede it: `protocol`, `metaData`, or the key of a file (`fileKey`). */
  readonly place: string;
  readonly error: ServiceError;
}

/** Distinguishes deletion vectors of one file; `undefined` when there is none. */
export function deletionVectorId(vector: DeletionVector | undefined): string | undefined {
  if (vector === undefined) return undefined;
  return `${vector.storageType}${vector.pathOrInlineDv}${vector.offset === undefined ? '' : `@${vector.offset}`}`;
}

/** The identity of a file in log replay: its stored path, and its deletion vector if there is one. */
export function fileKey(file: Pick<AddFile, 'storedPath' | 'deletionVector'>): string {
  const vector = deletionVectorId(file.deletionVector);
  return vector === undefined ? file.storedPath : `${file.storedPath}\0${vector}`;
}

/** The `remove` that ends `file`, with everything other engines need to infer the change feed from it. */
export function removeOf(file: AddFile, options: { readonly deletedMs: number; readonly dataChange: boolean }): RemoveFile {
  return {
    kind: 'remove',
    path: file.path,
    storedPath: file.storedPath,
    dataChange: options.dataChange,
    deletedMs: options.deletedMs,
    extendedFileMetadata: true,
    partitionValues: file.partitionValues,
    sizeBytes: file.sizeBytes,
    stats: file.stats,
    tags: file.tags,
    deletionVector: file.deletionVector,
    baseRowId: file.baseRowId,
    defaultRowCommitVersion: file.defaultRowCommitVersion,
  };
}

/** `numRecords` of a file's statistics: physical rows, deleted ones included. `undefined`: not known. */
export function physicalRows(stats: string | undefined): number | undefined {
  const match = stats === undefined ? null : /"numRecords"\s*:\s*(\d{1,15})\b/.exec(stats);
  return match === null ? undefined : Number(match[1]);
}

/** Rows a reader gets from the file, or `undefined` when the statistics do not say. */
export function liveRows(file: Pick<AddFile, 'stats' | 'deletionVector'>): number | undefined {
  const rows = physicalRows(file.stats);
  return rows === undefined ? undefined : rows - (file.deletionVector?.cardinality ?? 0);
}
