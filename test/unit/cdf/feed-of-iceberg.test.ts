import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenEngine } from '../../../src/engine/engine.ts';
import { rollbackToSnapshot } from '../../../src/iceberg/operations/refs/move-main.ts';
import { PipelineTable } from '../../support/iceberg/pipeline-table.ts';
import { temporarySession } from '../../support/temporary-session.ts';
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

  async function sql(made: PipelineTable, ...statements: readonly string[]): Promise<void> {
    await using opened = await temporarySession();
    for (const statement of statements) {
      const frame = await opened.session.sql(statement.replaceAll(/\bt\b/g, `iceberg.\`${made.location}\``));
      await frame.collect();
    }
  }

  it.each([0, 1e9])(
    'goes on inside a version of files of every shape and format, none of them written anew (held up to %d bytes)',
    async (maxHeldBytes) => {
      const made = await PipelineTable.create({ schema, properties: { 'write.delete.mode': 'merge-on-read', 'format-version': '3' } });
      open.push(made);
      const ids = (from: number): readonly number[] => Array.from({ length: 10 }, (_, index) => from + index);
      const values = (from: number, more = ''): string =>
        ids(from)
          .map((id) => `(${id}${more})`)
          .join(', ');
      await made.append(ids(0).map((id) => ({ id: BigInt(id) })));
      await sql(
        made,
        'ALTER TABLE t RENAME COLUMN id TO number',
        'ALTER TABLE t ADD COLUMN n INT',
        "ALTER TABLE t SET TBLPROPERTIES ('write.format.default' = 'orc')",
        `INSERT INTO t VALUES ${values(10, ', 1')}`,
        "ALTER TABLE t SET TBLPROPERTIES ('write.format.default' = 'avro')",
        `INSERT INTO t VALUES ${values(20, ', 2')}`,
        'ALTER TABLE t ALTER COLUMN n TYPE BIGINT',
        'ALTER TABLE t RENAME COLUMN n TO wide',
        'DELETE FROM t WHERE number % 5 = 0',
      );
      const version = (await made.table.refresh()).version;
      const openEngine: OpenEngine = () => Promise.resolve(made.made.engine);
      const started = { start: { kind: 'snapshot' }, maxTransactionRows: 4 } as const;
      const whole = feedBench(() => made.reopened(), { openEngine, maxHeldBytes });
      await whole.publish(version, 'fail', { start: { kind: 'snapshot' } });
      const killed = feedBench(() => made.reopened(), { openEngine, maxHeldBytes });
      let runs = 0;
      for (let done = false; !done; runs++) done = (await killed.publish(version, 'fail', started, 1)).position?.complete === true;
      expect(runs).toBe(6);
      expect(await killed.published()).toEqual(await whole.published());
      const rows = ids(0)
        .concat(ids(10), ids(20))
        .filter((id) => id % 5 !== 0);
      const wide = (id: number): number | null => (id < 10 ? null : id < 20 ? 1 : 2);
      const expected = rows.map((id) => `{"number":${id},"wide":${wide(id)},"_change_type":"insert","_commit_version":${version}}`);
      expect((await whole.published()).toSorted()).toEqual(expected.toSorted());
      await sql(made, 'DELETE FROM t');
      for (const bench of [whole, killed]) await bench.publish(version + 1);
      const removed = (await whole.published()).slice(expected.length);
      expect(removed).toHaveLength(expected.length);
      expect((await killed.published()).slice(expected.length)).toEqual(removed);
      // The same files in the same order.
      const numbers = (lines: readonly string[]): readonly (string | undefined)[] => lines.map((line) => /\d+/.exec(line)?.[0]);
      expect(numbers(removed)).toEqual(numbers((await whole.published()).slice(0, expected.length)));
      expect(await readdir(join(made.made.directory, 'scratch')).catch(() => [])).toEqual([]);
    },
  );

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
