import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitInfoOf } from '../../../../src/delta/delta-snapshot.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('optimize', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const infoOf = async (table: DeltaTable) => {
    const { version } = await table.refresh();
    return commitInfoOf((await table.context.readCommit(version))?.actions ?? [])?.body ?? {};
  };

  it('makes one file of small ones, with the same rows, fresh statistics and an exact history', async () => {
    const table = await tables.create('pack', 'id BIGINT, s STRING');
    for (let part = 0; part < 4; part++) await tables.append(table, `SELECT ${part} * 10 + i AS id, 'v' || i AS s FROM range(10) t(i)`);
    const before = await tables.rows(table);
    const result = await table.operations.optimize({});
    expect(await tables.rows(table)).toEqual(before);
    const [file, ...others] = (await table.refresh()).files();
    expect(others).toEqual([]);
    expect(JSON.parse(file?.stats ?? '')).toMatchObject({
      numRecords: 40,
      minValues: { id: 0 },
      maxValues: { id: 39 },
      nullCount: { id: 0 },
    });
    expect(result).toMatchObject({
      version: 5,
      partitionsOptimized: 1,
      filesConsidered: 4,
      filesSkipped: 0,
      bins: 1,
      deletionVectorsRemoved: 0,
      deletionVectorRowsRemoved: 0,
    });
    expect(result.filesRemoved.totalFiles).toBe(4);
    expect(result.filesAdded).toMatchObject({ totalFiles: 1, min: file?.sizeBytes, max: file?.sizeBytes, totalSize: file?.sizeBytes });
    const info = await infoOf(table);
    expect(info).toMatchObject({
      operation: 'OPTIMIZE',
      operationParameters: { predicate: '[]', zOrderBy: '[]', clusterBy: '[]', auto: false },
      isolationLevel: 'SnapshotIsolation',
      isBlindAppend: false,
      readVersion: 4,
    });
    const actions = (await table.context.readCommit((await table.refresh()).version))?.actions ?? [];
    for (const action of actions) if (action.kind === 'add' || action.kind === 'remove') expect(action.dataChange).toBe(false);
    expect(await table.operations.optimize({})).toMatchObject({ version: undefined, bins: 0, filesConsidered: 1, filesSkipped: 1 });
    expect((await table.refresh()).version).toBe(5);
  });

  it('keeps rows in the order of the files and of their rows', async () => {
    const table = await tables.create('order', 'id BIGINT, pad STRING');
    // Files are packed smallest first.
    for (let part = 0; part < 3; part++) {
      await tables.append(
        table,
        `SELECT ${part} * 100000 + i AS id, repeat('x', ${part}) AS pad FROM range(${30_000 + part * 10_000}) t(i)`,
      );
    }
    await table.operations.optimize({});
    const [file] = [...(await table.refresh()).files()];
    const path = tables.text(tables.path(`order/${file?.storedPath ?? ''}`));
    const turns = `SELECT count(*) FROM (SELECT id < lag(id) OVER (ORDER BY file_row_number) AS back FROM read_parquet(${path})) WHERE back`;
    expect(await tables.engine.rows(turns)).toEqual([[0n]]);
  });

  it('packs within partitions, and only those the condition names', async () => {
    const table = await tables.create('parts', 'id INT, p STRING', { partitionBy: ['p'] });
    for (let part = 0; part < 3; part++)
      await tables.append(table, `SELECT i AS id, CASE i % 3 WHEN 0 THEN 'a/b c' WHEN 1 THEN 'ü%' END AS p FROM range(9) t(i)`);
    const before = await tables.rows(table);
    const where = parseExpression("p = 'a/b c'");
    expect(await table.operations.optimize({ where })).toMatchObject({ partitionsOptimized: 1, filesConsidered: 3, filesSkipped: 0 });
    expect((await infoOf(table))['operationParameters']).toMatchObject({ predicate: `["(p = 'a/b c')"]` });
    expect(await table.operations.optimize({ where: parseExpression('p IS NULL') })).toMatchObject({
      partitionsOptimized: 1,
      filesConsidered: 3,
    });
    expect(await table.operations.optimize({})).toMatchObject({ partitionsOptimized: 1, filesConsidered: 5 });
    expect((await table.refresh()).fileCount).toBe(3);
    expect(await tables.rows(table)).toEqual(before);
    await expect(table.operations.optimize({ where: parseExpression('id = 1') })).rejects.toMatchObject({
      errorClass: 'DELTA_NON_PARTITION_COLUMN_REFERENCE',
      message: "Predicate references non-partition column 'id'. Only the partition columns may be referenced: [p]",
    });
  });

  it('splits at the target size, and leaves files that have it', async () => {
    const table = await tables.create('split', 'id BIGINT, s STRING');
    const rows = (part: number): string =>
      `SELECT ${part} * 20000 + i AS id, md5(CAST(${part} * 20000 + i AS VARCHAR)) AS s FROM range(20000) t(i)`;
    for (let part = 0; part < 3; part++) await tables.append(table, rows(part));
    const sizes = [...(await table.refresh()).files()].map((file) => file.sizeBytes).sort((a, b) => a - b);
    const target = (sizes[0] ?? 0) + (sizes[1] ?? 0) + 1_000;
    expect(await table.operations.optimize({ targetFileBytes: target })).toMatchObject({ bins: 1, filesConsidered: 3, filesSkipped: 1 });
    expect((await table.operations.optimize({ targetFileBytes: sizes[0] ?? 0 })).version).toBeUndefined();
    expect((await table.refresh()).rowCount).toBe(60_000);
  });

  it('makes deleted rows go for good when they are many, or when it is asked to purge', async () => {
    const table = await tables.create('vectors', 'id BIGINT', { properties: { 'delta.enableDeletionVectors': 'true' } });
    await tables.append(table, 'SELECT i AS id FROM range(1000) t(i)');
    await table.operations.delete({ condition: parseExpression('id = 7') });
    expect([...(await table.refresh()).files()].map((file) => file.deletionVector?.cardinality)).toEqual([1]);
    const before = await tables.rows(table);
    expect((await table.operations.optimize({ targetFileBytes: 100 })).version).toBeUndefined();
    const purged = await table.operations.optimize({ purge: true });
    expect(purged).toMatchObject({
      deletionVectorsRemoved: 1,
      deletionVectorRowsRemoved: 1,
      filesRemoved: { totalFiles: 1 },
      filesAdded: { totalFiles: 1 },
    });
    expect(await infoOf(table)).toMatchObject({
      operation: 'REORG',
      operationParameters: { predicate: '[]', applyPurge: true },
      operationMetrics: { numDeletionVectorsRemoved: '1' },
    });
    expect(await tables.rows(table)).toEqual(before);
    expect([...(await table.refresh()).files()].map((file) => file.deletionVector)).toEqual([undefined]);
    await table.operations.delete({ condition: parseExpression('id < 100') });
    expect(await table.operations.optimize({ targetFileBytes: 100 })).toMatchObject({ bins: 1, deletionVectorsRemoved: 1 });
    expect((await table.refresh()).rowCount).toBe(900);
    expect((await table.operations.optimize({ purge: true })).version).toBeUndefined();
  });

  it('drops what others removed meanwhile from its commit, and keeps the rest', async () => {
    await tables.create('rival', 'id INT, p STRING', { partitionBy: ['p'] });
    const rival = await tables.open('rival');
    for (const p of ['a', 'b']) for (const id of [1, 2]) await tables.append(rival, `SELECT ${id} AS id, '${p}' AS p`);
    const table = await tables.open('rival', async (name) => {
      if (name === 'before-compaction-commit') await rival.operations.delete({ condition: parseExpression("p = 'a' AND id = 1") });
    });
    expect(await table.operations.optimize({})).toMatchObject({ bins: 1, filesRemoved: { totalFiles: 2 } });
    const left = [...(await table.refresh()).files()].map((file) => file.partitionValues['p']).sort();
    expect(left).toEqual(['a', 'b']);
    expect(await tables.rows(table)).toEqual(['{"id":1,"p":"b"}', '{"id":2,"p":"a"}', '{"id":2,"p":"b"}']);
    const all = await tables.open('rival', async (name) => {
      if (name === 'before-compaction-commit') await rival.operations.alter({ kind: 'set-properties', properties: { x: 'y' } });
    });
    await tables.append(rival, "SELECT 9 AS id, 'b' AS p");
    await expect(all.operations.optimize({})).rejects.toMatchObject({ code: 'OPTIMIZE_CONFLICTED', kind: 'conflict' });
  });

  it('keeps physical names and ids of a table that maps columns', async () => {
    const table = await tables.create('mapped', 'id BIGINT, s STRUCT<a: INT, b: STRING>, p STRING', {
      partitionBy: ['p'],
      properties: { 'delta.columnMapping.mode': 'name' },
    });
    for (let part = 0; part < 3; part++)
      await tables.append(table, `SELECT CAST(${part} AS BIGINT) AS id, {'a': ${part}, 'b': 'x'} AS s, 'p' AS p`);
    await table.operations.alter({ kind: 'rename-column', path: ['id'], to: 'key' });
    const before = await tables.rows(table);
    expect(await table.operations.optimize({})).toMatchObject({ bins: 1, partitionsOptimized: 1 });
    expect(await tables.rows(table)).toEqual(before);
    expect((await table.refresh()).fileCount).toBe(1);
  });
});
