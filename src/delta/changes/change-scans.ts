import { throwIfAborted } from '../../base/abort.ts';
import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import type { Field } from '../../schema/types.ts';
import type { ChangeScan, FileScan, StoredColumn } from '../../table/scan.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { type AddFile, type DeletionVector, fileKey, physicalRows, type RemoveFile } from '../actions.ts';
import { type MappingMode, physicalName } from '../column-mapping/physical-schema.ts';
import { positionsWithout } from '../deletion-vectors/position-sets.ts';
import { readDeletionVector } from '../deletion-vectors/read-deletion-vector.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { changesNotRecorded, checkReadableAs } from './change-range-checks.ts';
import { historyGone } from './history-gone.ts';
import { type RedeletedFile, type RowChanges, rowChangesOf } from './row-changes.ts';

const changeType: Field = { name: '_change_type', type: { kind: 'string' }, nullable: true };

/** Versions `from` to `until`, both included; an `until` beyond the newest version means the newest. */
export interface ChangeRange {
  readonly from: Version;
  readonly until: Version;
}

/**
 * The row changes of a range of versions, in order, for the engine: rows in the schema of the last version, deletes of a version before its
 * inserts. Everything that the log can tell is checked before the first scan is given.
 *
 * @throws AnalysisException `DELTA_CDC_START_VERSION_AFTER_LATEST`, `DELTA_INVALID_CDC_RANGE`, `DELTA_MISSING_CHANGE_DATA` (the first version
 * without the feed), `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE`, `DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA`,
 * `DELTA_LOG_FILE_NOT_FOUND` (not-found) when the log of the range was cleaned up.
 */
export async function* changeScans(
  context: OperationContext,
  range: ChangeRange,
  signal?: AbortSignal,
): AsyncGenerator<ChangeScan, void, undefined> {
  const newest = await context.refresh(signal);
  const checked = checkedRange(range, newest.version);
  const { from, until } = checked;
  const last = newest.version === until ? newest : await snapshotOf(context, checked, until, signal);
  const first = await snapshotOf(context, checked, from, signal);
  const read: Reading = { context, range: checked, last, signal };
  // Two passes over the log: a range that is refused gives no rows at all.
  for await (const { snapshot, commit } of versionsOf(read, first)) {
    if (commit.version !== from && !commit.actions.some((action) => action.kind === 'metaData')) continue;
    if (!snapshot.settings.changeDataFeed) throw changesNotRecorded(context.name, read.range, commit.version);
    checkReadableAs(last, snapshot, read.range, context.name);
  }
  for await (const version of versionsOf(read, first)) yield* scansOf(read, version);
}

/**
 * The row changes of one version as rows of another version's schema, which whoever asks has found to fit.
 *
 * @throws AnalysisException `DELTA_MISSING_CHANGE_DATA`, `DELTA_LOG_FILE_NOT_FOUND` (not-found).
 */
export async function* changesOfVersion(
  context: OperationContext,
  { version, readAs }: { readonly version: Version; readonly readAs: DeltaSnapshot },
  signal?: AbortSignal,
): AsyncGenerator<ChangeScan, void, undefined> {
  const range = { from: version, until: version };
  const read: Reading = { context, range, last: readAs, signal };
  const snapshot = await snapshotOf(context, range, version, signal);
  if (!snapshot.settings.changeDataFeed) throw changesNotRecorded(context.name, range, version);
  for await (const each of versionsOf(read, snapshot)) yield* scansOf(read, each);
}

interface Reading {
  readonly context: OperationContext;
  readonly range: ChangeRange;
  readonly last: DeltaSnapshot;
  readonly signal: AbortSignal | undefined;
}

/** One version of the range: what it did, and the table after and before it. */
export interface ReadVersion {
  readonly commit: DeltaCommit;
  readonly snapshot: DeltaSnapshot;
  /** `undefined` for the first version of the range: replayed when it is needed. */
  readonly previous: DeltaSnapshot | undefined;
}

function checkedRange(range: ChangeRange, newest: Version): ChangeRange {
  const { from } = range;
  if (from > newest) {
    throw new AnalysisException({
      errorClass: 'DELTA_CDC_START_VERSION_AFTER_LATEST',
      message: `Start version ${from} for change data feed exceeds the latest table version ${newest}.`,
      parameters: { startVersion: String(from), latestVersion: String(newest) },
    });
  }
  if (range.until < from) {
    throw new AnalysisException({
      errorClass: 'DELTA_INVALID_CDC_RANGE',
      message: `CDC range from start ${from} to end ${range.until} was invalid. End cannot be before start.`,
      parameters: { start: String(from), end: String(range.until) },
    });
  }
  return { from: toVersion(Math.max(0, from)), until: toVersion(Math.min(range.until, newest)) };
}

async function* versionsOf(read: Reading, first: DeltaSnapshot): AsyncGenerator<ReadVersion, void, undefined> {
  const { context, range, signal } = read;
  let snapshot = first;
  for (let version: number = range.from; version <= range.until; version += 1) {
    throwIfAborted(signal);
    const commit = await context.readCommit(toVersion(version), signal);
    if (commit === undefined) throw logGone(context.name, range, version);
    const previous = version === range.from ? undefined : snapshot;
    if (previous !== undefined) snapshot = previous.apply(commit, context.name);
    yield { commit, snapshot, previous };
  }
}

/** Where the changes of a version are, as rows of the schema that is read. */
export async function* scansOf(read: Reading, version: ReadVersion): AsyncGenerator<ChangeScan, void, undefined> {
  const changes = rowChangesOf(version.commit.actions);
  const of = (kind: ChangeScan['kind'], scan: FileScan): ChangeScan => ({
    version: version.commit.version,
    committedAtMicros: BigInt(version.snapshot.committedAt) * 1000n,
    kind,
    scan,
  });
  if (changes.kind === 'recorded') {
    yield of('recorded', recordedScan(read, changes));
    return;
  }
  const removed = await Promise.all(changes.removed.map((file) => completed(read, version, file)));
  const scans = [
    of('delete', fileScanOf(read.context, read.last, removed)),
    of('delete', redeletedScan(read, changes.redeleted, 'deletes')),
    of('insert', redeletedScan(read, changes.redeleted, 'inserts')),
    of('insert', fileScanOf(read.context, read.last, changes.added)),
  ];
  yield* scans.filter(({ scan }) => scan.files.length > 0);
}

function recordedScan(read: Reading, changes: Extract<RowChanges, { kind: 'recorded' }>): FileScan {
  const scan = fileScanOf(read.context, read.last, changes.files);
  return {
    ...scan,
    schema: { kind: 'struct', fields: [...scan.schema.fields, changeType] },
    storedColumns: [
      ...recordedColumns(scan.storedColumns, read.last.mapping),
      { field: changeType, match: { by: 'name', name: changeType.name }, storedType: changeType.type },
    ],
  };
}

/** Columns of recorded changes are found by the names they have in files in every mode of column mapping: their change type has no field id. */
function recordedColumns(columns: readonly StoredColumn[], mapping: MappingMode): readonly StoredColumn[] {
  return columns.map((column) => ({
    ...column,
    match: { by: 'name', name: mapping === 'none' ? column.field.name : physicalName(column.field) },
  }));
}

/** Rows in the vector after the version and not before it were deleted by it; the other way round they came back. */
function redeletedScan(read: Reading, files: readonly RedeletedFile[], side: 'deletes' | 'inserts'): FileScan {
  const { context } = read;
  const sides = files
    .map(({ file, before, after }) => ({ file, those: side === 'deletes' ? after : before, without: side === 'deletes' ? before : after }))
    .filter(({ those }) => (those?.cardinality ?? 0) > 0);
  const withoutVectors = sides.map(({ file }) => ({ ...file, deletionVector: undefined }));
  const scan = fileScanOf(context, read.last, withoutVectors);
  const onlyRows = sides.map(
    ({ file, those, without }) =>
      (signal?: AbortSignal) =>
        difference(context, { those, without, rows: physicalRows(file.stats) }, signal),
  );
  return { ...scan, files: scan.files.map((file, index) => ({ ...file, onlyRows: onlyRows[index] })) };
}

async function difference(
  context: OperationContext,
  vectors: {
    readonly those: DeletionVector | undefined;
    readonly without: DeletionVector | undefined;
    readonly rows: number | undefined;
  },
  signal: AbortSignal | undefined,
): Promise<BigInt64Array> {
  const { those, without, rows } = vectors;
  if (those === undefined) return new BigInt64Array(0);
  const positions = await readDeletionVector(context, { vector: those, rows }, signal);
  return without === undefined
    ? positions
    : positionsWithout(positions, await readDeletionVector(context, { vector: without, rows }, signal));
}

/** Some writers leave out of a `remove` what reading the file takes; the version before knows it. */
async function completed(read: Reading, version: ReadVersion, file: RemoveFile): Promise<AddFile | RemoveFile> {
  const isComplete = file.partitionValues !== undefined && file.sizeBytes !== undefined;
  if (isComplete || version.commit.version === 0) return file;
  const before = version.previous ?? (await snapshotOf(read.context, read.range, toVersion(version.commit.version - 1), read.signal));
  const added = before.file(fileKey(file));
  if (added !== undefined || read.last.partitionColumns.length === 0) return added ?? file;
  throw new AnalysisException({
    errorClass: 'DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA',
    kind: 'corrupt',
    message: `table "${read.context.name}": version ${version.commit.version} removes "${file.path}" without its partition values, and the version before does not know the file`,
    parameters: { file: file.path },
  });
}

/** The table at a version of the range; that its log is gone means that the range is. */
async function snapshotOf(context: OperationContext, range: ChangeRange, version: Version, signal?: AbortSignal): Promise<DeltaSnapshot> {
  try {
    return await context.snapshotAt(version, signal);
  } catch (error) {
    if (isServiceError(error) && historyGone.has(error.code)) throw logGone(context.name, range, version, error);
    throw error;
  }
}

function logGone(table: string, range: ChangeRange, version: number, cause?: unknown): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_LOG_FILE_NOT_FOUND',
    kind: 'not-found',
    message: `table "${table}": the changes of versions ${range.from} to ${range.until} need version ${version} of the log, which was cleaned up`,
    hint: 'start at a later version; DESCRIBE HISTORY shows which are there',
    parameters: { version: String(version) },
    cause,
  });
}
