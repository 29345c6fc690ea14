import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AddFile } from '../../../../src/delta/actions.ts';
import { commitInfoOf } from '../../../../src/delta/delta-snapshot.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { planClustering } from '../../../../src/delta/operations/clustered-files.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { parseSchema } from '../../../../src/expr/parse/parse-type.ts';
import { LocalTables } from '../../../support/local-tables.ts';

const byG = { columns: [{ path: ['g'], type: { kind: 'integer' as const } }], full: false };

function file(path: string, cube?: { readonly id: string; readonly by: string }, sizeBytes = 10): AddFile {
  const tags = cube === undefined ? undefined : { ZCUBE_ID: cube.id, ZCUBE_ZORDER_BY: cube.by };
  const clusteringProvider = cube === undefined ? undefined : 'liquid';
  return {
    kind: 'add',
    path,
    storedPath: path,
    partitionValues: {},
    sizeBytes,
    modifiedMs: 0,
    dataChange: false,
    tags,
    clusteringProvider,
  };
}

const pathsOf = (bins: readonly (readonly AddFile[])[]) => bins.map((bin) => bin.map(({ path }) => path));

describe('planClustering', () => {
  it('takes what is in no cube together with the cubes that are there', () => {
    const files = [file('a'), file('b', { id: 'x', by: '["g"]' }), file('c', { id: 'y', by: '["g"]' })];
    expect(pathsOf(planClustering(files, byG))).toEqual([['a', 'b', 'c']]);
  });

  it('leaves one cube alone, unless rows of it are deleted', () => {
    const cube = { id: 'x', by: '["g"]' };
    expect(planClustering([file('a', cube), file('b', cube)], byG)).toEqual([]);
    const vector = { storageType: 'u', pathOrInlineDv: 'v', offset: 1, sizeInBytes: 1, cardinality: 1 };
    expect(pathsOf(planClustering([file('a', cube), { ...file('b', cube), deletionVector: vector }], byG))).toEqual([['a', 'b']]);
  });

  it('leaves what is clustered by other columns alone, unless asked for all of it', () => {
    const files = [file('a', { id: 'x', by: '["id"]' }), file('b')];
    expect(pathsOf(planClustering(files, byG))).toEqual([['b']]);
    expect(pathsOf(planClustering(files, { ...byG, full: true }))).toEqual([['a', 'b']]);
  });

  it('leaves large cubes alone, by the size of all their files', () => {
    const cube = { id: 'x', by: '["g"]' };
    const half = 50 * 2 ** 30;
    expect(pathsOf(planClustering([file('a', cube, half), file('b', cube, half), file('c')], byG))).toEqual([['c']]);
  });
});

describe('OPTIMIZE of a clustered table', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const clustered = async (name: string, clusterBy = ['g', 's']): Promise<DeltaTable> => {
    await tables.driver().createTable({
      name,
      location: tables.path(name),
      definition: { schema: parseSchema('id BIGINT, g INT, s STRING'), partitionColumns: [], properties: {} },
      clusterBy: clusterBy.map((column) => [column]),
      mode: 'create',
    });
    const table = await tables.open(name);
    for (const from of [0, 10_000]) await append(table, from, 10_000);
    return table;
  };
  const append = (table: DeltaTable, from: number, count: number): Promise<void> =>
    tables.append(
      table,
      `SELECT i AS id, CAST(hash(i) % 100 AS INT) AS g, 's' || (hash(i + 1) % 50) AS s FROM range(${from}, ${from + count}) t(i)`,
    );
  const infoOf = async (table: DeltaTable) =>
    commitInfoOf((await table.context.readCommit((await table.refresh()).version))?.actions ?? [])?.body ?? {};
  const filesOf = async (table: DeltaTable): Promise<readonly AddFile[]> => [...(await table.refresh()).files()];

  it('orders rows by its columns, marks the files as one cube and tells it in the history', async () => {
    const table = await clustered('curve');
    const before = await tables.rows(table);
    const result = await table.operations.optimize({ targetFileBytes: 5_000 });
    expect(await tables.rows(table)).toEqual(before);
    const files = await filesOf(table);
    expect(files.length).toBeGreaterThan(4);
    expect(
      new Set(files.map((made) => `${made.clusteringProvider} ${made.tags?.['ZCUBE_ID']} ${made.tags?.['ZCUBE_ZORDER_BY']}`)).size,
    ).toBe(1);
    expect(files[0]).toMatchObject({ clusteringProvider: 'liquid', tags: { ZCUBE_ZORDER_BY: '["g","s"]' } });
    const spans = files.map((made) => {
      const { minValues, maxValues } = JSON.parse(made.stats ?? '') as Record<'minValues' | 'maxValues', { g: number }>;
      return maxValues.g - minValues.g;
    });
    // Without an order each file has nearly all of the 100 values.
    expect(Math.max(...spans)).toBeLessThan(70);
    expect(await infoOf(table)).toMatchObject({
      operation: 'OPTIMIZE',
      operationParameters: { predicate: '[]', zOrderBy: '[]', clusterBy: '["g","s"]', auto: false, isFull: false },
    });
    expect(result.clustering).toMatchObject({
      cubeFiles: { numFiles: 0 },
      otherFiles: { numFiles: 2 },
      mergedFiles: { numFiles: 2 },
      outputCubes: 1,
    });
    expect(await table.operations.optimize({})).toMatchObject({ version: undefined, clustering: { cubes: 1, outputCubes: 0 } });
  });

  it('clusters files anew by other columns only when asked to', async () => {
    const table = await clustered('changed');
    await table.operations.optimize({});
    await table.operations.alter({ kind: 'cluster-by', columns: [['id']] });
    expect((await table.operations.optimize({})).version).toBeUndefined();
    expect((await table.operations.optimize({ full: true })).version).toBeDefined();
    expect(await infoOf(table)).toMatchObject({ operationParameters: { clusterBy: '["id"]', isFull: true } });
    expect((await filesOf(table))[0]?.tags).toMatchObject({ ZCUBE_ZORDER_BY: '["id"]' });
    expect((await table.operations.optimize({ full: true })).version).toBeUndefined();
  });

  it('keeps the order in what maintenance compacts', async () => {
    const table = await clustered('compacted');
    const before = await tables.rows(table);
    const plan = await table.planCompaction({ targetFileBytes: 1 << 30, minInputFiles: 2, maxGroups: 10 });
    expect((await table.compact(plan)).outcome).toBe('committed');
    expect(await tables.rows(table)).toEqual(before);
    expect(await filesOf(table)).toMatchObject([{ clusteringProvider: 'liquid', tags: { ZCUBE_ZORDER_BY: '["g","s"]' } }]);
  });

  it('keeps the marks in log checkpoints', async () => {
    const table = await clustered('checkpointed');
    await table.operations.optimize({});
    const before = await filesOf(table);
    await table.checkpoint({ dryRun: false });
    expect(await filesOf(await tables.open('checkpointed'))).toMatchObject(
      before.map(({ tags, clusteringProvider }) => ({ tags, clusteringProvider })),
    );
  });

  it('refuses predicates, Z-order and, for other tables, FULL', async () => {
    const table = await clustered('refused');
    await expect(table.operations.optimize({ where: parseExpression('g = 1') })).rejects.toMatchObject({
      errorClass: 'DELTA_CLUSTERING_WITH_PARTITION_PREDICATE',
      sqlState: '0A000',
    });
    await expect(table.operations.optimize({ zOrderBy: ['id'] })).rejects.toMatchObject({ errorClass: 'DELTA_CLUSTERING_WITH_ZORDER_BY' });
    const plain = await tables.create('plain', 'id BIGINT');
    await expect(plain.operations.optimize({ full: true })).rejects.toMatchObject({ errorClass: 'DELTA_OPTIMIZE_FULL_NOT_SUPPORTED' });
  });

  it('compacts small files with deletion vectors, without their deleted rows', async () => {
    const table = await tables.create('vectors', 'id BIGINT, g INT, s STRING', { properties: { 'delta.enableDeletionVectors': 'true' } });
    for (const from of [0, 100]) await append(table, from, 100);
    await table.operations.delete({ condition: parseExpression('id % 10 = 0') });
    const before = await tables.rows(table);
    expect(before).toHaveLength(180);
    const compaction = { targetFileBytes: 1 << 30, minInputFiles: 2, maxGroups: 10 };
    expect((await table.health({ compaction })).compactable).toEqual({ files: 2, partitions: 1 });
    const plan = await table.planCompaction(compaction);
    expect((await table.compact(plan)).outcome).toBe('committed');
    expect(await tables.rows(table)).toEqual(before);
    expect((await filesOf(table)).map((made) => made.deletionVector)).toEqual([undefined]);
  });
});
