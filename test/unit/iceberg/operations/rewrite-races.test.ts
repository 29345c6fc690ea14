import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { buildBatch } from '../../../../src/codec/build-columns.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { alterTable } from '../../../../src/iceberg/definition/alter-table.ts';
import { fileCompression } from '../../../../src/iceberg/files/compression.ts';
import { rowFileWriter } from '../../../../src/iceberg/files/row-file-writer.ts';
import { contentFile } from '../../../../src/iceberg/files/staging.ts';
import { icebergOperations } from '../../../../src/iceberg/iceberg-operations.ts';
import { expireSnapshots } from '../../../../src/iceberg/operations/expire/expire-snapshots.ts';
import { rewriteDataFiles } from '../../../../src/iceberg/operations/rewrite/rewrite-data-files.ts';
import { rewriteManifests } from '../../../../src/iceberg/operations/rewrite/rewrite-manifests.ts';
import type { TableContext } from '../../../../src/iceberg/table-context.ts';
import { commitSnapshot } from '../../../../src/iceberg/transaction/commit-snapshot.ts';
import type { SnapshotChange } from '../../../../src/iceberg/transaction/snapshot-change.ts';
import type { StructType } from '../../../../src/schema/types.ts';
import { PipelineTable } from '../../../support/iceberg/pipeline-table.ts';

let pipeline: PipelineTable;

beforeEach(async () => {
  pipeline = await PipelineTable.create({
    schema: { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] },
    properties: {},
  });
  for (const id of [1n, 2n, 3n]) await pipeline.append([{ id }], [{ writerId: 'w', from: id === 1n ? undefined : id - 1n, until: id }]);
});

afterEach(() => pipeline.close());

const all = { options: new Map([['rewrite-all', 'true']]) };

/** The context of a process before whose first swap another one is at work. */
function beaten(rival: () => Promise<unknown>): TableContext {
  const { context } = pipeline.table;
  let first = true;
  const { pointer } = context;
  return {
    ...context,
    pointer: {
      name: pointer.name,
      singleWriterOnly: undefined,
      ownPlaces: (loaded) => pointer.ownPlaces(loaded),
      load: (known, signal) => pointer.load(known, signal),
      swap: async (base, change) => {
        if (first) await rival();
        first = false;
        return pointer.swap(base, change);
      },
    },
  };
}

const ids = async (): Promise<readonly unknown[]> => {
  const table = await pipeline.reopened();
  const scan = await pipeline.made.engine.scan(await table.scan(await table.refresh()));
  const rows = await pipeline.made.engine.rows(`SELECT id FROM (${scan.sql}) ORDER BY id`);
  await scan.dispose();
  return rows.flat();
};
const dataFiles = async (): Promise<number> => {
  let count = 0;
  for await (const { location } of pipeline.table.context.files.list(`${pipeline.location}/data`))
    count += location.endsWith('.parquet') ? 1 : 0;
  return count;
};

/** A row delta that deletes the rows with an id, wherever they are. */
async function equalityDelete(context: TableContext, id: bigint): Promise<SnapshotChange> {
  const schema: StructType = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true, id: 1 }] };
  const writer = rowFileWriter(schema, fileCompression('parquet', {}, 'deletes'), context.ids);
  await writer.append(buildBatch(schema, [{ id }]));
  const { bytes } = await writer.finish();
  const path = `${pipeline.location}/data/${context.ids.uuid()}-deletes.parquet`;
  await context.files.put(path, bytes);
  const common = { content: 'equality-deletes', format: 'parquet', specId: 0, partition: [], recordCount: 1 } as const;
  const added = [contentFile({ ...common, path, fileSizeBytes: bytes.length, equalityIds: [1] })];
  return { kind: 'row-delta', added, removed: [], validation: {}, summary: {} };
}

describe('rewriteDataFiles beside other writers', () => {
  it('goes on top of appends', async () => {
    const result = await rewriteDataFiles(
      beaten(() => pipeline.append([{ id: 4n }], [{ writerId: 'w', from: 3n, until: 4n }])),
      all,
    );
    expect(result).toMatchObject({ rewrittenDataFiles: 3, addedDataFiles: 1, version: 5 });
    expect(await ids()).toEqual([1n, 2n, 3n, 4n]);
  });

  it.each(['merge-on-read', 'copy-on-write'])('gives way to deletes of its rows (%s) and leaves nothing behind', async (mode) => {
    await alterTable(pipeline.table.context, { kind: 'set-properties', properties: { 'write.delete.mode': mode } });
    const before = await dataFiles();
    const rival = async (): Promise<unknown> =>
      (await pipeline.reopened()).operations.delete({ condition: parseExpression('id = 2 OR id = 20') });
    await expect(rewriteDataFiles(beaten(rival), all)).rejects.toMatchObject({ kind: 'conflict', alias: 'ValidationException' });
    expect(await ids()).toEqual([1n, 3n]);
    expect(await dataFiles()).toBe(mode === 'merge-on-read' ? before + 1 : before);
  });

  it('does not stand between two deletes that take the place of the same earlier deletes', async () => {
    await alterTable(pipeline.table.context, { kind: 'set-properties', properties: { 'write.delete.mode': 'merge-on-read' } });
    await rewriteDataFiles(pipeline.table.context, all);
    const remove = async (context: TableContext, id: number): Promise<unknown> =>
      icebergOperations(context).delete({ condition: parseExpression(`id = ${id}`) });
    await remove(pipeline.table.context, 1);
    await remove(
      beaten(async () => remove((await pipeline.reopened()).context, 2)),
      3,
    );
    expect(await ids()).toEqual([]);
  });

  it('lets equality deletes of later snapshots have their effect, unless its rows become younger than these', async () => {
    const rival = async (): Promise<unknown> => {
      const { context } = await pipeline.reopened();
      return commitSnapshot(context, await context.refresh(), await equalityDelete(context, 2n));
    };
    expect(await rewriteDataFiles(beaten(rival), all)).toMatchObject({ rewrittenDataFiles: 3 });
    expect(await ids()).toEqual([1n, 3n]);
    const younger = { options: new Map([...all.options, ['use-starting-sequence-number', 'false']]) };
    expect(await rewriteDataFiles(pipeline.table.context, younger)).toMatchObject({ rewrittenDataFiles: 1 });
    expect(await ids()).toEqual([1n, 3n]);
    const again = async (): Promise<unknown> => {
      const { context } = await pipeline.reopened();
      return commitSnapshot(context, await context.refresh(), await equalityDelete(context, 3n));
    };
    await expect(rewriteDataFiles(beaten(again), younger)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await ids()).toEqual([1n]);
  });

  it('counts what failed, where partial progress is allowed', async () => {
    const rival = async (): Promise<unknown> => (await pipeline.reopened()).operations.delete({ condition: parseExpression('id = 2') });
    const options = new Map([...all.options, ['partial-progress.enabled', 'true']]);
    expect(await rewriteDataFiles(beaten(rival), { options })).toMatchObject({
      failedDataFiles: 3,
      rewrittenDataFiles: 0,
      version: undefined,
    });
    expect(await ids()).toEqual([1n, 3n]);
  });

  it('says what it would do in a dry run', async () => {
    expect(await rewriteDataFiles(pipeline.table.context, { ...all, dryRun: true })).toMatchObject({
      rewrittenDataFiles: 3,
      version: undefined,
    });
    expect((await pipeline.table.refresh()).version).toBe(3);
  });
});

// Offsets stand in the snapshots of the pipeline: an expiry behind a compaction must not take them from the table.
it('carries the progress of the pipeline through every operation', async () => {
  const { context } = pipeline.table;
  await rewriteDataFiles(context, all);
  await rewriteManifests(context);
  await expireSnapshots(context, { olderThanMs: Number.MAX_SAFE_INTEGER });
  const state = await (await pipeline.reopened()).refresh();
  expect(state.metadata.snapshots).toHaveLength(1);
  expect(state.snapshot?.summary['tidewater.progress']).toBe('{"w":"3"}');
  expect(state.progressOf('w')).toBe(3n);
  expect(await ids()).toEqual([1n, 2n, 3n]);
});
