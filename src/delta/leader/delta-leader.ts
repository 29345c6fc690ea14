import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { mapBounded } from '../../base/map-bounded.ts';
import { inspectFile } from '../../codec/inspect-file.ts';
import { partitionValue } from '../../table/partitioning/partition-text.ts';
import type { LeaderFile, LeaderPoint, LeaderState, LeaderStep, LeaderTable, TwinNote } from '../../table/twin.ts';
import { toVersion, type Version } from '../../table/version.ts';
import { type AddFile, fileKey, isEmptyVector, physicalRows } from '../actions.ts';
import { historyGone } from '../changes/history-gone.ts';
import { alter } from '../definition/alter.ts';
import { commitInfoOf, type DeltaSnapshot } from '../delta-snapshot.ts';
import { commitDigest } from '../log/read-commit.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import type { DeltaCommit } from '../replay-state.ts';
import { absolutePathOf } from '../scan/file-location.ts';
import { partitionsOf, partitionValueOf } from '../scan/partition-columns.ts';
import { checkPlainlyReadable } from '../table-features.ts';
import { loggedStatistics } from './logged-statistics.ts';
import { printTwinNote, twinNoteOf, twinProperty } from './twin-note.ts';

/** Files that are counted by their footers, for the log does not say how many rows they have. */
const footersAtOnce = 8;

/** A Delta table whose files another table shares. Versions that are asked for in their order cost one read of their own commit each. */
export class DeltaLeader implements LeaderTable {
  readonly #context: OperationContext;
  #last: { readonly snapshot: DeltaSnapshot; readonly id: string } | undefined;

  constructor(context: OperationContext) {
    this.#context = context;
  }

  async stepAt(version: Version, signal?: AbortSignal): Promise<LeaderStep | undefined> {
    const { name, store } = this.#context;
    const commit = await this.#context.readCommit(version, signal);
    const previous = version === 0 ? undefined : await commitDigest(store, toVersion(version - 1), signal);
    if (commit?.digest === undefined || previous === undefined) return undefined;
    const before = this.#last?.id === previous ? this.#last.snapshot : await this.#replayed(toVersion(version - 1), signal);
    if (before === undefined) return undefined;
    const after = before.apply(commit, name);
    const { added, removed, rewrites } = changedFiles(before, after, commit);
    const step: LeaderStep = {
      ...this.#pointOf(after, commit.digest),
      previous,
      kind: removed.length === 0 ? (added.length === 0 ? 'none' : 'append') : rewrites ? 'replace' : 'overwrite',
      added: await this.#described(after, added, signal),
      removed: removed.map((file) => this.#locationOf(file)),
      userMetadata: textOf(commitInfoOf(commit.actions)?.body['userMetadata']),
    };
    this.#last = { snapshot: after, id: commit.digest };
    return step;
  }

  async stateAt(version: Version, signal?: AbortSignal): Promise<LeaderState> {
    const snapshot = await this.#context.snapshotAt(version, signal);
    const id = (await commitDigest(this.#context.store, version, signal)) ?? '';
    const point = this.#pointOf(snapshot, id);
    const files = new Map<string, AddFile>();
    for (const file of snapshot.files()) {
      if (marksRows(file)) throw markedRows(this.#context.name, version, file.path);
      files.set(this.#locationOf(file), file);
    }
    this.#last = { snapshot, id };
    return {
      ...point,
      locations: new Set(files.keys()),
      describe: (locations, stop) =>
        this.#described(
          snapshot,
          [...locations].flatMap((location) => files.get(location) ?? []),
          stop,
        ),
    };
  }

  async twin(): Promise<TwinNote | undefined> {
    return twinNoteOf((await this.#context.refresh()).metadata);
  }

  async noteTwin(note: TwinNote, signal?: AbortSignal): Promise<void> {
    const { tableId, metadata } = await this.#context.refresh(signal);
    const text = printTwinNote(tableId, note);
    if (metadata.configuration[twinProperty] === text) return;
    await alter(this.#context, { kind: 'set-properties', properties: { [twinProperty]: text } }, { signal });
  }

  /** `undefined`: the log no longer leads there. */
  async #replayed(version: Version, signal: AbortSignal | undefined): Promise<DeltaSnapshot | undefined> {
    try {
      return await this.#context.snapshotAt(version, signal);
    } catch (error) {
      if (isServiceError(error) && historyGone.has(error.code)) return undefined;
      throw error;
    }
  }

  #pointOf(snapshot: DeltaSnapshot, id: string): LeaderPoint {
    const { name } = this.#context;
    checkPlainlyReadable(snapshot.protocol, snapshot.metadata, name);
    const { tableId, version, committedAt, schema } = snapshot;
    const partitionColumns = partitionsOf(snapshot, name).map((column) => column.name);
    return { tableId, version, id, committedAt, schema, partitionColumns, marks: snapshot.progressStartingWith('') };
  }

  #locationOf(file: Pick<AddFile, 'path' | 'storedPath'>): string {
    return absolutePathOf(file, this.#context.place, this.#context.name);
  }

  #described(snapshot: DeltaSnapshot, files: readonly AddFile[], signal: AbortSignal | undefined): Promise<readonly LeaderFile[]> {
    const { name, place } = this.#context;
    const partitions = partitionsOf(snapshot, name);
    const names = partitions.map((column) => column.name);
    return mapBounded(files, footersAtOnce, async (file): Promise<LeaderFile> => {
      const { sizeBytes, stats, path } = file;
      if (marksRows(file)) throw markedRows(name, snapshot.version, path);
      const location = this.#locationOf(file);
      const read = (range: { readonly from: number; readonly until: number }): Promise<Uint8Array> =>
        place.readRange(location, range, signal);
      return {
        location,
        sizeBytes,
        rowCount: physicalRows(stats) ?? (await inspectFile('parquet', { name: location, sizeBytes, read })),
        // Of all files at once they would take some twenty kilobytes each.
        get statistics() {
          return loggedStatistics(stats, snapshot.schema, names);
        },
        partition: partitions.map((column) => {
          const text = partitionValueOf(file.partitionValues, column, path);
          return text === undefined ? undefined : partitionValue(text, column.type);
        }),
      };
    });
  }
}

interface ChangedFiles {
  readonly added: readonly AddFile[];
  readonly removed: readonly Pick<AddFile, 'path' | 'storedPath'>[];
  /** The rows are the same. */
  readonly rewrites: boolean;
}

/** What a commit changed of the live files: one that only says more of a file that is there changes nothing. */
function changedFiles(before: DeltaSnapshot, after: DeltaSnapshot, { actions }: DeltaCommit): ChangedFiles {
  const added = new Map<string, AddFile>();
  const removed = new Map<string, Pick<AddFile, 'path' | 'storedPath'>>();
  let rewrites = true;
  for (const action of actions) {
    if (action.kind !== 'add' && action.kind !== 'remove') continue;
    const [was, is] = [before.file(fileKey(action)), after.file(fileKey(action))];
    if (action.dataChange && was !== is) rewrites = false;
    if (action.kind === 'remove' && was !== undefined && is === undefined) removed.set(action.storedPath, action);
    if (action.kind === 'add' && was === undefined && is !== undefined) added.set(action.storedPath, action);
  }
  // The same file without marks on its rows, or with none that count.
  for (const [path, file] of added) if (!marksRows(file) && removed.delete(path)) added.delete(path);
  return { added: [...added.values()], removed: [...removed.values()], rewrites };
}

function marksRows({ deletionVector }: AddFile): boolean {
  return deletionVector !== undefined && !isEmptyVector(deletionVector);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function markedRows(table: string, version: Version, path: string): ServiceError {
  return serviceError.unsupported(
    'TWIN_UNSUPPORTED',
    `table "${table}": version ${version} marks rows of file "${path}" as deleted, and its twin can only have whole files`,
    {
      hint: `ALTER TABLE … SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'false'), then REORG TABLE … APPLY (PURGE): the twin goes on by itself`,
      context: { version },
    },
  );
}
