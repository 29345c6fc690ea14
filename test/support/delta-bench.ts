import { AnalysisException } from '../../src/base/analysis-exception.ts';
import type { JsonObject } from '../../src/base/bigint-json.ts';
import { type Failpoint, inertFailpoint } from '../../src/base/failpoint.ts';
import { RandomIdSource } from '../../src/base/ids.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { printActions } from '../../src/delta/action-json.ts';
import { type Action, type AddFile, type CdcFile, removeOf } from '../../src/delta/actions.ts';
import { addFileOf, DeltaCommitter } from '../../src/delta/delta-committer.ts';
import { DeltaLog } from '../../src/delta/delta-log.ts';
import { commitInfoOf, type DeltaSnapshot } from '../../src/delta/delta-snapshot.ts';
import { type TablePlace, tablePlace } from '../../src/delta/files/table-place.ts';
import { commitPath } from '../../src/delta/log/log-names.ts';
import { parquetRows } from '../../src/delta/log/parquet-rows.ts';
import type { OperationCommit, OperationContext } from '../../src/delta/operations/operation-context.ts';
import { encodePath } from '../../src/delta/paths.ts';
import { MemoryObjectStore } from '../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import type { CommitId, CommitOutcome } from '../../src/table/commit.ts';
import type { FileRewriter, RewriteTask } from '../../src/table/operations.ts';
import type { PartitionValues, StagedFile } from '../../src/table/staged-file.ts';
import { toVersion, type Version } from '../../src/table/version.ts';
import { StepClock } from './step-clock.ts';

export const hourMs = 3_600_000;
export const dayMs: number = 24 * hourMs;

/**
 * A Delta table whose log is written by hand, as another engine would, and whose data files are lines of text: one row a line. Enough for
 * everything that looks at the log and moves whole files.
 */
export class DeltaBench {
  readonly clock: StepClock = new StepClock();
  readonly store: MemoryObjectStore = new MemoryObjectStore({ name: 'bench', clock: this.clock });
  #files = 0;
  #version = -1;

  /** Commits the actions as the next version, whatever that is by now, and lets a second pass. */
  async commit(operation: string, actions: readonly Action[], info: JsonObject = {}): Promise<Version> {
    const body = { timestamp: this.clock.now(), operation, operationParameters: {}, ...info };
    for (let version = this.#version + 1; ; version++) {
      const bytes = printActions([{ kind: 'commitInfo', body }, ...actions]);
      if ((await this.store.putIfAbsent(commitPath(version), bytes)) === 'exists') continue;
      this.#version = version;
      this.clock.advance(1000);
      return toVersion(version);
    }
  }

  /** Removes files as a careful writer does: on top of `base` or not at all. */
  async removeOnTopOf(base: DeltaSnapshot, files: readonly AddFile[]): Promise<boolean> {
    const deletedMs = this.clock.now();
    const actions = files.map((file) => removeOf(file, { deletedMs, dataChange: true }));
    const bytes = printActions([{ kind: 'commitInfo', body: { operation: 'DELETE' } }, ...actions]);
    return (await this.store.putIfAbsent(commitPath(base.version + 1), bytes)) === 'created';
  }

  create(
    options: { readonly partitionColumns?: readonly string[]; readonly configuration?: Readonly<Record<string, string>> } = {},
  ): Promise<Version> {
    return this.commit('CREATE TABLE', [{ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 4 }, metadataOf(options)]);
  }

  /** Puts a data file of these rows; not in the table until its `add` is committed. */
  async file(rows: readonly string[], partitionValues: PartitionValues = {}): Promise<AddFile> {
    const folder = Object.entries(partitionValues).map(([column, value]) => `${column}=${value ?? '__HIVE_DEFAULT_PARTITION__'}/`);
    const storedPath = `${folder.join('')}part-${String(this.#files++).padStart(5, '0')}.txt`;
    const bytes = new TextEncoder().encode(rows.join('\n'));
    await this.store.put(storedPath, bytes);
    return {
      kind: 'add',
      path: encodePath(storedPath),
      storedPath,
      partitionValues,
      sizeBytes: bytes.length,
      modifiedMs: this.clock.now(),
      dataChange: true,
      stats: `{"numRecords":${rows.length}}`,
    };
  }

  async append(rows: readonly string[], partitionValues: PartitionValues = {}): Promise<AddFile> {
    const file = await this.file(rows, partitionValues);
    await this.commit('WRITE', [file], { isBlindAppend: true });
    return file;
  }

  /** Removes the files with changed data, as a DELETE of all their rows does. */
  remove(files: readonly AddFile[], added: readonly AddFile[] = []): Promise<Version> {
    const deletedMs = this.clock.now();
    return this.commit('DELETE', [...files.map((file) => removeOf(file, { deletedMs, dataChange: true })), ...added]);
  }

  async recordedChanges(name: string, rows: readonly string[]): Promise<CdcFile> {
    const storedPath = `_change_data/${name}`;
    await this.store.put(storedPath, new TextEncoder().encode(rows.join('\n')));
    return { kind: 'cdc', path: storedPath, storedPath, partitionValues: {}, sizeBytes: 10 };
  }

  /** A process of its own that looks at the table: its own view of the log, the same store (or one in front of it). */
  process(options: ProcessOptions = {}): BenchProcess {
    return new BenchProcess({ ...options, clock: options.clock ?? this.clock, store: options.store ?? this.store });
  }

  /** All rows of a version, sorted. */
  async rowsAt(version?: Version): Promise<readonly string[]> {
    const context = this.process();
    const snapshot = version === undefined ? await context.refresh() : await context.snapshotAt(version);
    const rows: string[] = [];
    for (const file of snapshot.files()) rows.push(...(await linesOf(this.store, file.storedPath)));
    return rows.sort();
  }

  async paths(): Promise<readonly string[]> {
    const paths: string[] = [];
    for await (const { path } of this.store.list({ prefix: '' })) if (!path.startsWith('_delta_log/')) paths.push(path);
    return paths;
  }

  /** What the history says of each version, oldest first. */
  async operations(): Promise<readonly string[]> {
    const context = this.process();
    const { version } = await context.refresh();
    const names: string[] = [];
    for (let at = 0; at <= version; at++) {
      const info = commitInfoOf((await context.readCommit(toVersion(at)))?.actions ?? []);
      const operation = info?.body['operation'];
      names.push(typeof operation === 'string' ? operation : '');
    }
    return names;
  }
}

export interface ProcessOptions {
  readonly failpoint?: Failpoint | undefined;
  readonly seed?: number | undefined;
  readonly store?: ObjectStore | undefined;
  readonly clock?: StepClock | undefined;
}

/** What a table hands its operations, over the bench's log. */
export class BenchProcess implements OperationContext {
  readonly name = 'bench';
  readonly store: ObjectStore;
  readonly clock: StepClock;
  readonly random: SeededRandom;
  readonly ids: RandomIdSource;
  readonly failpoint: Failpoint;
  readonly log: DeltaLog;
  readonly place: TablePlace;
  readonly #committer: DeltaCommitter;

  constructor(options: ProcessOptions & { readonly store: ObjectStore; readonly clock: StepClock }) {
    this.store = options.store;
    this.place = tablePlace({ name: 'bench', store: options.store, openStore: undefined, outside: () => [] });
    this.clock = options.clock;
    this.random = new SeededRandom(options.seed ?? 1);
    this.ids = new RandomIdSource(this.random);
    this.failpoint = options.failpoint ?? inertFailpoint;
    this.log = new DeltaLog({ name: this.name, store: options.store, codec: parquetRows, clock: options.clock });
    this.#committer = new DeltaCommitter({ log: this.log, clock: options.clock, engineInfo: 'bench' });
  }

  engine(): Promise<never> {
    return Promise.reject(new AnalysisException({ errorClass: 'ENGINE_NOT_AVAILABLE', message: 'the bench has no engine' }));
  }

  localRoot(): string {
    throw new AnalysisException({ errorClass: 'ENGINE_NEEDS_LOCAL_FILES', message: 'the bench has no directory' });
  }

  refresh(signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.log.refresh(signal);
  }

  snapshotAt(version: Version, signal?: AbortSignal): Promise<DeltaSnapshot> {
    return this.log.snapshotAt(version, signal);
  }

  readCommit(version: Version, signal?: AbortSignal): ReturnType<OperationContext['readCommit']> {
    return this.log.readCommit(version, signal);
  }

  findCommit(commitId: CommitId, afterVersion: Version, signal?: AbortSignal): Promise<Version | undefined> {
    return this.log.findCommit(commitId, afterVersion, signal);
  }

  stands(snapshot: DeltaSnapshot): Promise<boolean> {
    return this.log.stands(snapshot);
  }

  writeSpec(snapshot: DeltaSnapshot): ReturnType<OperationContext['writeSpec']> {
    return {
      location: this.store.root,
      schema: snapshot.schema,
      partitionColumns: snapshot.partitionColumns,
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
    };
  }

  addOf(...file: Parameters<OperationContext['addOf']>): AddFile {
    return addFileOf(...file);
  }

  tryCommit(base: DeltaSnapshot, commit: OperationCommit, commitId: CommitId): Promise<CommitOutcome> {
    return this.#committer.tryCommit(base, { ...commit, commitId });
  }
}

/** Rewrites text files by joining their lines. */
export class LineRewriter implements FileRewriter {
  readonly #store: ObjectStore;
  readonly #clock: StepClock;

  constructor(bench: { readonly store: ObjectStore; readonly clock: StepClock }) {
    this.#store = bench.store;
    this.#clock = bench.clock;
  }

  async rewrite(task: RewriteTask): Promise<StagedFile> {
    const rows: string[] = [];
    for (const input of task.group.inputs) rows.push(...(await linesOf(this.#store, input.path)));
    const bytes = new TextEncoder().encode(rows.join('\n'));
    await this.#store.put(task.outputPath, bytes);
    return {
      path: task.outputPath,
      partitionValues: task.group.partitionValues,
      sizeBytes: bytes.length,
      rowCount: rows.length,
      modifiedMs: this.#clock.now(),
      statistics: [],
    };
  }
}

async function linesOf(store: ObjectStore, path: string): Promise<readonly string[]> {
  const text = new TextDecoder().decode(await store.read(path));
  return text === '' ? [] : text.split('\n');
}

export function metadataOf(options: {
  readonly partitionColumns?: readonly string[];
  readonly configuration?: Readonly<Record<string, string>>;
  readonly id?: string;
}): Action {
  const field = (name: string): string => `{"name":"${name}","type":"string","nullable":true,"metadata":{}}`;
  const names = ['row', ...(options.partitionColumns ?? [])];
  return {
    kind: 'metaData',
    id: options.id ?? 'bench-table',
    formatProvider: 'parquet',
    formatOptions: {},
    schemaString: `{"type":"struct","fields":[${names.map(field).join(',')}]}`,
    partitionColumns: options.partitionColumns ?? [],
    configuration: options.configuration ?? {},
  };
}
