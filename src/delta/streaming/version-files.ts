import { AnalysisException } from '../../base/analysis-exception.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { ChangeScan, FileScan, ScanFile } from '../../table/scan.ts';
import type { StreamOptions } from '../../table/stream.ts';
import { toVersion } from '../../table/version.ts';
import type { Action, AddFile } from '../actions.ts';
import { changesOfVersion } from '../changes/change-scans.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { fileScanOf } from '../scan/file-scan.ts';

/** One file of a version's sequence, with the scan it belongs to. */
export interface IndexedFile {
  readonly index: number;
  readonly file: ScanFile;
  readonly scan: ChangeScan;
}

export interface StreamReading {
  readonly context: OperationContext;
  /** Rows of every version are given in the schema of this one. */
  readonly readAs: DeltaSnapshot;
  readonly signal: AbortSignal | undefined;
}

/** The files a stream reads of the first snapshot: oldest first, so that a stream over appended files keeps their order. */
export function startingFiles(context: OperationContext, snapshot: DeltaSnapshot, readAs: DeltaSnapshot): readonly IndexedFile[] {
  const files = [...snapshot.files()].sort((a, b) => a.modifiedMs - b.modifiedMs || (a.path < b.path ? -1 : 1));
  return indexed([insertsOf(snapshot, fileScanOf(context, readAs, files))]);
}

/** The row changes of one version, for a stream of the change feed. */
export async function changedFiles({ context, readAs, signal }: StreamReading, version: number): Promise<readonly IndexedFile[]> {
  const scans: ChangeScan[] = [];
  for await (const scan of changesOfVersion(context, { version: toVersion(version), readAs }, signal)) scans.push(scan);
  return indexed(scans);
}

/** The files one version adds, for a stream that only knows appended rows. */
export async function addedFiles(
  { context, readAs, signal }: StreamReading,
  commit: DeltaCommit,
  options: StreamOptions,
): Promise<readonly IndexedFile[]> {
  const added = commit.actions.filter((action): action is AddFile => action.kind === 'add' && action.dataChange);
  const removes = commit.actions.some((action) => action.kind === 'remove' && action.dataChange);
  // Whoever wants such versions passed over wants that whatever else is allowed.
  if (removes && options.skipChangeCommits) return [];
  if (removes && added.length > 0 && !options.ignoreChanges) throw ignoreChanges(context.name, commit);
  if (removes && added.length === 0 && !(options.ignoreDeletes || options.ignoreChanges)) throw ignoreDeletes(context.name, commit);
  if (added.length === 0) return [];
  return indexed([insertsOf(await context.snapshotAt(commit.version, signal), fileScanOf(context, readAs, added))]);
}

function insertsOf(snapshot: DeltaSnapshot, scan: FileScan): ChangeScan {
  return { version: snapshot.version, committedAtMicros: BigInt(Math.floor(snapshot.committedAt * 1000)), kind: 'insert', scan };
}

function indexed(scans: readonly ChangeScan[]): readonly IndexedFile[] {
  return scans.flatMap((scan) => scan.scan.files.map((file) => ({ file, scan }))).map((each, index) => ({ index, ...each }));
}

/** The files of one run, put together again into one scan for each scan they come from. */
export function regrouped(files: readonly IndexedFile[]): readonly ChangeScan[] {
  const byScan = new Map<ChangeScan, ScanFile[]>();
  for (const { scan, file } of files) byScan.set(scan, [...(byScan.get(scan) ?? []), file]);
  return Array.from(byScan, ([scan, selected]) => ({ ...scan, scan: { ...scan.scan, files: selected } }));
}

function operationOf(actions: readonly Action[]): string {
  const info = actions.find((action) => action.kind === 'commitInfo');
  if (info?.kind !== 'commitInfo') return 'UNKNOWN';
  const { operation, operationParameters } = info.body;
  return `${typeof operation === 'string' ? operation : 'UNKNOWN'} (${printJson(operationParameters ?? {})})`;
}

function ignoreChanges(table: string, commit: DeltaCommit): AnalysisException {
  const operation = operationOf(commit.actions);
  return new AnalysisException({
    errorClass: 'DELTA_SOURCE_TABLE_IGNORE_CHANGES',
    message: `table "${table}": detected a data update (for example ${operation}) in the source table at version ${commit.version}, which a stream of appended rows cannot pass on`,
    hint: "read the change feed (readChangeFeed), or set 'skipChangeCommits' to 'true' to pass over such versions",
    parameters: { version: String(commit.version), operation },
  });
}

function ignoreDeletes(table: string, commit: DeltaCommit): AnalysisException {
  const operation = operationOf(commit.actions);
  return new AnalysisException({
    errorClass: 'DELTA_SOURCE_IGNORE_DELETE',
    message: `table "${table}": detected deleted data (for example ${operation}) from the source table at version ${commit.version}, which a stream of appended rows cannot pass on`,
    hint: "read the change feed (readChangeFeed), or set 'ignoreDeletes' to 'true' to pass over such versions",
    parameters: { version: String(commit.version), operation },
  });
}
