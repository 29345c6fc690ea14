import { describe, expect, it } from 'vitest';
import { printActions } from '../../../src/delta/action-json.ts';
import { asDeltaSnapshot } from '../../../src/delta/delta-snapshot.ts';
import { commitPath } from '../../../src/delta/log/log-names.ts';
import { CommitBench, writer } from './commit-bench.ts';

const once = (act: () => Promise<void>): (() => Promise<void>) => {
  let done = false;
  return async () => {
    if (done) return;
    done = true;
    await act();
  };
};

/** How many versions carry the commit: never more than one. */
async function versionsWith(bench: CommitBench, commitId: string): Promise<number> {
  let found = 0;
  for await (const { path } of bench.memory.list({ prefix: '_delta_log/' })) {
    if (path.endsWith('.json') && Buffer.from(await bench.memory.read(path)).includes(commitId)) found += 1;
  }
  return found;
}

describe('a commit that meets nobody', () => {
  it('is in the version after the base and the base of the next one', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    expect(await committer.commit(bench.intent(undefined, 5n), spec)).toEqual({ kind: 'committed', version: 1 });
    expect(await committer.commit(bench.intent(5n, 7n), spec)).toEqual({ kind: 'committed', version: 2 });
    expect((await committer.base()).progressOf(writer)).toBe(7n);
    expect(bench.log).toEqual(['committed', 'committed']);
  });

  it('stands although the log cannot be read right after it', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    bench.store.failNext('head', 'before');
    bench.store.failNext('read', 'before');
    expect(await committer.commit(bench.intent(undefined, 5n), spec)).toEqual({ kind: 'committed', version: 1 });
    expect(await committer.commit(bench.intent(5n, 6n), spec)).toEqual({ kind: 'committed', version: 2 });
  });
});

describe('a commit that stood still after its files were staged', () => {
  it('is discarded when somebody deleted one meanwhile, and is as good as ever when they are there', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const [lost, kept] = [bench.intent(undefined, 5n), bench.intent(undefined, 5n)];
    for (const { path } of kept.files) await bench.memory.put(path, new Uint8Array(10));
    bench.clock.advance(5_000);
    expect(await committer.commit(lost, spec)).toEqual({ kind: 'stale', reason: 'staged-missing' });
    expect(await versionsWith(bench, lost.commitId)).toBe(0);
    expect(await committer.commit(kept, spec)).toEqual({ kind: 'committed', version: 1 });
  });
});

describe('a commit whose outcome the store does not tell', () => {
  it('is found in the log when it landed, once', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const intent = bench.intent(undefined, 5n);
    bench.store.failNext('putIfAbsent', 'after');
    expect(await committer.commit(intent, spec)).toEqual({ kind: 'committed', version: 1 });
    expect(bench.log).toEqual(['unknown', 'resolved own']);
    expect(await versionsWith(bench, intent.commitId)).toBe(1);
  });

  it('is tried again when it is not in the log', async () => {
    // The answer is lost and so is the request: the log is the only witness.
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const intent = bench.intent(undefined, 5n);
    bench.beforePut = once(async () => {
      bench.store.failNext('putIfAbsent', 'after');
      // Somebody else took the version, so that the put whose answer is lost changed nothing.
      await bench.foreignVersion();
    });
    expect(await committer.commit(intent, spec)).toEqual({ kind: 'committed', version: 2 });
    expect(bench.log).toEqual(['unknown', 'resolved absent', 'committed']);
    expect(await versionsWith(bench, intent.commitId)).toBe(1);
  });

  it('is stale when the one that landed was another writer of the same offsets', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const intent = bench.intent(undefined, 5n);
    bench.beforePut = once(async () => {
      bench.store.failNext('putIfAbsent', 'after');
      await bench.foreignVersion({ from: undefined, until: 9n });
    });
    expect(await committer.commit(intent, spec)).toEqual({ kind: 'stale', reason: 'progress-moved' });
    expect(await versionsWith(bench, intent.commitId)).toBe(0);
  });

  it('fails loudly when the log cannot be read for the verify timeout, and nothing is deleted', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const intent = bench.intent(undefined, 5n);
    bench.beforePut = () => {
      bench.store.failNext('putIfAbsent', 'after');
      bench.store.rates = { before: 1, after: 0, maxLatencyMs: 0 };
      return Promise.resolve();
    };
    const startedMs = bench.clock.monotonicMs();
    await expect(committer.commit(intent, spec)).rejects.toMatchObject({ code: 'COMMIT_OUTCOME_UNKNOWN', kind: 'unknown-outcome' });
    expect(bench.clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(1_000);
    expect(bench.store.calls.get('delete')).toBeUndefined();
    expect(await versionsWith(bench, intent.commitId)).toBe(1);
  });

  it('is resolved as soon as the log can be read again', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    bench.store.failNext('putIfAbsent', 'after');
    for (let read = 0; read < 4; read += 1) bench.store.failNext('read', 'before', commitPath(1));
    expect(await committer.commit(bench.intent(undefined, 5n), spec)).toEqual({ kind: 'committed', version: 1 });
    expect(bench.log).toEqual(['unknown', 'resolved own']);
  });
});

describe('a commit that meets other writers', () => {
  it('goes on top of versions that do not touch its offsets', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    let rivals = 3;
    bench.beforePut = () => (rivals-- > 0 ? bench.foreignVersion() : Promise.resolve());
    expect(await committer.commit(bench.intent(undefined, 5n), spec)).toEqual({ kind: 'committed', version: 4 });
    expect(bench.log).toEqual(['conflicted', 'conflicted', 'conflicted', 'committed']);
  });

  it('is stale when its mark stands elsewhere before the first attempt', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    expect(await committer.commit(bench.intent(3n, 5n), spec)).toEqual({ kind: 'stale', reason: 'progress-moved' });
    expect(bench.log).toEqual(['conflicted']);
  });

  it('is stale when another writer moved its mark meanwhile', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const intent = bench.intent(undefined, 5n);
    bench.beforePut = once(() => bench.foreignVersion({ from: undefined, until: 4n }));
    expect(await committer.commit(intent, spec)).toEqual({ kind: 'stale', reason: 'progress-moved' });
    expect(await versionsWith(bench, intent.commitId)).toBe(0);
    expect((await committer.refresh()).progressOf(writer)).toBe(4n);
  });

  it('is stale when the columns changed under its files', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const base = asDeltaSnapshot(await committer.base());
    const schemaString = base.metadata.schemaString.replace('"id"', '"other"');
    bench.beforePut = once(async () => {
      await bench.memory.put(commitPath(1), printActions([{ ...base.metadata, schemaString }]));
    });
    const result = await committer.commit(bench.intent(undefined, 5n), table.writeSpec(base));
    expect(result).toEqual({ kind: 'stale', reason: 'table-changed' });
  });

  it('goes on when only properties changed', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const base = asDeltaSnapshot(await committer.base());
    const configuration = { ...base.metadata.configuration, owner: 'somebody' };
    bench.beforePut = once(async () => {
      await bench.memory.put(commitPath(1), printActions([{ ...base.metadata, configuration }]));
    });
    const result = await committer.commit(bench.intent(undefined, 5n), table.writeSpec(base));
    expect(result).toEqual({ kind: 'committed', version: 2 });
  });

  it('gives up loudly after the limit of attempts', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer({ maxRebaseAttempts: 3 });
    const spec = table.writeSpec(await committer.base());
    bench.beforePut = () => bench.foreignVersion();
    await expect(committer.commit(bench.intent(undefined, 5n), spec)).rejects.toMatchObject({
      code: 'COMMIT_CONTENTION',
      kind: 'conflict',
    });
    expect(bench.log).toEqual(['conflicted', 'conflicted', 'conflicted', 'conflicted']);
  });
});

describe('a commit that the store refuses', () => {
  it('waits and tries again', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    bench.store.failNext('putIfAbsent', 'before');
    bench.store.failNext('putIfAbsent', 'before');
    const startedMs = bench.clock.monotonicMs();
    expect(await committer.commit(bench.intent(undefined, 5n), spec)).toEqual({ kind: 'committed', version: 1 });
    expect(bench.clock.monotonicMs()).toBeGreaterThan(startedMs);
    expect(bench.log).toEqual(['unavailable', 'unavailable', 'committed']);
  });

  it('rejects with the error of the store when it does not come back', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer({ maxRebaseAttempts: 2 });
    const spec = table.writeSpec(await committer.base());
    for (let attempt = 0; attempt < 9; attempt += 1) bench.store.failNext('putIfAbsent', 'before');
    await expect(committer.commit(bench.intent(undefined, 5n), spec)).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect((await (await bench.other()).refresh()).version).toBe(0);
  });

  it('can be stopped between attempts, but not while its outcome is unknown', async () => {
    const bench = new CommitBench();
    const { table, committer } = await bench.committer();
    const spec = table.writeSpec(await committer.base());
    const stop = new AbortController();
    bench.beforePut = once(() => {
      bench.store.failNext('putIfAbsent', 'before');
      stop.abort();
      return Promise.resolve();
    });
    await expect(committer.commit(bench.intent(undefined, 5n), spec, stop.signal)).rejects.toMatchObject({ kind: 'aborted' });
    const late = new AbortController();
    bench.beforePut = once(() => {
      bench.store.failNext('putIfAbsent', 'after');
      late.abort();
      return Promise.resolve();
    });
    expect(await committer.commit(bench.intent(undefined, 5n), spec, late.signal)).toEqual({ kind: 'committed', version: 1 });
  });
});
