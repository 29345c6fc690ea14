import { beforeEach, describe, expect, it } from 'vitest';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { icebergProcedures } from '../../../../src/iceberg/operations/procedures/iceberg-procedures.ts';
import { cherrypickSnapshot } from '../../../../src/iceberg/operations/refs/cherrypick.ts';
import type { SnapshotState } from '../../../../src/iceberg/snapshot-state.ts';
import { snapshotStateOf } from '../../../../src/iceberg/snapshot-state-of.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { ProcedureValue } from '../../../../src/table/queries.ts';
import { change, created, dataFile, liveNames, memoryContext } from '../../../support/iceberg/memory-table.ts';
import { StepClock } from '../../../support/step-clock.ts';

let context: TableContext;
let states: SnapshotState[];

const idOf = (index: number): bigint => states[index]?.snapshotId ?? 0n;
const call = (name: string, args: Readonly<Record<string, ProcedureValue>> = {}): Promise<readonly (readonly ProcedureValue[])[]> => {
  const procedure = icebergProcedures(context).find((candidate) => candidate.name === name);
  return procedure?.run(new Map(Object.entries(args))) ?? Promise.reject(new Error(`no procedure ${name}`));
};
const live = async (branch = 'main'): Promise<readonly string[]> => {
  const { loaded } = await context.refresh();
  return liveNames(context, snapshotStateOf(loaded, { branch }));
};

beforeEach(async () => {
  const clock = new StepClock();
  context = memoryContext({ clock });
  states = [];
  let state = await created(context);
  for (const name of ['a', 'b', 'c']) {
    clock.advance(1_000);
    state = await commitSnapshot(context, state, change({ added: [dataFile(name)] }));
    states.push(state);
  }
});

describe('rollback and set_current_snapshot', () => {
  it('goes back to an ancestor by id, and on to any snapshot of the table', async () => {
    expect(await call('rollback_to_snapshot', { snapshot_id: idOf(0) })).toEqual([[idOf(2), idOf(0)]]);
    expect(await live()).toEqual(['a']);
    await expect(call('rollback_to_snapshot', { snapshot_id: idOf(2) })).rejects.toMatchObject({
      alias: 'ValidationException',
      message: `Cannot roll back to snapshot, not an ancestor of the current state: ${idOf(2)}`,
    });
    await expect(call('rollback_to_snapshot', { snapshot_id: 5n })).rejects.toThrow('Cannot roll back to unknown snapshot id: 5');
    expect(await call('set_current_snapshot', { snapshot_id: idOf(2) })).toEqual([[idOf(0), idOf(2)]]);
    expect(await live()).toEqual(['a', 'b', 'c']);
    expect(await call('set_current_snapshot', { snapshot_id: idOf(2) })).toEqual([[idOf(2), idOf(2)]]);
  });

  it('goes back to what was there before a time', async () => {
    const second = BigInt(states[1]?.committedAt ?? 0);
    expect(await call('rollback_to_timestamp', { timestamp: (second + 1n) * 1000n })).toEqual([[idOf(2), idOf(1)]]);
    expect(await call('rollback_to_timestamp', { timestamp: second * 1000n })).toEqual([[idOf(1), idOf(0)]]);
    await expect(call('rollback_to_timestamp', { timestamp: 1_000n })).rejects.toThrow('Cannot roll back, no valid snapshot older than: 1');
  });

  it('takes a branch or tag for a snapshot, and one of both', async () => {
    await alterTable(context, { kind: 'create-ref', ref: 'tag', name: 'first', mode: 'create', snapshotId: idOf(0) });
    expect(await call('set_current_snapshot', { ref: 'first' })).toEqual([[idOf(2), idOf(0)]]);
    await expect(call('set_current_snapshot', { ref: 'nope' })).rejects.toThrow('Cannot find matching snapshot ID for ref nope');
    const both = 'Either snapshot_id or ref must be provided, not both';
    await expect(call('set_current_snapshot')).rejects.toThrow(both);
    await expect(call('set_current_snapshot', { ref: 'first', snapshot_id: idOf(0) })).rejects.toThrow(both);
  });

  it('lists the ancestors of a snapshot', async () => {
    const rows = [2, 1, 0].map((index) => [idOf(index), BigInt(states[index]?.committedAt ?? 0)]);
    expect(await call('ancestors_of')).toEqual(rows);
    expect(await call('ancestors_of', { snapshot_id: idOf(1) })).toEqual(rows.slice(1));
    await expect(call('ancestors_of', { snapshot_id: 5n })).rejects.toThrow('Cannot find snapshot with ID 5');
  });
});

describe('fast_forward', () => {
  it('moves a branch along its line, makes one that is not there, and refuses other lines', async () => {
    await alterTable(context, { kind: 'create-ref', ref: 'branch', name: 'ff', mode: 'create' });
    const ahead = await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('d')] }), { branch: 'ff' });
    expect(await call('fast_forward', { branch: 'main', to: 'ff' })).toEqual([['main', idOf(2), ahead.snapshotId]]);
    expect(await live()).toEqual(['a', 'b', 'c', 'd']);
    expect(await call('fast_forward', { branch: 'made', to: 'ff' })).toEqual([['made', undefined, ahead.snapshotId]]);
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('e')] }));
    await expect(call('fast_forward', { branch: 'main', to: 'ff' })).rejects.toThrow('Cannot fast-forward: main is not an ancestor of ff');
    await expect(call('fast_forward', { branch: 'main', to: 'nope' })).rejects.toThrow('Ref does not exist: nope');
    await alterTable(context, { kind: 'create-ref', ref: 'tag', name: 'fixed', mode: 'create' });
    await expect(call('fast_forward', { branch: 'fixed', to: 'ff' })).rejects.toThrow('Ref fixed is a tag not a branch');
  });
});

describe('cherrypick_snapshot and publish_changes', () => {
  const stage = async (name: string, summary: Readonly<Record<string, string>> = {}): Promise<bigint> => {
    const staged = change({ added: [dataFile(name)], stageOnly: true, summary });
    return (await commitSnapshot(context, await context.refresh(), staged)).snapshotId ?? 0n;
  };

  it('makes a snapshot that follows the current one the current one', async () => {
    const staged = await stage('s');
    expect(await live()).toEqual(['a', 'b', 'c']);
    expect(await call('cherrypick_snapshot', { snapshot_id: staged })).toEqual([[staged, staged]]);
    expect(await live()).toEqual(['a', 'b', 'c', 's']);
    await expect(call('cherrypick_snapshot', { snapshot_id: staged })).rejects.toThrow(
      `Cannot cherrypick snapshot ${staged}: already an ancestor`,
    );
  });

  it('appends the files of one that was staged on an older snapshot, once', async () => {
    const staged = await stage('s');
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('d')] }));
    const [[source, current] = []] = await call('cherrypick_snapshot', { snapshot_id: staged });
    expect(source).toBe(staged);
    expect(current).not.toBe(staged);
    expect(await live()).toEqual(['a', 'b', 'c', 'd', 's']);
    expect((await context.refresh()).snapshot?.summary).toMatchObject({ operation: 'append', 'source-snapshot-id': String(staged) });
    await expect(call('cherrypick_snapshot', { snapshot_id: staged })).rejects.toThrow(/already picked to create ancestor/);
    await expect(call('cherrypick_snapshot', { snapshot_id: 7n })).rejects.toThrow('Cannot cherry-pick unknown snapshot ID: 7');
  });

  it('is done once however many do it at the same time', async () => {
    const staged = await stage('s');
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('d')] }));
    const { pointer } = context;
    let first = true;
    const late: TableContext = {
      ...context,
      pointer: {
        name: pointer.name,
        singleWriterOnly: undefined,
        ownPlaces: (loaded) => pointer.ownPlaces(loaded),
        load: (known, signal) => pointer.load(known, signal),
        swap: async (base, swapped) => {
          if (first) await call('cherrypick_snapshot', { snapshot_id: staged });
          first = false;
          return pointer.swap(base, swapped);
        },
      },
    };
    await expect(cherrypickSnapshot(late, staged)).rejects.toThrow(/already picked to create ancestor/);
    expect(await live()).toEqual(['a', 'b', 'c', 'd', 's']);
  });

  it('publishes what was staged under an id, once', async () => {
    const staged = await stage('s', { 'wap.id': 'audit-1' });
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('d')] }));
    const [[source] = []] = await call('publish_changes', { wap_id: 'audit-1' });
    expect(source).toBe(staged);
    expect((await context.refresh()).snapshot?.summary).toMatchObject({ 'published-wap-id': 'audit-1' });
    await expect(call('publish_changes', { wap_id: 'audit-1' })).rejects.toMatchObject({ alias: 'ValidationException' });
    await expect(call('publish_changes', { wap_id: 'nope' })).rejects.toThrow("Cannot apply unknown WAP ID 'nope'");
  });

  it('overwrites whole partitions again, and nothing that deletes single files', async () => {
    context = memoryContext();
    const inPartition = (name: string, id: bigint) => dataFile(name, { partition: [id] });
    const state = await created(context, { partitioning: [{ source: ['id'], transform: { kind: 'identity' } }] });
    const base = await commitSnapshot(context, state, change({ added: [inPartition('a', 1n), inPartition('b', 2n)] }));
    const replacedPartitions = [{ specId: 0, partition: [1n] }];
    const overwriting = change({ kind: 'overwrite', added: [inPartition('o', 1n)], replacedPartitions, stageOnly: true });
    const staged = (await commitSnapshot(context, base, overwriting)).snapshotId ?? 0n;
    const deleting = change({ kind: 'overwrite', removed: [inPartition('b', 2n)], stageOnly: true });
    const other = (await commitSnapshot(context, await context.refresh(), deleting)).snapshotId ?? 0n;
    await commitSnapshot(context, await context.refresh(), change({ added: [inPartition('c', 3n)] }));
    await expect(call('cherrypick_snapshot', { snapshot_id: other })).rejects.toThrow(
      `Cannot cherry-pick snapshot ${other}: not append, dynamic overwrite, or fast-forward`,
    );
    await call('cherrypick_snapshot', { snapshot_id: staged });
    expect(await live()).toEqual(['b', 'c', 'o']);
  });

  it('does not overwrite partitions that got rows in the meantime', async () => {
    const overwriting = change({
      kind: 'overwrite',
      added: [dataFile('o')],
      replacedPartitions: [{ specId: 0, partition: [] }],
      stageOnly: true,
    });
    const staged = (await commitSnapshot(context, await context.refresh(), overwriting)).snapshotId ?? 0n;
    await commitSnapshot(context, await context.refresh(), change({ added: [dataFile('d')] }));
    await expect(call('cherrypick_snapshot', { snapshot_id: staged })).rejects.toMatchObject({ kind: 'conflict' });
    expect(await live()).toEqual(['a', 'b', 'c', 'd']);
  });
});
