import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import type { Failpoint, FailpointName } from '../../../../src/base/failpoint.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { AddFile } from '../../../../src/delta/actions.ts';
import { ChangeReader } from '../../../../src/delta/changes/change-reader.ts';
import { commitInfoOf } from '../../../../src/delta/delta-snapshot.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { compact } from '../../../../src/delta/operations/optimize/compact.ts';
import { planCompaction } from '../../../../src/delta/operations/optimize/plan-compaction.ts';
import type { PutIfAbsentResult } from '../../../../src/storage/object-store.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { type BenchProcess, DeltaBench, LineRewriter, metadataOf } from '../../../support/delta-bench.ts';
import { intercepted } from '../../../support/intercepted-store.ts';

const options = { targetFileBytes: 1_000, minInputFiles: 2, maxGroups: 10 };
const planOf = async (context: BenchProcess) => planCompaction(await context.refresh(), options);
const at =
  (name: FailpointName, action: () => Promise<unknown>): Failpoint =>
  async (reached) => {
    if (reached === name) await action();
  };
const unknownOutcome = () => new ServiceError({ code: 'STORAGE_OUTCOME_UNKNOWN', kind: 'unknown-outcome', message: 'no answer' });
const unavailable = () => new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: 'down' });

describe('planCompaction', () => {
  it('groups files by typed partition value, most files first, within the limit of groups', async () => {
    const bench = new DeltaBench();
    await bench.create({ partitionColumns: ['p'] });
    for (const p of ['x', 'y', 'y', 'x', 'y', 'z']) await bench.append([p], { p });
    await bench.append(['null'], { p: undefined });
    await bench.append(['empty'], { p: '' });
    const snapshot = await bench.process().refresh();
    const plan = planCompaction(snapshot, options);
    expect(plan.baseVersion).toBe(8);
    expect(plan.groups.map((group) => [group.partitionValues['p'], group.inputs.length])).toEqual([
      ['y', 3],
      [undefined, 2],
      ['x', 2],
    ]);
    expect(planCompaction(snapshot, { ...options, maxGroups: 1 }).groups).toEqual(plan.groups.slice(0, 1));
  });

  it('leaves files with deletion vectors alone', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const vector = { storageType: 'i', pathOrInlineDv: 'x', sizeInBytes: 1, cardinality: 1 };
    await bench.commit('WRITE', [await bench.file(['a']), { ...(await bench.file(['b'])), deletionVector: vector }]);
    expect((await planOf(bench.process())).groups).toEqual([]);
  });
});

describe('compact', () => {
  let bench: DeltaBench;
  let rewriter: LineRewriter;
  let files: AddFile[];

  beforeEach(async () => {
    bench = new DeltaBench();
    rewriter = new LineRewriter(bench);
    await bench.create({ configuration: { 'delta.enableChangeDataFeed': 'true' } });
    files = [await bench.append(['a']), await bench.append(['b', 'c']), await bench.append(['d'])];
  });

  it('makes one file of small ones in one version with the same rows, no changes for the feed, and an OPTIMIZE in the history', async () => {
    const context = bench.process();
    const result = await compact(context, rewriter, await planOf(context));
    expect(result).toEqual({ outcome: 'committed', version: 4, filesRemoved: 3, filesAdded: 1, bytesRemoved: 5, bytesAdded: 7 });
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c', 'd']);
    expect(await bench.rowsAt(toVersion(3))).toEqual(['a', 'b', 'c', 'd']);
    expect((await new ChangeReader(bench.process()).changesOf(toVersion(4))).files).toEqual([]);
    const actions = (await context.readCommit(toVersion(4)))?.actions ?? [];
    const removes = actions.filter((action) => action.kind === 'remove');
    expect(
      removes.map(({ path, dataChange, extendedFileMetadata, sizeBytes }) => ({ path, dataChange, extendedFileMetadata, sizeBytes })),
    ).toEqual(
      [...files]
        .sort((a, b) => a.sizeBytes - b.sizeBytes)
        .map(({ path, sizeBytes }) => ({ path, dataChange: false, extendedFileMetadata: true, sizeBytes })),
    );
    expect(commitInfoOf(actions)?.body).toMatchObject({
      operation: 'OPTIMIZE',
      operationParameters: { predicate: '[]', zOrderBy: '[]', clusterBy: '[]', auto: false },
      operationMetrics: {
        numRemovedFiles: '3',
        numAddedFiles: '1',
        numRemovedBytes: '5',
        numAddedBytes: '7',
        minFileSize: '7',
        maxFileSize: '7',
      },
    });
  });

  it('puts its files beside their inputs', async () => {
    const partitioned = new DeltaBench();
    await partitioned.create({ partitionColumns: ['p'] });
    await partitioned.append(['a'], { p: 'x' });
    await partitioned.append(['b'], { p: 'x' });
    const context = partitioned.process();
    await compact(context, new LineRewriter(partitioned), await planOf(context));
    const [file] = (await context.refresh()).files();
    expect(file?.path).toMatch(/^p=x\/part-00000-[0-9a-f-]{36}\.c000\.zstd\.parquet$/);
    expect(file?.partitionValues).toEqual({ p: 'x' });
  });

  it('has nothing to do with an empty plan, and finds nothing the second time', async () => {
    const context = bench.process();
    await compact(context, rewriter, await planOf(context));
    const result = await compact(context, rewriter, await planOf(context));
    expect(result.outcome).toBe('nothing-to-do');
    expect((await context.refresh()).version).toBe(4);
  });

  it('commits on top of appends that came in between', async () => {
    const context = bench.process({
      failpoint: at('before-compaction-commit', async () => {
        for (const row of ['e', 'f', 'g']) await bench.append([row]);
      }),
    });
    expect(await compact(context, rewriter, await planOf(context))).toMatchObject({ outcome: 'committed', version: 7 });
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });

  it.each<FailpointName>(['after-compaction-plan', 'before-compaction-commit'])(
    'gives way to a delete of an input at %s, and takes only its own files with it',
    async (name) => {
      const [first] = files;
      const context = bench.process({ failpoint: at(name, () => bench.remove(first === undefined ? [] : [first])) });
      const before = await bench.paths();
      expect(await compact(context, rewriter, await planOf(context))).toMatchObject({
        outcome: 'conflicted',
        version: undefined,
        filesAdded: 0,
      });
      expect(await bench.paths()).toEqual(before);
      expect(await bench.rowsAt()).toEqual(['b', 'c', 'd']);
    },
  );

  it('gives way to a change of metadata', async () => {
    const context = bench.process({
      failpoint: at('before-compaction-commit', () => bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: { x: '1' } })])),
    });
    expect((await compact(context, rewriter, await planOf(context))).outcome).toBe('conflicted');
  });

  it('does not rewrite anything when an input of its plan is gone already', async () => {
    const context = bench.process();
    const plan = await planOf(context);
    await bench.remove(files.slice(0, 1));
    const before = await bench.paths();
    expect((await compact(context, rewriter, plan)).outcome).toBe('conflicted');
    expect(await bench.paths()).toEqual(before);
  });

  it('lets one of two racing compactions win, with the same rows and no file left over', async () => {
    const one = bench.process({ seed: 1 });
    const two = bench.process({ seed: 2 });
    const plans = [await planOf(one), await planOf(two)] as const;
    const results = await Promise.all([compact(one, rewriter, plans[0]), compact(two, rewriter, plans[1])]);
    expect(results.map((result) => result.outcome).sort()).toEqual(['committed', 'conflicted']);
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c', 'd']);
    expect(await bench.paths()).toHaveLength(4);
  });

  it('reaches the failpoint compaction-conflict on a conflict, before it cleans up', async () => {
    const reached: FailpointName[] = [];
    let pathsAtConflict = 0;
    const context = bench.process({
      failpoint: async (name) => {
        reached.push(name);
        if (name === 'before-compaction-commit') await bench.remove(files);
        if (name === 'compaction-conflict') pathsAtConflict = (await bench.paths()).length;
      },
    });
    await compact(context, rewriter, await planOf(context));
    expect(reached).toEqual(['after-compaction-plan', 'before-compaction-commit', 'compaction-conflict']);
    expect(pathsAtConflict).toBe(4);
  });

  it('recognises its commit when the answer got lost, and does not commit twice', async () => {
    const store = intercepted(bench.store, {
      putIfAbsent: async (path, bytes): Promise<PutIfAbsentResult> => {
        await bench.store.putIfAbsent(path, bytes);
        throw unknownOutcome();
      },
    });
    const context = bench.process({ store });
    expect(await compact(context, rewriter, await planOf(context))).toMatchObject({ outcome: 'committed', version: 4 });
    expect((await bench.process().refresh()).version).toBe(4);
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('tries again when the lost commit did not land', async () => {
    let faults = 2;
    const store = intercepted(bench.store, {
      putIfAbsent: (path, bytes) => (faults-- > 0 ? Promise.reject(unknownOutcome()) : bench.store.putIfAbsent(path, bytes)),
    });
    const context = bench.process({ store });
    expect(await compact(context, rewriter, await planOf(context))).toMatchObject({ outcome: 'committed', version: 4 });
  });

  it('deletes nothing when it never learns whether its commit landed', async () => {
    const down = { since: false };
    const store = intercepted(bench.store, {
      putIfAbsent: async (path, bytes): Promise<PutIfAbsentResult> => {
        if (!down.since) await bench.store.putIfAbsent(path, bytes);
        down.since = true;
        throw unknownOutcome();
      },
      read: (path) => (down.since ? Promise.reject(unavailable()) : bench.store.read(path)),
    });
    const context = bench.process({ store });
    const plan = await planOf(context);
    await expect(compact(context, rewriter, plan)).rejects.toMatchObject({ code: 'COMMIT_OUTCOME_UNKNOWN', kind: 'unknown-outcome' });
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('deletes nothing when the log turns out damaged while its commit is in doubt', async () => {
    const store = intercepted(bench.store, {
      putIfAbsent: async (path, bytes): Promise<PutIfAbsentResult> => {
        await bench.store.putIfAbsent(path, bytes);
        await bench.store.put(commitPath(5), new TextEncoder().encode('{"add":'));
        throw unknownOutcome();
      },
    });
    const context = bench.process({ store });
    const plan = await planOf(context);
    const before = await bench.paths();
    await expect(compact(context, rewriter, plan)).rejects.toMatchObject({ code: 'COMMIT_OUTCOME_UNKNOWN' });
    expect(await bench.paths()).toHaveLength(before.length + 1);
  });

  it('cleans up after a rewrite that failed, and after one that was cancelled', async () => {
    const context = bench.process();
    const plan = planCompaction(await context.refresh(), { ...options, targetFileBytes: 4, minInputFiles: 2 });
    const before = await bench.paths();
    const failing = { rewrite: () => Promise.reject(unavailable()) };
    await expect(compact(context, failing, plan)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const cancel = new AbortController();
    const cancelled = bench.process({
      failpoint: at('before-compaction-commit', async () => {
        cancel.abort();
        await Promise.resolve();
      }),
    });
    await expect(compact(cancelled, rewriter, plan, cancel.signal)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await bench.paths()).toEqual(before);
  });

  it('refuses to commit a rewrite that lost rows', async () => {
    const context = bench.process();
    const losing = {
      rewrite: async (task: Parameters<LineRewriter['rewrite']>[0]) => ({ ...(await rewriter.rewrite(task)), rowCount: 3 }),
    };
    const before = await bench.paths();
    const plan = await planOf(context);
    await expect(compact(context, losing, plan)).rejects.toMatchObject({ code: 'COMPACTION_ROWS_DIFFER', kind: 'internal' });
    expect(await bench.paths()).toEqual(before);
    expect((await context.refresh()).version).toBe(3);
  });

  it('refuses a table whose writer features it does not know', async () => {
    const writerFeatures = ['appendOnly', 'rowTracking'];
    await bench.commit('UPGRADE PROTOCOL', [{ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 7, writerFeatures }]);
    const context = bench.process();
    const plan = await planOf(context);
    await expect(compact(context, rewriter, plan)).rejects.toMatchObject({ code: 'DELTA_UNSUPPORTED_FEATURES_FOR_WRITE' });
  });

  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'keeps every row through appends, deletes and two compactors, seed %i',
    async (seed) => {
      const random = new SeededRandom(seed);
      const expected = new Set(['a', 'b', 'c', 'd']);
      const byRow = new Map<string, AddFile>();
      let rows = 0;
      const somebody = async (): Promise<void> => {
        const draw = random.next();
        if (draw < 0.6) {
          const row = `r${rows++}`;
          expected.add(row);
          byRow.set(row, await bench.append([row]));
        } else if (draw < 0.75) {
          const base = await bench.process().refresh();
          const [row, file] = [...byRow].find(([, { storedPath }]) => base.file(storedPath) !== undefined) ?? [];
          if (row === undefined || file === undefined || !(await bench.removeOnTopOf(base, [file]))) return;
          byRow.delete(row);
          expected.delete(row);
        }
      };
      const compactor = async (process: number): Promise<void> => {
        const context = bench.process({ seed: seed * 2 + process, failpoint: somebody });
        for (let run = 0; run < 6; run++) await compact(context, rewriter, await planOf(context));
      };
      await Promise.all([compactor(0), compactor(1)]);
      expect(await bench.rowsAt()).toEqual([...expected].sort());
      const { version } = await bench.process().refresh();
      for (let from = 1; from <= version; from++) {
        if ((await bench.operations())[from] === 'OPTIMIZE')
          expect(await bench.rowsAt(toVersion(from))).toEqual(await bench.rowsAt(toVersion(from - 1)));
      }
    },
  );
});
