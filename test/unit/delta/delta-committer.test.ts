import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { printActions } from '../../../src/delta/action-json.ts';
import { commitInfoOf } from '../../../src/delta/delta-snapshot.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { commitPath } from '../../../src/delta/log/log-names.ts';
import { readCommit } from '../../../src/delta/log/read-commit.ts';
import { LocalObjectStore } from '../../../src/storage/local-object-store.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectStore } from '../../../src/storage/object-store.ts';
import { type AppendIntent, toCommitId } from '../../../src/table/commit.ts';
import type { StagedFile } from '../../../src/table/staged-file.ts';
import type { Table, TableDefinition } from '../../../src/table/table.ts';
import { toVersion } from '../../../src/table/version.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { StepClock } from '../../support/step-clock.ts';

const definition: TableDefinition = {
  schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
  partitionColumns: [],
  properties: { 'delta.enableChangeDataFeed': 'true' },
};

class Bench {
  readonly clock = new StepClock();
  readonly ids = new RandomIdSource(new SeededRandom(1));
  readonly store: FaultyObjectStore;

  constructor(inner?: ObjectStore) {
    const random = new SeededRandom(2);
    this.store = new FaultyObjectStore(inner ?? new MemoryObjectStore({ name: 't', clock: this.clock }), { clock: this.clock, random });
  }

  /** Another process's view of the same table. */
  table(): Promise<Table> {
    const rewriter = { rewrite: () => Promise.reject(new TypeError('not used')) };
    const parts = { clock: this.clock, ids: this.ids, random: new SeededRandom(3), version: '1.2.3', rewriter };
    return new DeltaTables({ ...parts, openStore: () => this.store }).create('orders', 'memory://t', definition);
  }

  intent(from: bigint | undefined, until: bigint, writerId = 'p:orders:0'): AppendIntent {
    return {
      commitId: toCommitId(this.ids.uuid()),
      files: [staged(`part-${this.ids.uuid()}.parquet`)],
      stagedSinceMs: this.clock.monotonicMs(),
      progress: [{ writerId, from, until }],
      userMetadata: '{"tidewater":{}}',
    };
  }
}

function staged(path: string): StagedFile {
  return {
    path,
    partitionValues: {},
    sizeBytes: 100,
    rowCount: 5,
    modifiedMs: 7,
    statistics: [{ path: ['id'], nullCount: 0, min: 1n, max: 5n }],
  };
}

describe('tryAppend', () => {
  it('writes rows, progress and what the history shows in one version', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    expect(base.version).toBe(0);
    const intent = { ...bench.intent(undefined, 9_007_199_254_740_993n), files: [staged('a b.parquet')] };
    expect(await table.tryAppend(base, intent)).toEqual({ kind: 'committed', version: 1 });
    const text = new TextDecoder().decode(await bench.store.read(commitPath(1)));
    const [info = '', ...rest] = text.trimEnd().split('\n');
    expect(rest).toEqual([
      '{"txn":{"appId":"p:orders:0","version":9007199254740993}}',
      '{"add":{"path":"a%20b.parquet","partitionValues":{},"size":100,"stats":"{\\"numRecords\\":5,\\"minValues\\":{\\"id\\":1},' +
        '\\"maxValues\\":{\\"id\\":5},\\"nullCount\\":{\\"id\\":0}}","modificationTime":7,"dataChange":true}}',
    ]);
    expect(info.startsWith('{"commitInfo":{"timestamp":')).toBe(true);
    expect(info).toContain('"operation":"STREAMING UPDATE","operationParameters":{"outputMode":"Append","queryId":"p","epochId":"1"}');
    expect(info).toContain(`"engineInfo":"Tidewater/1.2.3","txnId":"${intent.commitId}"`);
    const snapshot = await table.refresh();
    expect(snapshot).toMatchObject({ version: 1, fileCount: 1, sizeBytes: 100, rowCount: 5 });
    expect(snapshot.progressOf('p:orders:0')).toBe(9_007_199_254_740_993n);
  });

  it('fences a writer whose marks are not where it starts, without writing', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    const before = bench.store.calls.get('putIfAbsent');
    const moved = { kind: 'progress-moved', writerId: 'p:orders:0', expected: 3n, found: undefined, latest: 0 };
    expect(await table.tryAppend(base, bench.intent(3n, 5n))).toEqual({ kind: 'conflicted', conflict: moved });
    expect(bench.store.calls.get('putIfAbsent')).toBe(before);
  });

  it('fences a zombie that meets the version of the writer which took over', async () => {
    const bench = new Bench();
    const [zombie, fresh] = [await bench.table(), await bench.table()];
    const base = await zombie.refresh();
    await fresh.tryAppend(await fresh.refresh(), bench.intent(undefined, 10n));
    expect(await zombie.tryAppend(base, bench.intent(undefined, 8n))).toEqual({
      kind: 'conflicted',
      conflict: { kind: 'progress-moved', writerId: 'p:orders:0', expected: undefined, found: 10n, latest: 1 },
    });
  });

  it('lets a writer of other partitions try again on the newer version', async () => {
    const bench = new Bench();
    const [one, other] = [await bench.table(), await bench.table()];
    const base = await one.refresh();
    await other.tryAppend(await other.refresh(), bench.intent(undefined, 10n, 'other'));
    const intent = bench.intent(undefined, 5n);
    expect(await one.tryAppend(base, intent)).toEqual({ kind: 'conflicted', conflict: { kind: 'version-taken', latest: 1 } });
    expect(await one.tryAppend(await one.refresh(), intent)).toEqual({ kind: 'committed', version: 2 });
  });

  it('reports a lost answer as unknown, finds the commit in the log, and does not write it twice', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    const intent = bench.intent(undefined, 5n);
    bench.store.failNext('putIfAbsent', 'after');
    expect(await table.tryAppend(base, intent)).toMatchObject({ kind: 'unknown' });
    expect(await table.tryAppend(base, intent)).toEqual({ kind: 'already-committed', version: 1 });
    expect(await table.findCommit(intent.commitId, toVersion(0))).toBe(1);
    expect((await table.refresh()).version).toBe(1);
  });

  it('throws when the store did nothing, and the same attempt then succeeds', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    const intent = bench.intent(undefined, 5n);
    bench.store.failNext('putIfAbsent', 'before');
    await expect(table.tryAppend(base, intent)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await table.findCommit(intent.commitId, toVersion(0))).toBeUndefined();
    expect(await table.tryAppend(base, intent)).toEqual({ kind: 'committed', version: 1 });
  });

  it('stands even when nothing can be read after the commit', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    bench.store.failNext('head', 'before', commitPath(1));
    expect(await table.tryAppend(base, bench.intent(undefined, 5n))).toEqual({ kind: 'committed', version: 1 });
    expect((await table.refresh()).progressOf('p:orders:0')).toBe(5n);
  });

  it('stops at a change of the schema by somebody else', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const base = await table.refresh();
    const first = await readCommit(bench.store, toVersion(0));
    const metadata = first?.actions.find((action) => action.kind === 'metaData');
    if (metadata === undefined) throw new TypeError('no metadata');
    await bench.store.putIfAbsent(commitPath(1), printActions([{ ...metadata, configuration: {} }]));
    expect(await table.tryAppend(base, bench.intent(undefined, 5n))).toMatchObject({
      kind: 'conflicted',
      conflict: { kind: 'metadata-changed', latest: 1 },
    });
  });

  it('does not create a version in the past after log cleanup freed its number', async () => {
    // A process that slept through a retention period would otherwise commit into a hole, and the rows would be in no version.
    const bench = new Bench();
    const [sleeper, other] = [await bench.table(), await bench.table()];
    const base = await sleeper.refresh();
    for (let index = 0; index < 3; index++) {
      const from = index === 0 ? undefined : BigInt(index);
      await other.tryAppend(await other.refresh(), bench.intent(from, BigInt(index + 1), 'other'));
    }
    await other.checkpoint({ dryRun: false });
    for (const version of [0, 1, 2]) await bench.store.delete(commitPath(version));
    bench.clock.advance(3_600_000);
    const outcome = await sleeper.tryAppend(base, bench.intent(undefined, 5n));
    expect(outcome).toEqual({ kind: 'conflicted', conflict: { kind: 'version-taken', latest: 3 } });
    expect(await bench.store.head(commitPath(1))).toBeUndefined();
  });

  it('costs the same number of requests at version 1,000 as at version 10', async () => {
    const bench = new Bench();
    const table = await bench.table();
    const costs = new Map<number, number>();
    for (let version = 1; version <= 1001; version++) {
      const base = await table.refresh();
      const before = [...bench.store.calls.values()].reduce((total, calls) => total + calls, 0);
      const from = version === 1 ? undefined : BigInt(version - 1);
      expect(await table.tryAppend(base, bench.intent(from, BigInt(version)))).toMatchObject({ kind: 'committed' });
      costs.set(version, [...bench.store.calls.values()].reduce((total, calls) => total + calls, 0) - before);
    }
    expect(costs.get(1000)).toBe(costs.get(10));
    // A look whether the base is still there, the write, and a look at what was written.
    expect(costs.get(10)).toBe(3);
  });
});

describe('afterCommit', () => {
  async function atVersionTen(): Promise<{ readonly bench: Bench; readonly table: Table }> {
    const bench = new Bench();
    const table = await bench.table();
    for (let version = 1; version <= 10; version++) {
      const from = version === 1 ? undefined : BigInt(version - 1);
      await table.tryAppend(await table.refresh(), bench.intent(from, BigInt(version)));
    }
    return { bench, table };
  }

  it('writes checkpoint, hint and checksum when they are due, and removes the stale checksum file of the hint', async () => {
    const { bench, table } = await atVersionTen();
    await bench.store.put('_delta_log/._last_checkpoint.crc', new Uint8Array(1));
    await table.afterCommit(toVersion(9));
    expect(await bench.store.head('_delta_log/_last_checkpoint')).toBeUndefined();
    await table.afterCommit(toVersion(10));
    expect(new TextDecoder().decode(await bench.store.read('_delta_log/_last_checkpoint'))).toContain('"version":10');
    expect(await bench.store.head('_delta_log/00000000000000000010.checkpoint.parquet')).toBeDefined();
    expect(await bench.store.head('_delta_log/00000000000000000010.crc')).toBeDefined();
    expect(await bench.store.head('_delta_log/._last_checkpoint.crc')).toBeUndefined();
    expect(await (await bench.table()).refresh()).toMatchObject({ version: 10, fileCount: 10, rowCount: 50 });
  });

  it('never throws, and leaves no hint to a checkpoint that is not there', async () => {
    const { bench, table } = await atVersionTen();
    bench.store.failNext('put', 'before', '_delta_log/00000000000000000010.checkpoint');
    await table.afterCommit(toVersion(10));
    expect(await bench.store.head('_delta_log/_last_checkpoint')).toBeUndefined();
  });
});

async function race(bench: Bench, options: { readonly writers: number; readonly batches: number }): Promise<void> {
  const tables = await Promise.all(Array.from({ length: options.writers }, () => bench.table()));
  await Promise.all(
    tables.map(async (table, writer) => {
      for (let batch = 0; batch < options.batches; batch++) {
        const from = batch === 0 ? undefined : BigInt(batch);
        const intent = bench.intent(from, BigInt(batch + 1), `w${writer}`);
        for (;;) {
          const outcome = await table.tryAppend(await table.refresh(), intent);
          if (outcome.kind === 'committed') break;
          expect(outcome).toMatchObject({ kind: 'conflicted', conflict: { kind: 'version-taken' } });
        }
      }
    }),
  );
  const total = options.writers * options.batches;
  const snapshot = await (await bench.table()).refresh();
  expect(snapshot).toMatchObject({ version: total, fileCount: total });
  const ids = new Set<unknown>();
  for (let version = 1; version <= total; version++) {
    const commit = await readCommit(bench.store, toVersion(version));
    ids.add(commitInfoOf(commit?.actions ?? [])?.body['txnId']);
  }
  expect(ids.size).toBe(total);
}

describe('racing writers', () => {
  it('each commit every batch exactly once, without gaps, in memory', async () => {
    await race(new Bench(), { writers: 8, batches: 20 });
  });

  it('each commit every batch exactly once, without gaps, on a file system', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'racing-writers-'));
    try {
      const ids = new RandomIdSource(new SeededRandom(9));
      await race(new Bench(new LocalObjectStore({ directory, ids })), { writers: 6, batches: 10 });
    } finally {
      await rm(directory, { recursive: true });
    }
  });

  it('may all create the table: one wins and the others get the winner', async () => {
    const bench = new Bench();
    const tables = await Promise.all(Array.from({ length: 8 }, () => bench.table()));
    const ids = await Promise.all(tables.map(async (table) => (await table.refresh()).tableId));
    expect(new Set(ids).size).toBe(1);
  });
});
