import { join } from 'node:path';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { changeLines } from '../../../src/cdf/change-rows.ts';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { writeDataFiles } from '../../../src/commit/file-writer.ts';
import type { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import { IcebergTables, type IcebergTablesParts } from '../../../src/iceberg/iceberg-tables.ts';
import { otherFileRows } from '../../../src/iceberg/pipeline/other-file-rows.ts';
import type { SnapshotState } from '../../../src/iceberg/snapshot-state.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { type CommitOutcome, type ProgressAdvance, toCommitId } from '../../../src/table/commit.ts';
import type { StagedFile, WriteSpec } from '../../../src/table/staged-file.ts';
import type { TableDefinition } from '../../../src/table/table.ts';
import { nextVersion, toVersion } from '../../../src/table/version.ts';
import { openTestEngine, type TestEngine } from '../test-engine.ts';

const clock = new SystemClock();

/** An Iceberg table on disk that is written as the pipeline writes it; `close` removes it. */
export class PipelineTable {
  readonly made: TestEngine;
  readonly tables: IcebergTables;
  readonly table: IcebergTable;
  /** What other processes have too. */
  readonly parts: IcebergTablesParts;
  readonly #ids: RandomIdSource;

  private constructor(parts: {
    made: TestEngine;
    parts: IcebergTablesParts;
    tables: IcebergTables;
    table: IcebergTable;
    ids: RandomIdSource;
  }) {
    this.made = parts.made;
    this.parts = parts.parts;
    this.tables = parts.tables;
    this.table = parts.table;
    this.#ids = parts.ids;
  }

  static async create(
    definition: Omit<TableDefinition, 'partitionColumns'>,
    options: Pick<IcebergTablesParts, 'staysWithTable'> = {},
  ): Promise<PipelineTable> {
    const made = await openTestEngine();
    const random = new SeededRandom(7);
    const ids = new RandomIdSource(random);
    const scratchDirectory = join(made.directory, 'scratch');
    const engine = (): Promise<typeof made.engine> => Promise.resolve(made.engine);
    const parts = { openStore: openObjectStore, clock, random, ids, version: 'test', engine, scratchDirectory };
    const tables = new IcebergTables({ ...parts, ...options });
    const location = join(made.directory, 'table');
    await tables.createTable({ name: 't', location, definition: { partitionColumns: [], ...definition }, mode: 'create' });
    const table = await tables.open('t', location);
    if (table === undefined) throw new Error('the table was not created');
    return new PipelineTable({ made, parts, tables, table, ids });
  }

  get location(): string {
    return join(this.made.directory, 'table');
  }

  /** A second process's state of the table. */
  async reopened(): Promise<IcebergTable> {
    const table = await new IcebergTables(this.parts).open('t', this.location);
    if (table === undefined) throw new Error('the table is gone');
    return table;
  }

  async stage(
    rows: readonly InputRow[],
    table: IcebergTable = this.table,
  ): Promise<{ readonly files: readonly StagedFile[]; readonly spec: WriteSpec }> {
    const spec = table.writeSpec(await table.refresh());
    const batch = buildBatch(spec.schema, rows);
    const store = openObjectStore(spec.location);
    const { files } = await writeDataFiles({ batch, spec, store, fileNameStem: this.#ids.uuid(), clock, failpoint: inertFailpoint });
    return { files, spec };
  }

  async tryAppend(
    rows: readonly InputRow[],
    progress: readonly ProgressAdvance[] = [],
    options: { readonly base?: SnapshotState; readonly commitId?: string; readonly table?: IcebergTable } = {},
  ): Promise<CommitOutcome> {
    return this.commit((await this.stage(rows, options.table)).files, progress, options);
  }

  async commit(
    files: readonly StagedFile[],
    progress: readonly ProgressAdvance[] = [],
    options: { readonly base?: SnapshotState; readonly commitId?: string; readonly table?: IcebergTable } = {},
  ): Promise<CommitOutcome> {
    const table = options.table ?? this.table;
    const base = options.base ?? (await table.refresh());
    return table.tryAppend(base, { commitId: toCommitId(options.commitId ?? this.#ids.uuid()), files, progress, userMetadata: '{}' });
  }

  /** Commits rows as the next version of the pipeline. */
  async append(
    rows: readonly InputRow[],
    progress: readonly ProgressAdvance[] = [],
    options: { readonly table?: IcebergTable } = {},
  ): Promise<number> {
    const outcome = await this.tryAppend(rows, progress, options);
    if (outcome.kind !== 'committed') throw new Error(`not committed: ${outcome.kind}`);
    return outcome.version;
  }

  /** The changes of one version as lines of flat JSON, without what differs from run to run. */
  async lines(version: number): Promise<readonly string[]> {
    const from = toVersion(version);
    const lines: string[] = [];
    const source = {
      table: this.table,
      openStore: openObjectStore,
      openEngine: () => Promise.resolve(this.made.engine),
      readOther: otherFileRows,
      fromVersion: from,
      untilVersion: nextVersion(from),
    };
    for await (const line of changeLines(source)) lines.push(line.replace(/,"_commit_timestamp":"[^"]*"/, ''));
    return lines;
  }

  close(): Promise<void> {
    return this.made.close();
  }
}
