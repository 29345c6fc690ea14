import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { inertFailpoint } from '../../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { readParquet } from '../../../../src/codec/parquet/read-parquet.ts';
import { rowsOf } from '../../../../src/codec/rows.ts';
import { writeDataFiles } from '../../../../src/commit/file-writer.ts';
import { DeltaTables } from '../../../../src/delta/delta-tables.ts';
import { ParquetFileRewriter } from '../../../../src/maintenance/file-rewriter.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { toCommitId } from '../../../../src/table/commit.ts';
import type { Table } from '../../../../src/table/table.ts';
import { toVersion, type Version } from '../../../../src/table/version.ts';
import { dayMs } from '../../../support/delta-bench.ts';
import { StepClock } from '../../../support/step-clock.ts';

const definition = {
  schema: {
    kind: 'struct',
    fields: [
      { name: 'id', type: { kind: 'long' }, nullable: false },
      { name: 'at', type: { kind: 'timestamp' }, nullable: true },
      { name: 'place', type: { kind: 'string' }, nullable: true },
    ],
  },
  partitionColumns: ['place'],
  properties: { 'delta.enableChangeDataFeed': 'true' },
} as const;
const compaction = { targetFileBytes: 128 << 20, minInputFiles: 2, maxGroups: 10 };

/** A table as the product makes it, from the writer of data files to the rewriter of compactions. */
class World {
  readonly clock = new StepClock();
  readonly store = new MemoryObjectStore({ name: 'orders', clock: this.clock });
  readonly #random = new SeededRandom(7);
  readonly #ids = new RandomIdSource(this.#random);
  readonly #openStore = (): MemoryObjectStore => this.store;
  readonly tables = this.tablesBy(0);
  #rows = 0;

  /** The same storage as a process sees it whose clock is wrong by so much. */
  tablesBy(skewMs: number): DeltaTables {
    const { clock } = this;
    return new DeltaTables({
      openStore: this.#openStore,
      clock: {
        now: () => toEpochMs(clock.now() + skewMs),
        monotonicMs: () => clock.monotonicMs(),
        sleep: (ms, signal) => clock.sleep(ms, signal),
      },
      random: this.#random,
      ids: this.#ids,
      version: '0',
      rewriter: new ParquetFileRewriter({ openStore: this.#openStore }),
    });
  }

  async append(table: Table, places: readonly (string | undefined)[]): Promise<Version> {
    for (;;) {
      const base = await table.refresh();
      const rows = places.map((place) => ({ id: BigInt(this.#rows++), at: 1_700_000_000_123_456n, place }));
      const batch = buildBatch(definition.schema, rows);
      const spec = table.writeSpec(base);
      const { files } = await writeDataFiles({
        batch,
        spec,
        store: this.store,
        fileNameStem: this.#ids.uuid(),
        clock: this.clock,
        failpoint: inertFailpoint,
      });
      const commitId = toCommitId(this.#ids.uuid());
      const outcome = await table.tryAppend(base, { commitId, files, progress: [], userMetadata: '' });
      this.clock.advance(1000);
      if (outcome.kind === 'committed') return outcome.version;
    }
  }

  async rowsAt(table: Table, version: Version): Promise<readonly string[]> {
    const { files, schema } = await table.rowsAt(version);
    const stored = { kind: 'struct', fields: schema.fields.filter(({ name }) => name !== 'place') } as const;
    const rows: string[] = [];
    for (const file of files) {
      const { batches } = await readParquet(await this.store.read(file.path), { schema: stored });
      for (const row of rowsOf(batches)) rows.push(`${inspect(row)} in ${file.partitionValues['place'] ?? 'null'}`);
    }
    return rows.sort();
  }
}

describe('a maintained table', () => {
  let world: World;
  let table: Table;

  beforeEach(async () => {
    world = new World();
    table = await world.tables.create('orders', 'memory://orders', definition);
    for (const places of [['a/b', 'ü'], ['a/b', undefined], ['ü', undefined, 'a/b'], ['50%']]) await world.append(table, places);
  });

  it('has the same rows at every version after compaction, vacuum and a log checkpoint', async () => {
    const before = await Promise.all([1, 2, 3, 4].map((version) => world.rowsAt(table, toVersion(version))));
    expect(await table.health({ compaction })).toMatchObject({ version: 4, fileCount: 8, smallFileCount: 8, versionsSinceCheckpoint: 5 });
    const result = await table.compact(await table.planCompaction(compaction));
    expect(result).toMatchObject({ outcome: 'committed', version: 5, filesRemoved: 7, filesAdded: 3 });
    expect(await table.checkpoint({ dryRun: false })).toEqual({ version: 5, written: true });
    expect((await table.vacuum({ dryRun: false, quietWhenIdle: true })).fileCount).toBe(0);
    const reopened = await world.tables.open('orders', 'memory://orders');
    for (const [index, rows] of before.entries()) expect(await world.rowsAt(reopened ?? table, toVersion(index + 1))).toEqual(rows);
    expect(await world.rowsAt(reopened ?? table, toVersion(5))).toEqual(before[3]);
    expect(await table.health({ compaction })).toMatchObject({
      fileCount: 4,
      tombstoneCount: 7,
      versionsSinceCheckpoint: 0,
      compactable: { files: 0 },
    });
    expect((await reopened?.refresh())?.rowCount).toBe(8);
  });

  it('loses nothing that is live when old files are vacuumed from a view that was loaded from a checkpoint', async () => {
    await table.compact(await table.planCompaction(compaction));
    await table.checkpoint({ dryRun: false });
    const rows = await world.rowsAt(table, toVersion(5));
    world.clock.advance(8 * dayMs);
    const reopened = (await world.tables.open('orders', 'memory://orders')) ?? table;
    expect(await reopened.vacuum({ dryRun: false })).toMatchObject({ fileCount: 7, heldByFeeds: 0 });
    expect(await world.rowsAt(reopened, toVersion(7))).toEqual(rows);
    await expect(reopened.changesOf(toVersion(1))).rejects.toMatchObject({ code: 'CDF_GAP' });
  });

  // The tombstones of a compaction whose clock was behind were as old as the version before it, after a quiet week old enough for vacuum.
  it('keeps compacted files for their readers although the clock of the compaction was behind', async () => {
    world.clock.advance(8 * dayMs);
    const late = (await world.tablesBy(-9 * dayMs).open('orders', 'memory://orders')) ?? table;
    expect((await late.compact(await late.planCompaction(compaction))).outcome).toBe('committed');
    expect((await table.vacuum({ dryRun: false })).fileCount).toBe(0);
  });

  // A checkpoint by a clock that was ahead left out tombstones, and vacuum deletes what nothing names.
  it('keeps compacted files for their readers although the clock of the log checkpoint was ahead', async () => {
    world.clock.advance(8 * dayMs);
    await table.compact(await table.planCompaction(compaction));
    const early = (await world.tablesBy(9 * dayMs).open('orders', 'memory://orders')) ?? table;
    expect(await early.checkpoint({ dryRun: false })).toEqual({ version: 5, written: true });
    const rows = await world.rowsAt(table, toVersion(4));
    world.clock.advance(3_600_000);
    const fromCheckpoint = (await world.tablesBy(9 * dayMs).open('orders', 'memory://orders')) ?? table;
    await fromCheckpoint.vacuum({ dryRun: false });
    expect(await world.rowsAt(table, toVersion(4))).toEqual(rows);
  });

  it('appends and compacts at the same time without either failing', async () => {
    const other = (await world.tables.open('orders', 'memory://orders')) ?? table;
    const appending = async (): Promise<void> => {
      for (let batch = 0; batch < 8; batch++) await world.append(table, ['a/b', 'ü']);
    };
    const compacting = async (): Promise<readonly string[]> => {
      const outcomes: string[] = [];
      for (let run = 0; run < 4; run++) outcomes.push((await other.compact(await other.planCompaction(compaction))).outcome);
      return outcomes;
    };
    const [, outcomes] = await Promise.all([appending(), compacting()]);
    expect(outcomes).not.toContain('conflicted');
    const snapshot = await table.refresh();
    expect(snapshot.rowCount).toBe(24);
    expect(await world.rowsAt(table, snapshot.version)).toHaveLength(24);
  });
});
