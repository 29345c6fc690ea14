import { afterEach, describe, expect, it } from 'vitest';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import { progressKey } from '../../../src/iceberg/progress.ts';
import { commitUpdates } from '../../../src/iceberg/transaction/commit-updates.ts';
import { toCommitId } from '../../../src/table/commit.ts';
import { toVersion } from '../../../src/table/version.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';

const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] } as const;
const writer = 'demo:orders:0:cluster:topic';
const other = 'demo:orders:1:cluster:topic';

describe('progress of the pipeline in an Iceberg table', () => {
  const open: PipelineTable[] = [];
  const create = async (): Promise<PipelineTable> => {
    const made = await PipelineTable.create({ schema, properties: {} });
    open.push(made);
    return made;
  };
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  it('stands in full in every summary and in a property of the same swap', async () => {
    const made = await create();
    await made.append([{ id: 1n }], [{ writerId: writer, from: undefined, until: 5n }]);
    await made.append([{ id: 2n }], [{ writerId: other, from: undefined, until: 3n }]);
    const newest = await (await made.reopened()).refresh();
    const text = `{"${writer}":"5","${other}":"3"}`;
    expect(newest.snapshot?.summary[progressKey]).toBe(text);
    expect(newest.properties[progressKey]).toBe(text);
    expect(newest.progressOf(writer)).toBe(5n);
    expect([...newest.progressStartingWith('demo:orders:')]).toEqual([
      [writer, 5n],
      [other, 3n],
    ]);
  });

  it('fences a writer whose marks have moved, before and in the swap', async () => {
    const made = await create();
    const base = await made.table.refresh();
    const rival = await made.reopened();
    const first = { writerId: writer, from: undefined, until: 5n };
    await made.tryAppend([{ id: 1n }], [first], { table: rival });
    const beaten = await made.tryAppend([{ id: 2n }], [first], { base });
    expect(beaten).toMatchObject({
      kind: 'conflicted',
      conflict: { kind: 'progress-moved', writerId: writer, expected: undefined, found: 5n },
    });
    const late = await made.tryAppend([{ id: 3n }], [first]);
    expect(late).toMatchObject({ kind: 'conflicted', conflict: { kind: 'progress-moved', found: 5n } });
    expect((await made.table.refresh()).rowCount).toBe(1);
  });

  it('says that another version took the place when nothing else stands against the commit', async () => {
    const made = await create();
    const base = await made.table.refresh();
    const rival = await made.reopened();
    await made.tryAppend([{ id: 1n }], [{ writerId: other, from: undefined, until: 1n }], { table: rival });
    const beaten = await made.tryAppend([{ id: 2n }], [{ writerId: writer, from: undefined, until: 1n }], { base });
    expect(beaten).toEqual({ kind: 'conflicted', conflict: { kind: 'version-taken', latest: 1 } });
  });

  it('finds a commit by its id in the ancestry', async () => {
    const made = await create();
    const commitId = '11111111-2222-4333-8444-555555555555';
    await made.tryAppend([{ id: 1n }], [{ writerId: writer, from: undefined, until: 5n }], { commitId });
    await made.append([{ id: 2n }]);
    expect(await made.table.findCommit(toCommitId(commitId), toVersion(0))).toBe(1);
    expect(await made.table.findCommit(toCommitId('22222222-2222-4333-8444-555555555555'), toVersion(0))).toBeUndefined();
  });

  it('rewinds with a table that is rolled back', async () => {
    const made = await create();
    await made.append([{ id: 1n }], [{ writerId: writer, from: undefined, until: 5n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }], [{ writerId: writer, from: 5n, until: 9n }]);
    await rollbackToSnapshot(made.table.context, kept);
    expect((await (await made.reopened()).refresh()).progressOf(writer)).toBe(5n);
    // The offsets are taken again, at a version above the one that was taken back.
    expect(await made.append([{ id: 3n }], [{ writerId: writer, from: 5n, until: 9n }])).toBe(3);
  });

  it('falls back to the property when no snapshot of the ancestry has it', async () => {
    const made = await create();
    await commitUpdates(made.table.context, () => ({
      requirements: [],
      updates: [{ action: 'set-properties', updates: { [progressKey]: `{"${writer}":"7"}` } }],
    }));
    expect((await made.table.refresh()).progressOf(writer)).toBe(7n);
    await made.append([{ id: 1n }], [{ writerId: writer, from: 7n, until: 8n }]);
    expect((await made.table.refresh()).progressOf(writer)).toBe(8n);
  });

  it('is carried on by other commits of ours, and the history tells what each version moved', async () => {
    const made = await create();
    await made.append([{ id: 1n }], [{ writerId: writer, from: undefined, until: 5n }]);
    await made.append([{ id: 2n }], [{ writerId: other, from: undefined, until: 2n }]);
    const plan = await made.table.planCompaction({ targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 4 });
    expect(await made.table.compact(plan)).toMatchObject({ outcome: 'committed', filesRemoved: 2, filesAdded: 1 });
    const newest = await (await made.reopened()).refresh();
    expect(newest.snapshot?.summary[progressKey]).toBe(`{"${writer}":"5","${other}":"2"}`);
    const history = await made.table.history({});
    expect(history.map(({ version, operation, dataChange, progress }) => [version, operation, dataChange, [...progress]])).toEqual([
      [3, 'replace', false, []],
      [2, 'append', true, [[other, 2n]]],
      [1, 'append', true, [[writer, 5n]]],
    ]);
    expect(newest.rowCount).toBe(2);
  });
});
