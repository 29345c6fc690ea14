import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { printActions } from '../../../../src/delta/action-json.ts';
import { type Action, type AddFile, removeOf } from '../../../../src/delta/actions.ts';
import { commitInfoOf, DeltaSnapshot } from '../../../../src/delta/delta-snapshot.ts';
import { commitPath } from '../../../../src/delta/log/log-names.ts';
import { commitTransaction, type Transaction } from '../../../../src/delta/transaction/commit-transaction.ts';
import { isAlreadyWritten } from '../../../../src/delta/transaction/idempotency.ts';
import { bindExpression } from '../../../../src/expr/bind-expression.ts';
import type { Expression } from '../../../../src/expr/expression.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { PutIfAbsentResult } from '../../../../src/storage/object-store.ts';
import { beforeFirstVersion, toVersion } from '../../../../src/table/version.ts';
import { type BenchProcess, DeltaBench, metadataOf } from '../../../support/delta-bench.ts';
import { intercepted } from '../../../support/intercepted-store.ts';

const unknownOutcome = (): ServiceError =>
  new ServiceError({ code: 'STORAGE_OUTCOME_UNKNOWN', kind: 'unknown-outcome', message: 'no answer' });

function transactionOf(base: DeltaSnapshot, actions: readonly Action[], more: Partial<Transaction> = {}): Transaction {
  return { base, operation: 'WRITE', operationParameters: {}, operationMetrics: {}, actions, reads: {}, ...more };
}

async function infoAt(context: BenchProcess, version: number): Promise<unknown> {
  return commitInfoOf((await context.readCommit(toVersion(version)))?.actions ?? [])?.body;
}

const conditionOver = (base: DeltaSnapshot, text: string): Expression => bindExpression(parseExpression(text), [{ schema: base.schema }]);
const removal = (file: AddFile, dataChange = true): Action => removeOf(file, { deletedMs: 1, dataChange });

describe('commitTransaction', () => {
  it('puts an append behind whatever appends came first, and says which version it read', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const base = await context.refresh();
    for (let index = 0; index < 3; index += 1) await bench.append([`other ${index}`]);
    const version = await commitTransaction(context, transactionOf(base, [await bench.file(['mine'])]));
    expect(version).toBe(4);
    expect(await bench.rowsAt()).toEqual(['mine', 'other 0', 'other 1', 'other 2']);
    expect(await infoAt(context, 4)).toMatchObject({ readVersion: 0, isBlindAppend: true, isolationLevel: 'Serializable' });
  });

  it('fails an update whose condition rows of another append satisfy', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const file = await bench.append(['a']);
    const context = bench.process();
    const base = await context.refresh();
    await bench.append(['a']);
    const update = transactionOf(base, [removal(file), await bench.file(['b'])], {
      operation: 'UPDATE',
      reads: { conditions: [conditionOver(base, "row = 'a'")], files: [file] },
    });
    await expect(commitTransaction(context, update)).rejects.toMatchObject({
      name: 'ConcurrentAppendException',
      errorClass: 'DELTA_CONCURRENT_APPEND.WITHOUT_HINT',
      sqlState: '2D521',
      kind: 'conflict',
      conflictingVersion: 2,
      message:
        'Transaction conflict detected. a concurrent WRITE added data to table bench committed at version 2. The concurrent operation ' +
        'modified data that should have been read by this operation. Please retry the operation. Refer to ' +
        'https://docs.delta.io/latest/concurrency-control.html for more information.',
    });
    expect((await context.refresh()).version).toBe(2);
  });

  it.each([
    ['another table', 'other-table'],
    ['the same table as it was before', 'bench-table'],
  ])('fails on %s in place of the one it read, however its versions are numbered', async (_, id) => {
    const bench = new DeltaBench();
    await bench.create();
    await bench.append(['old']);
    const context = bench.process();
    const base = await context.refresh();
    for (const version of [0, 1]) await bench.store.delete(commitPath(version));
    const first: readonly Action[] = [{ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 4 }, metadataOf({ id })];
    await bench.store.put(commitPath(0), printActions(first));
    await bench.store.put(commitPath(1), printActions([await bench.file(['new'])]));
    await expect(commitTransaction(context, transactionOf(base, [await bench.file(['late'])]))).rejects.toMatchObject({
      name: 'MetadataChangedException',
      kind: 'conflict',
    });
    expect(await bench.rowsAt()).toEqual(['new']);
    const again = await context.refresh();
    expect(await commitTransaction(context, transactionOf(again, [await bench.file(['late'])]))).toBe(2);
  });

  it('fails when a file it adds was deleted before the commit, and commits nothing', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const base = await context.refresh();
    const [kept, lost] = [await bench.file(['kept']), await bench.file(['lost'])];
    await bench.store.delete(lost.storedPath);
    await expect(commitTransaction(context, transactionOf(base, [kept, lost]))).rejects.toMatchObject({
      code: 'STAGED_FILE_MISSING',
      kind: 'conflict',
      path: lost.storedPath,
    });
    expect((await context.refresh()).version).toBe(0);
  });

  it('fails a delete of a file that another delete removed first', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const file = await bench.append(['a']);
    const context = bench.process();
    const base = await context.refresh();
    await bench.remove([file]);
    const reads = { conditions: [conditionOver(base, "row = 'a'")], files: [file] };
    await expect(commitTransaction(context, transactionOf(base, [removal(file)], { reads }))).rejects.toMatchObject({
      name: 'ConcurrentDeleteReadException',
      errorClass: 'DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT',
      message: expect.stringContaining(
        'a concurrent DELETE deleted data from table bench (committed at version 2) that this transaction read',
      ) as string,
    });
    await expect(commitTransaction(context, transactionOf(base, [removal(file)]))).rejects.toMatchObject({
      name: 'ConcurrentDeleteDeleteException',
      errorClass: 'DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT',
    });
  });

  it('fails even an append when the metadata changed, and names the commit', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const base = await context.refresh();
    await bench.commit('SET TBLPROPERTIES', [metadataOf({ configuration: { a: 'b' } })]);
    await expect(commitTransaction(context, transactionOf(base, [await bench.file(['a'])]))).rejects.toMatchObject({
      name: 'MetadataChangedException',
      errorClass: 'DELTA_METADATA_CHANGED',
      message: expect.stringContaining('"operation":"SET TBLPROPERTIES"') as string,
    });
  });

  it('lets compaction pass appends, and an update pass the compaction of files it did not read', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const [one, two] = [await bench.append(['a']), await bench.append(['b'])];
    const context = bench.process();
    const base = await context.refresh();
    await bench.append(['c']);
    const joined = { ...(await bench.file(['a', 'b'])), dataChange: false };
    const rewrite = transactionOf(base, [removal(one, false), removal(two, false), joined], {
      operation: 'OPTIMIZE',
      reads: { files: [one, two] },
    });
    const version = await commitTransaction(context, rewrite);
    expect(await infoAt(context, version)).toMatchObject({ isolationLevel: 'SnapshotIsolation', isBlindAppend: false });
    await expect(commitTransaction(context, rewrite)).rejects.toMatchObject({ name: 'ConcurrentDeleteReadException' });
    expect(await bench.rowsAt()).toEqual(['a', 'b', 'c']);
  });

  it('gives up when an application’s mark moved meanwhile, and knows a write that is there', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const base = await context.refresh();
    const idempotency = { appId: 'app', version: 1n };
    expect(isAlreadyWritten(base, { idempotency })).toBe(false);
    await commitTransaction(bench.process({ seed: 2 }), transactionOf(base, [await bench.file(['a'])], { idempotency }));
    expect(isAlreadyWritten(await context.refresh(), { idempotency })).toBe(true);
    expect(isAlreadyWritten(await context.refresh(), { idempotency: { ...idempotency, version: 2n } })).toBe(false);
    await expect(commitTransaction(context, transactionOf(base, [await bench.file(['a'])], { idempotency }))).rejects.toMatchObject({
      name: 'ConcurrentTransactionException',
      errorClass: 'DELTA_CONCURRENT_TRANSACTION',
    });
    expect(await bench.rowsAt()).toEqual(['a']);
  });

  it('creates a table, of several racing creators once', async () => {
    const bench = new DeltaBench();
    const protocol: Action = { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 2 };
    const create = async (id: string, seed: number): Promise<number> => {
      const actions = [protocol, metadataOf({ id })];
      const shape = DeltaSnapshot.replay('bench', { version: beforeFirstVersion, modifiedMs: 0 }, actions);
      const context = bench.process({ seed });
      return commitTransaction(
        context,
        transactionOf(shape, [...actions, await bench.file([id])], { operation: 'CREATE TABLE AS SELECT' }),
      );
    };
    const [first, second] = await Promise.allSettled([create('one', 1), create('two', 2)]);
    const outcomes = [first, second].map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as unknown)));
    expect(outcomes.filter((outcome) => outcome === 0)).toHaveLength(1);
    expect(outcomes.find((outcome) => outcome !== 0)).toMatchObject({
      name: 'ProtocolChangedException',
      errorClass: 'DELTA_PROTOCOL_CHANGED',
      message: expect.stringContaining('multiple writers are writing to an empty directory') as string,
    });
    expect(await infoAt(bench.process(), 0)).not.toHaveProperty('readVersion');
  });

  it('creates a table once when the answer is lost', async () => {
    for (const applied of [true, false]) {
      const bench = new DeltaBench();
      let lost = false;
      const store = intercepted(bench.store, {
        putIfAbsent: async (path, bytes): Promise<PutIfAbsentResult> => {
          if (lost) return bench.store.putIfAbsent(path, bytes);
          lost = true;
          if (applied) await bench.store.putIfAbsent(path, bytes);
          throw unknownOutcome();
        },
      });
      const actions: readonly Action[] = [{ kind: 'protocol', minReaderVersion: 1, minWriterVersion: 2 }, metadataOf({})];
      const shape = DeltaSnapshot.replay('bench', { version: beforeFirstVersion, modifiedMs: 0 }, actions);
      expect(await commitTransaction(bench.process({ store }), transactionOf(shape, actions))).toBe(0);
      expect((await bench.process().refresh()).version).toBe(0);
    }
  });

  it('verifies a lost answer before it does anything else, and never commits twice', async () => {
    for (const applied of [true, false]) {
      const bench = new DeltaBench();
      await bench.create();
      let lost = false;
      const store = intercepted(bench.store, {
        putIfAbsent: async (path, bytes): Promise<PutIfAbsentResult> => {
          if (lost) return bench.store.putIfAbsent(path, bytes);
          lost = true;
          if (applied) await bench.store.putIfAbsent(path, bytes);
          throw unknownOutcome();
        },
      });
      const context = bench.process({ store });
      const version = await commitTransaction(context, transactionOf(await context.refresh(), [await bench.file(['once'])]));
      expect(version).toBe(1);
      expect(await bench.rowsAt()).toEqual(['once']);
    }
  });

  it('says so when nobody can tell whether it landed', async () => {
    const bench = new DeltaBench();
    await bench.create();
    let down = false;
    const unavailable = (): ServiceError => new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: 'down' });
    const store = intercepted(bench.store, {
      putIfAbsent: () => {
        down = true;
        return Promise.reject(unknownOutcome());
      },
      read: (path, signal) => (down ? Promise.reject(unavailable()) : bench.store.read(path, signal)),
    });
    const context = bench.process({ store });
    const base = await context.refresh();
    await expect(commitTransaction(context, transactionOf(base, [await bench.file(['x'])]))).rejects.toMatchObject({
      code: 'COMMIT_OUTCOME_UNKNOWN',
      kind: 'unknown-outcome',
    });
  }, 60_000);

  it('gives rows ids above all ids before, anew on every attempt', async () => {
    const bench = new DeltaBench();
    const features = ['rowTracking', 'domainMetadata'];
    await bench.commit('CREATE TABLE', [
      { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 7, writerFeatures: features },
      metadataOf({}),
    ]);
    const [one, two] = [bench.process({ seed: 1 }), bench.process({ seed: 2 })];
    const base = await one.refresh();
    await two.refresh();
    await commitTransaction(two, transactionOf(await two.refresh(), [await bench.file(['a', 'b'])]));
    const files = [await bench.file(['c']), await bench.file(['d', 'e'])];
    const version = await commitTransaction(one, transactionOf(base, files));
    const actions = (await one.readCommit(version))?.actions ?? [];
    expect(actions.flatMap((action) => (action.kind === 'add' ? [[action.baseRowId, action.defaultRowCommitVersion]] : []))).toEqual([
      [2n, 2n],
      [3n, 2n],
    ]);
    expect(actions.find((action) => action.kind === 'domainMetadata')).toMatchObject({
      domain: 'delta.rowTracking',
      configuration: '{"rowIdHighWaterMark":4,"domainName":"delta.rowTracking"}',
    });
  });

  it('gives each version a time of its own, never behind the one before, where the table wants that', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const features = ['inCommitTimestamp', 'appendOnly', 'invariants'];
    const on: readonly Action[] = [
      { kind: 'protocol', minReaderVersion: 1, minWriterVersion: 7, writerFeatures: features },
      metadataOf({ configuration: { 'delta.enableInCommitTimestamps': 'true' } }),
    ];
    await commitTransaction(context, transactionOf(await context.refresh(), on, { operation: 'SET TBLPROPERTIES' }));
    const [first] = (await context.readCommit(toVersion(1)))?.actions ?? [];
    const enabled = await context.refresh();
    expect(first).toMatchObject({ kind: 'commitInfo', body: { inCommitTimestamp: enabled.committedAt } });
    expect(enabled.properties).toMatchObject({
      'delta.inCommitTimestampEnablementVersion': '1',
      'delta.inCommitTimestampEnablementTimestamp': String(enabled.committedAt),
    });
    bench.clock.advance(-3_600_000);
    await commitTransaction(context, transactionOf(enabled, [await bench.file(['a'])]));
    expect((await context.refresh()).committedAt).toBe(enabled.committedAt + 1);
  });

  it('stands when what follows it fails', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const afterCommit = (): Promise<void> => Promise.reject(unknownOutcome());
    const context = Object.assign(bench.process(), { afterCommit });
    expect(await commitTransaction(context, transactionOf(await context.refresh(), [await bench.file(['a'])]))).toBe(1);
  });

  it('stops before the first attempt when it is cancelled', async () => {
    const bench = new DeltaBench();
    await bench.create();
    const context = bench.process();
    const transaction = transactionOf(await context.refresh(), [], { signal: AbortSignal.abort() });
    await expect(commitTransaction(context, transaction)).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await context.refresh()).version).toBe(0);
  });
});
