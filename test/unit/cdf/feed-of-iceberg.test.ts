import { afterEach, describe, expect, it } from 'vitest';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';
import { type FeedBench, feedBench, feedSpec as spec } from './feed-bench.ts';

const schema = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }] } as const;
describe('a feed of an Iceberg table', () => {
  const open: PipelineTable[] = [];
  afterEach(async () => {
    for (const table of open.splice(0)) await table.close();
  });

  interface IcebergBench extends FeedBench {
    readonly made: PipelineTable;
  }

  async function bench(): Promise<IcebergBench> {
    const made = await PipelineTable.create({ schema, properties: {} });
    open.push(made);
    return { made, ...feedBench(() => Promise.resolve(made.table)) };
  }

  const inserted = (id: number, version: number): string => `{"id":${id},"_change_type":"insert","_commit_version":${version}}`;

  it('begins with a table that nothing was ever written to', async () => {
    const { made, publish, published } = await bench();
    expect(await publish(0)).toMatchObject({ state: 'stopped', position: { version: 0, complete: true } });
    await made.append([{ id: 1n }]);
    expect(await publish(1)).toMatchObject({ state: 'stopped', position: { version: 1 } });
    expect(await published()).toEqual([inserted(1, 1)]);
  });

  it('stands still, loudly, when the table was rolled back to before what is published', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    expect(await publish(3)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK', kind: 'discontinuity' } });
    await made.append([{ id: 3n }]);
    expect(await publish(3)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2)]);
  });

  it('goes on with what comes after a rollback when it is told to skip', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    expect(await publish(3, 'skip')).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 3)]);
  });

  it('publishes the rows again after a rollback when it is told to', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    expect(await publish(3, 'resnapshot')).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(1, 3), inserted(3, 3)]);
  });

  it('goes on exactly where it stood when its position is lost and it is told to recover', async () => {
    const { made, publish, deleteTopic, published } = await bench();
    await made.append([{ id: 1n }]);
    await made.append([{ id: 2n }]);
    await publish(2);
    await deleteTopic(spec.positionsTopic);
    await made.append([{ id: 3n }]);
    expect(await publish(3)).toMatchObject({ state: 'lost', error: { code: 'FEED_POSITION_LOST' } });
    const recovered = await publish(3, 'fail', { onLostPosition: 'recover' });
    expect(recovered).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 3)]);
  });

  it('sees a rollback although its position was lost, because the records tell the snapshot they are of', async () => {
    const { made, publish, deleteTopic } = await bench();
    await made.append([{ id: 1n }]);
    const kept = (await made.table.refresh()).snapshotId ?? 0n;
    await made.append([{ id: 2n }]);
    await publish(2);
    await deleteTopic(spec.positionsTopic);
    await rollbackToSnapshot(made.table.context, kept);
    await made.append([{ id: 3n }]);
    const status = await publish(3, 'fail', { onLostPosition: 'recover' });
    expect(status).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
  });

  it('stands still when its topic was deleted, and fills the new one as it is told', async () => {
    const { made, publish, deleteTopic, published } = await bench();
    await made.append([{ id: 1n }]);
    await publish(1);
    await deleteTopic(spec.topic);
    await made.append([{ id: 2n }]);
    expect(await publish(2)).toMatchObject({ state: 'replaced', error: { code: 'FEED_TOPIC_REPLACED' } });
    await publish(2, 'fail', { onTopicReplaced: 'continue' });
    expect(await published()).toEqual([inserted(2, 2)]);
    await deleteTopic(spec.topic);
    await publish(2, 'fail', { onTopicReplaced: 'resnapshot' });
    expect(await published()).toEqual([inserted(1, 2), inserted(2, 2)]);
  });

  it('passes rewrites and goes on behind them', async () => {
    const { made, publish, published } = await bench();
    await made.append([{ id: 1n }]);
    await made.append([{ id: 2n }]);
    await made.table.compact(await made.table.planCompaction({ targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 1 }));
    await made.append([{ id: 3n }]);
    expect(await publish(4)).toMatchObject({ state: 'stopped', position: { version: 4, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 4)]);
  });
});
