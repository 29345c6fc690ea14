import { AnalysisException } from '../base/analysis-exception.ts';
import { assert } from '../base/assert.ts';
import { toEpochMs } from '../base/clock.ts';
import { duplicateColumn } from '../schema/duplicate-column.ts';
import type { Snapshot } from '../table/table.ts';
import { toVersion, type Version } from '../table/version.ts';
import { ancestryLength, snapshotById } from './ancestry.ts';
import { invalidMetadata } from './metadata/spec-errors.ts';
import type { IcebergSchema, IcebergSnapshot, PartitionSpec, TableMetadata } from './metadata/table-metadata.ts';
import type { LoadedMetadata } from './pointer/table-pointer.ts';
import { progressOf, progressStartingWith } from './progress.ts';
import { writeDefault } from './scan/initial-default.ts';
import type { SnapshotState } from './snapshot-state.ts';

export const mainBranch = 'main';

/** Which snapshot of a table, and by which schema its rows are read. */
export type StatePoint =
  /** The newest snapshot of a branch, by the current schema. */
  | { readonly branch: string }
  /** A tag's snapshot, by that snapshot's schema. */
  | { readonly tag: string }
  /** By the snapshot's own schema. */
  | { readonly snapshotId: bigint };

/**
 * One snapshot of loaded metadata.
 *
 * @throws AnalysisException `CANNOT_FIND_SNAPSHOT`, `CANNOT_FIND_REF` (kind not-found); ServiceError `ICEBERG_METADATA_INVALID` (corrupt) for a
 * schema with names that differ in case only.
 */
export function snapshotStateOf(loaded: LoadedMetadata, point: StatePoint): SnapshotState {
  const { metadata } = loaded;
  if ('branch' in point) {
    const snapshot = branchHead(metadata, point.branch);
    return makeState(loaded, snapshot, schemaById(metadata, metadata.currentSchemaId));
  }
  const snapshot = 'tag' in point ? refSnapshot(metadata, 'tag', point.tag) : snapshotById(metadata, point.snapshotId);
  if (snapshot === undefined) throw snapshotNotFound(`Cannot find snapshot with ID ${'tag' in point ? point.tag : point.snapshotId}`);
  return makeState(loaded, snapshot, schemaById(metadata, snapshot.schemaId ?? metadata.currentSchemaId));
}

/** Snapshots of this program's Iceberg tables are states; anything else is a mistake of ours. */
export function asSnapshotState(snapshot: Snapshot): SnapshotState {
  assert(states.has(snapshot), 'the snapshot is not one of an Iceberg table');
  return snapshot as SnapshotState;
}

export function snapshotNotFound(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'CANNOT_FIND_SNAPSHOT', kind: 'not-found', message, hint });
}

/** @throws AnalysisException `CANNOT_FIND_REF` for a branch other than main that is not there; a tag is none. */
function branchHead(metadata: TableMetadata, branch: string): IcebergSnapshot | undefined {
  if (branch === mainBranch && !metadata.refs.has(mainBranch)) {
    return metadata.currentSnapshotId === undefined ? undefined : snapshotById(metadata, metadata.currentSnapshotId);
  }
  return refSnapshot(metadata, 'branch', branch);
}

function refSnapshot(metadata: TableMetadata, type: 'branch' | 'tag', name: string): IcebergSnapshot | undefined {
  const ref = metadata.refs.get(name);
  if (ref?.type === type) return snapshotById(metadata, ref.snapshotId);
  throw new AnalysisException({
    errorClass: 'CANNOT_FIND_REF',
    kind: 'not-found',
    message: ref === undefined ? `Cannot find ref ${name}` : `${name} is a ${ref.type}, not a ${type}`,
    hint: `it has: ${[...metadata.refs.keys()].slice(0, 20).join(', ') || 'no branches or tags'}`,
  });
}

/** @throws ServiceError for an id the metadata lacks, which its reader does not let pass. */
function schemaById({ schemas, currentSchemaId }: TableMetadata, id: number): IcebergSchema {
  const found = schemas.find(({ schemaId }) => schemaId === id) ?? schemas.find(({ schemaId }) => schemaId === currentSchemaId);
  assert(found !== undefined, `schema ${id} is not in the metadata`);
  return found;
}

const states = new WeakSet<Snapshot>();

function makeState(loaded: LoadedMetadata, snapshot: IcebergSnapshot | undefined, icebergSchema: IcebergSchema): SnapshotState {
  const { metadata } = loaded;
  const duplicate = duplicateColumn(icebergSchema.struct);
  if (duplicate !== undefined) {
    const complaint = `schema ${icebergSchema.schemaId} has the column "${duplicate}" twice; the case of a name does not count`;
    throw invalidMetadata(loaded.metadataLocation ?? metadata.location, complaint);
  }
  const totals = snapshot?.summary ?? {};
  const state: SnapshotState = {
    loaded,
    metadata,
    snapshot,
    icebergSchema,
    schema: icebergSchema.struct,
    version: versionOf(metadata, snapshot),
    snapshotId: snapshot?.snapshotId,
    committedAt: toEpochMs(snapshot?.timestampMs ?? metadata.lastUpdatedMs),
    tableId: metadata.tableUuid,
    partitionColumns: partitionColumnsOf(metadata, icebergSchema),
    partitioned: defaultSpec(metadata)?.fields.some(({ transform }) => transform.kind !== 'void') ?? false,
    columnDefaults: new Map(
      icebergSchema.struct.fields.flatMap((field) => {
        const literal = writeDefault(field);
        return literal === undefined ? [] : [[field.name, literal] as const];
      }),
    ),
    properties: metadata.properties,
    fileCount: countOf(totals['total-data-files']) ?? 0,
    sizeBytes: countOf(totals['total-files-size']) ?? 0,
    rowCount: snapshot === undefined ? 0 : rowCountOf(totals),
    progressOf: (writerId) => progressOf({ metadata, snapshot }, writerId),
    progressStartingWith: (prefix) => progressStartingWith({ metadata, snapshot }, prefix),
  };
  states.add(state);
  return state;
}

/** The sequence number; in format version 1, which has none, the snapshot's number in its ancestry. 0 without a snapshot. */
export function versionOf(metadata: TableMetadata, snapshot: IcebergSnapshot | undefined): Version {
  if (snapshot === undefined) return toVersion(0);
  return toVersion(metadata.formatVersion === 1 ? ancestryLength(metadata, snapshot) : Number(snapshot.sequenceNumber));
}

function defaultSpec({ partitionSpecs, defaultSpecId }: TableMetadata): PartitionSpec | undefined {
  return partitionSpecs.find(({ specId }) => specId === defaultSpecId);
}

/** Columns that the files of the default spec have one value of. */
function partitionColumnsOf(metadata: TableMetadata, { struct }: IcebergSchema): readonly string[] {
  const spec = defaultSpec(metadata);
  const sources = (spec?.fields ?? []).flatMap((field) => (field.transform.kind === 'identity' ? [field.sourceId] : []));
  return sources.flatMap((id) => struct.fields.filter((field) => field.id === id).map((field) => field.name));
}

/** Rows, when no delete file may have taken some away. */
function rowCountOf(totals: Readonly<Record<string, string>>): number | undefined {
  return totals['total-delete-files'] === '0' ? countOf(totals['total-records']) : undefined;
}

function countOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
