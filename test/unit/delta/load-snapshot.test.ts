import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { printActions } from '../../../src/delta/action-json.ts';
import type { Action, AddFile, DeletionVector } from '../../../src/delta/actions.ts';
import { writeCheckpoint } from '../../../src/delta/checkpoint/write-checkpoint.ts';
import { DeltaLog } from '../../../src/delta/delta-log.ts';
import type { DeltaSnapshot } from '../../../src/delta/delta-snapshot.ts';
import { historyOf } from '../../../src/delta/history.ts';
import { cleanUpHorizon, cleanUpLog } from '../../../src/delta/log/clean-up-log.ts';
import { loadSnapshot } from '../../../src/delta/log/load-snapshot.ts';
import { listLog } from '../../../src/delta/log/log-listing.ts';
import { checkpointPath, commitPath, lastCheckpointPath } from '../../../src/delta/log/log-names.ts';
import { parquetRows } from '../../../src/delta/log/parquet-rows.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import { toVersion } from '../../../src/table/version.ts';
import { StepClock } from '../../support/step-clock.ts';

const dayMs = 86_400_000;

function addOf(path: string, deletionVector?: DeletionVector): AddFile {
  const stats = '{"numRecords":10}';
  const values = { p: path.endsWith('0') ? undefined : 'x' };
  return {
    kind: 'add',
    path,
    storedPath: path,
    partitionValues: values,
    sizeBytes: 7,
    modifiedMs: 5,
    dataChange: true,
    stats,
    deletionVector,
  };
}

const first: readonly Action[] = [
  { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 2 },
  {
    kind: 'metaData',
    id: new RandomIdSource(new SeededRandom(4)).uuid(),
    formatProvider: 'parquet',
    formatOptions: {},
    schemaString: '{"type":"struct","fields":[{"name":"p","type":"string","nullable":true,"metadata":{"k":9007199254740993}}]}',
    partitionColumns: ['p'],
    configuration: { 'custom.key': 'kept' },
  },
];

class Bench {
  readonly clock = new StepClock();
  readonly store = new MemoryObjectStore({ name: 't', clock: this.clock });
  readonly source = { name: 't', store: this.store, codec: parquetRows };
  readonly ids = new RandomIdSource(new SeededRandom(6));
  #version = -1;

  async commit(...actions: readonly Action[]): Promise<void> {
    this.#version += 1;
    await this.store.putIfAbsent(commitPath(this.#version), printActions(actions));
    this.clock.advance(1000);
  }

  /** Versions 0 to `until`: each adds a file, every third removes the one before, each moves a mark. */
  async history(until: number): Promise<void> {
    await this.commit(...first);
    for (let version = 1; version <= until; version++) {
      const gone = version % 3 === 0 ? [removed(`f${version - 1}`, this.clock.now())] : [];
      await this.commit(addOf(`f${version}`), ...gone, { kind: 'txn', appId: 'w', version: 9_007_199_254_740_992n + BigInt(version) });
    }
  }

  async load(until?: number): Promise<DeltaSnapshot> {
    const snapshot = await loadSnapshot(this.source, until === undefined ? undefined : toVersion(until));
    if (snapshot === undefined) throw new TypeError('no table');
    return snapshot;
  }

  async checkpoint(version: number): Promise<void> {
    await writeCheckpoint({ ...this.source, ids: this.ids }, await this.load(version), { nowMs: this.clock.now() });
  }
}

function removed(path: string, deletedMs: number): Action {
  return {
    kind: 'remove',
    path,
    storedPath: path,
    dataChange: true,
    deletedMs,
    extendedFileMetadata: true,
    partitionValues: {},
    sizeBytes: 7,
  };
}

function state(snapshot: DeltaSnapshot): unknown {
  const { version, committedAt, fileCount, sizeBytes, rowCount, tombstoneCount, protocol, metadata } = snapshot;
  const files = Array.from(snapshot.files(), (file) => ({ ...file, dataChange: false })).sort((a, b) => (a.path < b.path ? -1 : 1));
  const txns = Array.from(snapshot.txns());
  return { version, committedAt, fileCount, sizeBytes, rowCount, tombstoneCount, protocol, metadata, files, txns };
}

describe('loadSnapshot', () => {
  it('gives the same state from a checkpoint as from all commits, at the checkpoint and after it', async () => {
    const plain = new Bench();
    const bench = new Bench();
    for (const each of [plain, bench]) await each.history(12);
    await bench.checkpoint(10);
    for (const version of [10, 11, 12]) expect(state(await bench.load(version))).toEqual(state(await plain.load(version)));
  });

  it('needs no commit before the checkpoint', async () => {
    const bench = new Bench();
    await bench.history(12);
    const expected = state(await bench.load());
    await bench.checkpoint(10);
    for (let version = 0; version < 10; version++) await bench.store.delete(commitPath(version));
    expect(state(await bench.load())).toMatchObject({ ...(expected as object), committedAt: expect.anything() as unknown });
    await expect(bench.load(5)).rejects.toMatchObject({
      code: 'DELTA_VERSION_NOT_FOUND',
      message: 'Cannot time travel Delta table to version 5. Available versions: [10, 12].',
    });
  });

  it.each(['', 'not json', '{"version":"x"}', '{"version":99}', '{"version":3}', '{"version":-4}', '[]'])(
    'survives the hint %j',
    async (hint) => {
      const bench = new Bench();
      await bench.history(12);
      const expected = state(await bench.load());
      await bench.checkpoint(10);
      await bench.store.put(lastCheckpointPath, new TextEncoder().encode(hint));
      expect(state(await bench.load())).toEqual(expected);
    },
  );

  it('goes back to an older checkpoint, or to the commits, when one is damaged', async () => {
    const bench = new Bench();
    await bench.history(12);
    const expected = state(await bench.load());
    await bench.checkpoint(5);
    await bench.checkpoint(10);
    await bench.store.put(checkpointPath(10), new TextEncoder().encode('PAR1 nonsense'));
    expect(state(await bench.load())).toEqual(expected);
    await bench.store.put(checkpointPath(5), new Uint8Array(0));
    expect(state(await bench.load())).toEqual(expected);
  });

  it('refuses a gap and a log without beginning', async () => {
    const bench = new Bench();
    await bench.history(6);
    await bench.store.delete(commitPath(4));
    await expect(bench.load()).rejects.toMatchObject({ code: 'DELTA_VERSIONS_NOT_CONTIGUOUS', kind: 'corrupt' });
    await bench.store.delete(commitPath(0));
    await expect(bench.load()).rejects.toMatchObject({ code: 'DELTA_TRUNCATED_TRANSACTION_LOG', kind: 'corrupt' });
  });

  it('finds nothing where there is nothing', async () => {
    const bench = new Bench();
    await bench.store.put('data.parquet', new Uint8Array(1));
    expect(await loadSnapshot(bench.source)).toBeUndefined();
  });

  it('tells files apart by their deletion vectors, and counts their live rows', async () => {
    const bench = new Bench();
    const vector = (cardinality: number): DeletionVector => ({
      storageType: 'i',
      pathOrInlineDv: `v${cardinality}`,
      sizeInBytes: 1,
      cardinality,
    });
    await bench.commit(...first, addOf('f'));
    await bench.commit(addOf('f', vector(3)), removed('f', 1));
    const snapshot = await bench.load();
    expect(snapshot).toMatchObject({ fileCount: 1, rowCount: 7, tombstoneCount: 1 });
  });

  it('names file and line of what it cannot read', async () => {
    const bench = new Bench();
    await bench.commit(...first);
    await bench.store.put(commitPath(1), new TextEncoder().encode('{"unknown":{"a":1}}\n{"add":{"path":5}}\n'));
    await expect(bench.load()).rejects.toMatchObject({
      code: 'DELTA_LOG_CORRUPT',
      message: expect.stringContaining('01.json line 2') as string,
    });
  });

  it('moves the times of versions forward so that they grow', async () => {
    const bench = new Bench();
    await bench.commit(...first);
    const start = (await bench.load()).committedAt;
    bench.clock.advance(-600_000);
    await bench.commit(addOf('a'));
    await bench.commit(addOf('b'));
    expect((await bench.load()).committedAt).toBe(start + 2);
    const log = new DeltaLog({ ...bench.source, clock: bench.clock });
    expect((await historyOf(log, {})).map((entry) => entry.committedAt - start)).toEqual([2, 1, 0]);
  });

  it('keeps metadata and long numbers it does not understand', async () => {
    const bench = new Bench();
    await bench.history(3);
    await bench.checkpoint(3);
    for (let version = 0; version < 3; version++) await bench.store.delete(commitPath(version));
    const snapshot = await bench.load();
    expect(snapshot.properties).toEqual({ 'custom.key': 'kept' });
    expect(snapshot.schema.fields[0]?.metadata).toEqual({ k: 9_007_199_254_740_993n });
    expect(snapshot.progressOf('w')).toBe(9_007_199_254_740_995n);
  });
});

describe('DeltaLog', () => {
  it('moves forward by reading only what was committed since', async () => {
    const bench = new Bench();
    await bench.history(5);
    const log = new DeltaLog({ ...bench.source, clock: bench.clock });
    const before = await log.refresh();
    await bench.commit(addOf('late'));
    const after = await log.refresh();
    expect([before.version, after.version]).toEqual([5, 6]);
    expect(before.file('late')).toBeUndefined();
    expect(after.file('late')).toBeDefined();
    expect(state(after)).toEqual(state(await bench.load()));
  });

  it('says which versions there are', async () => {
    const bench = new Bench();
    await bench.history(5);
    const log = new DeltaLog({ ...bench.source, clock: bench.clock });
    expect((await log.snapshotAt(toVersion(3))).version).toBe(3);
    await expect(log.snapshotAt(toVersion(9))).rejects.toMatchObject({
      code: 'DELTA_VERSION_NOT_FOUND',
      message: 'Cannot time travel Delta table to version 9. Available versions: [0, 5].',
    });
    await expect(log.snapshotAt(toVersion(-1))).rejects.toMatchObject({ errorClass: 'DELTA_VERSION_NOT_FOUND', sqlState: '22003' });
  });

  it('notices a table that was replaced by a shorter one', async () => {
    const bench = new Bench();
    await bench.history(5);
    const log = new DeltaLog({ ...bench.source, clock: bench.clock });
    await log.refresh();
    for (let version = 2; version <= 5; version++) await bench.store.delete(commitPath(version));
    bench.clock.advance(3_600_000);
    expect((await log.refresh()).version).toBe(1);
  });
});

describe('log cleanup', () => {
  async function aged(): Promise<Bench> {
    const bench = new Bench();
    await bench.history(25);
    for (const version of [10, 20]) await bench.checkpoint(version);
    bench.clock.advance(40 * dayMs);
    return bench;
  }

  async function horizon(
    bench: Bench,
    options: { readonly keep?: number; readonly retentionMs?: number } = {},
  ): Promise<number | undefined> {
    const keepVersionsFrom = options.keep === undefined ? undefined : toVersion(options.keep);
    const retention = { nowMs: bench.clock.now(), logRetentionMs: options.retentionMs ?? 30 * dayMs, keepVersionsFrom };
    return cleanUpHorizon(await listLog(bench.store, 0), retention);
  }

  it('goes behind the newest checkpoint past retention, and the table reads the same', async () => {
    const bench = await aged();
    const expected = state(await bench.load());
    expect(await horizon(bench)).toBe(20);
    await cleanUpLog(bench.store, await listLog(bench.store, 0), toVersion(20));
    expect(state(await bench.load())).toMatchObject({ ...(expected as object), committedAt: expect.anything() as unknown });
    expect(await bench.store.head(commitPath(20))).toBeDefined();
    expect(await bench.store.head(commitPath(19))).toBeUndefined();
    expect(await bench.store.head(checkpointPath(10))).toBeUndefined();
  });

  it('leaves a feed what it takes to replay the version before its next one', async () => {
    const bench = await aged();
    expect(await horizon(bench, { keep: 21 })).toBe(20);
    expect(await horizon(bench, { keep: 20 })).toBe(10);
    expect(await horizon(bench, { keep: 10 })).toBeUndefined();
  });

  it('deletes nothing that is young or without a checkpoint', async () => {
    const bench = await aged();
    expect(await horizon(bench, { retentionMs: 50 * dayMs })).toBeUndefined();
    const plain = new Bench();
    await plain.history(25);
    plain.clock.advance(40 * dayMs);
    expect(await horizon(plain)).toBeUndefined();
  });
});
