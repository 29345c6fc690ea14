import { describe, expect, it } from 'vitest';
import { type DataFrame, DeltaTable, type Row } from '../../src/index.ts';
import { deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Files that are put together. */

const noSizes = { min: null, max: null, avg: 0, totalFiles: 0n, totalSize: 0n };
const parameters = (entry: Row) => Object.fromEntries(entry['operationParameters'] as ReadonlyMap<string, string>);
const metricsOf = (entry: Row) => Object.fromEntries(entry['operationMetrics'] as ReadonlyMap<string, string>);

describe('OPTIMIZE', () => {
  const bench = deltaBench();

  it('B11: compaction makes one file of the small ones of a table, SQL and DeltaTable', async () => {
    for (const [name, optimize] of [
      ['compacted-sql', (at: string) => bench().sql(`OPTIMIZE ${at}`)],
      ['compacted', async () => (await (await tableAt('compacted')).optimize().executeCompaction()).collect()],
    ] as const) {
      await fill(name, 4);
      const before = await bench().rows(name);
      const sizes = addedSizes(name, 0, 1, 2, 3);
      const [row] = await optimize(bench().at(name));
      const [size = 0] = addedSizes(name, 4);
      expect(row).toMatchObject({
        path: `file:${bench().path(name)}`,
        metrics: {
          numFilesAdded: 1n,
          numFilesRemoved: 4n,
          filesAdded: { min: BigInt(size), max: BigInt(size), avg: size, totalFiles: 1n, totalSize: BigInt(size) },
          filesRemoved: {
            min: BigInt(Math.min(...sizes)),
            max: BigInt(Math.max(...sizes)),
            avg: sum(sizes) / 4,
            totalFiles: 4n,
            totalSize: BigInt(sum(sizes)),
          },
          partitionsOptimized: 1n,
          zOrderStats: null,
          clusteringStats: null,
          numBins: 1n,
          numBatches: 1n,
          totalConsideredFiles: 4n,
          totalFilesSkipped: 0n,
          preserveInsertionOrder: false,
          deletionVectorStats: null,
          numTableColumns: 2n,
          numTableColumnsWithStats: 2n,
        },
      });
      expect(await bench().rows(name)).toEqual(before);
      const entry = await bench().lastEntry(name);
      expect(entry).toMatchObject({
        version: 4n,
        operation: 'OPTIMIZE',
        readVersion: 3n,
        isolationLevel: 'SnapshotIsolation',
        isBlindAppend: false,
      });
      expect(parameters(entry)).toEqual({ predicate: '[]', zOrderBy: '[]', clusterBy: '[]', auto: 'false' });
      expect(metricsOf(entry)).toEqual({
        numAddedFiles: '1',
        numAddedBytes: String(size),
        numRemovedFiles: '4',
        numRemovedBytes: String(sum(sizes)),
        numDeletionVectorsRemoved: '0',
        minFileSize: String(size),
        p25FileSize: String(size),
        p50FileSize: String(size),
        p75FileSize: String(size),
        maxFileSize: String(size),
      });
      for (const action of bench().commit(name, 4))
        for (const kind of ['add', 'remove']) expect(action[kind]?.['dataChange'] ?? false).toBe(false);
      await bench().agree(name);
    }
  });

  it('B11: with nothing to do there is a row of zeros and no version', async () => {
    await fill('idle', 1);
    const [row] = await bench().sql(`OPTIMIZE ${bench().at('idle')}`);
    expect(row).toMatchObject({
      metrics: {
        numFilesAdded: 0n,
        numFilesRemoved: 0n,
        filesAdded: noSizes,
        filesRemoved: noSizes,
        partitionsOptimized: 0n,
        numBatches: 0n,
        totalConsideredFiles: 1n,
        totalFilesSkipped: 1n,
      },
    });
    expect(await bench().version('idle')).toBe(0);
  });

  it('B11: the result has the columns and members of the reference engine', async () => {
    await fill('shape', 1);
    const frame = await (await tableAt('shape')).optimize().executeCompaction();
    const [path, metrics] = (await frame.schema).fields;
    expect(path).toMatchObject({ name: 'path', type: { kind: 'string' } });
    expect(metrics?.type.kind === 'struct' ? metrics.type.fields.map((field) => field.name) : []).toEqual([
      ...['numFilesAdded', 'numFilesRemoved', 'filesAdded', 'filesRemoved', 'partitionsOptimized', 'zOrderStats', 'clusteringStats'],
      ...['numBins', 'numBatches', 'totalConsideredFiles', 'totalFilesSkipped', 'preserveInsertionOrder'],
      ...['numFilesSkippedToReduceWriteAmplification', 'numBytesSkippedToReduceWriteAmplification', 'startTimeMs', 'endTimeMs'],
      ...['totalClusterParallelism', 'totalScheduledTasks', 'autoCompactParallelismStats', 'deletionVectorStats'],
      ...['numTableColumns', 'numTableColumnsWithStats'],
    ]);
  });

  it('B11: WHERE over partition columns chooses the partitions, SQL and DeltaTable', async () => {
    await fill('where', 3, { partitionBy: 'p' });
    const [row] = await bench().sql(`OPTIMIZE ${bench().at('where')} WHERE p = 1`);
    expect(row).toMatchObject({ metrics: { numFilesAdded: 1n, numFilesRemoved: 3n, partitionsOptimized: 1n, totalConsideredFiles: 3n } });
    expect(parameters(await bench().lastEntry('where'))).toMatchObject({ predicate: `["(p = 1)"]` });
    const [rest] = await (await (await tableAt('where')).optimize().where('p >= 0').where('p < 1').executeCompaction()).collect();
    expect(rest).toMatchObject({ metrics: { numFilesAdded: 1n, numFilesRemoved: 3n } });
    expect(await bench().rows('where')).toHaveLength(30);
    await bench().agree('where');
    const refusal = await refusalOf(bench().sql(`OPTIMIZE ${bench().at('where')} WHERE id = 1`));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_NON_PARTITION_COLUMN_REFERENCE', sqlState: '42P10' });
    expect(refusal.message).toBe("Predicate references non-partition column 'id'. Only the partition columns may be referenced: [p]");
  });

  it('B11: files are put together up to the target size', async () => {
    await fill('bins', 6);
    const [size = 0] = addedSizes('bins', 0);
    await bench().sql(`SET spark.databricks.delta.optimize.maxFileSize = ${Math.floor(size * 3.5)}`);
    const [row] = await bench()
      .sql(`OPTIMIZE ${bench().at('bins')}`)
      .finally(() => bench().sql('RESET spark.databricks.delta.optimize.maxFileSize'));
    expect(row).toMatchObject({ metrics: { numFilesAdded: 2n, numFilesRemoved: 6n, numBins: 2n } });
    await bench().agree('bins');
  });

  it('B11: Z-order puts rows that are near one another into the same files, SQL and DeltaTable', async () => {
    const { session, path, at, sql, agree } = bench();
    const points = session.range(40_000).selectExpr('id', 'id % 200 AS x', '(id * 7919) % 200 AS y', 'md5(CAST(id AS STRING)) AS text');
    const zOrder = {
      zordered: async () => (await (await tableAt('zordered')).optimize().executeZOrderBy('x', 'y')).collect(),
      'zordered-sql': () => sql(`OPTIMIZE ${at('zordered-sql')} ZORDER BY (x, y)`),
    };
    session.conf.set('spark.databricks.delta.optimize.maxFileSize', '100kb');
    for (const [name, optimize] of Object.entries(zOrder)) {
      await points.write.format('delta').save(path(name));
      const sizes = addedSizes(name, 0);
      const [row] = await optimize();
      const read = await filesRead(session.read.format('delta').load(path(name)).where('x < 20 AND y < 20'));
      const added = addedSizes(name, 1).length;
      expect(added).toBeGreaterThan(3);
      expect(read).toBeLessThan(added);
      const files = { num: BigInt(sizes.length), size: BigInt(sum(sizes)) };
      expect(row).toMatchObject({
        metrics: {
          numFilesAdded: BigInt(added),
          numFilesRemoved: BigInt(sizes.length),
          zOrderStats: {
            strategyName: 'all',
            inputCubeFiles: { num: 0n, size: 0n },
            inputOtherFiles: files,
            inputNumCubes: 0n,
            mergedFiles: files,
            numOutputCubes: 1n,
            mergedNumCubes: null,
          },
        },
      });
      expect(parameters(await bench().lastEntry(name))).toEqual({ predicate: '[]', zOrderBy: '["x","y"]', clusterBy: '[]', auto: 'false' });
      expect(await session.read.format('delta').load(path(name)).count()).toBe(40_000);
    }
    session.conf.unset('spark.databricks.delta.optimize.maxFileSize');
    await agree('zordered-sql');
  });

  it('B11: WHERE and ZORDER BY together; columns that it cannot use are refused', async () => {
    await fill('both', 2, { partitionBy: 'p' });
    const [row] = await bench().sql(`OPTIMIZE ${bench().at('both')} WHERE p = 1 ZORDER BY id`);
    expect(row).toMatchObject({ metrics: { numFilesAdded: 1n, numFilesRemoved: 2n, zOrderStats: { numOutputCubes: 1n } } });
    await bench().agree('both');
    for (const [column, errorClass, sqlState, message] of [
      ['nope', 'DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST', '42703', 'Z-Ordering column nope does not exist in data schema.'],
      ['p', 'DELTA_ZORDERING_ON_PARTITION_COLUMN', '42P10', 'p is a partition column. Z-Ordering can only be performed on data columns'],
    ] as const) {
      expect(await refusalOf(bench().sql(`OPTIMIZE ${bench().at('both')} ZORDER BY (${column})`))).toMatchObject({
        errorClass,
        sqlState,
        message,
      });
      expect(await refusalOf(async () => (await tableAt('both')).optimize().executeZOrderBy(column))).toMatchObject({ errorClass });
    }
    expect(await bench().version('both')).toBe(2);
  });

  it('B11: deletion vectors are written away, by OPTIMIZE and by REORG', async () => {
    const { sql, at, rows, agree } = bench();
    for (const [name, text, operation] of [
      ['dv-optimize', `OPTIMIZE ${at('dv-optimize')}`, 'OPTIMIZE'],
      ['dv-reorg', `REORG TABLE ${at('dv-reorg')} APPLY (PURGE)`, 'REORG'],
    ] as const) {
      await fill(name, 1, { properties: { 'delta.enableDeletionVectors': 'true' } });
      await sql(`DELETE FROM ${at(name)} WHERE id IN (1, 2, 3)`);
      const [row] = await sql(text);
      expect(row).toMatchObject({
        metrics: {
          numFilesAdded: 1n,
          numFilesRemoved: 1n,
          deletionVectorStats: { numDeletionVectorsRemoved: 1n, numDeletionVectorRowsRemoved: 3n },
        },
      });
      const entry = await bench().lastEntry(name);
      expect(entry['operation']).toBe(operation);
      expect(metricsOf(entry)).toMatchObject({ numDeletionVectorsRemoved: '1' });
      expect((await rows(name)).map(({ id }) => id)).toEqual([0n, 4n, 5n, 6n, 7n, 8n, 9n]);
      await agree(name);
    }
  });

  it('B11: by name, by path, and what is no table', async () => {
    await bench().session.range(3).write.saveAsTable('optimized');
    await bench().session.range(3).write.mode('append').saveAsTable('optimized');
    const [row] = await bench().sql('OPTIMIZE optimized');
    expect(row).toMatchObject({ metrics: { numFilesAdded: 1n, numFilesRemoved: 2n } });
    await bench().agree('warehouse/optimized');
    expect(await bench().sql(`OPTIMIZE '${bench().path('warehouse/optimized')}'`)).toHaveLength(1);
    expect(await refusalOf(bench().sql('OPTIMIZE no_such_table'))).toMatchObject({
      errorClass: 'TABLE_OR_VIEW_NOT_FOUND',
      sqlState: '42P01',
    });
  });

  /** A table of so many appends of ten rows. */
  async function fill(
    name: string,
    appends: number,
    { partitionBy, properties = {} }: { readonly partitionBy?: string; readonly properties?: Readonly<Record<string, string>> } = {},
  ): Promise<void> {
    const { session, path } = bench();
    for (let append = 0; append < appends; append += 1) {
      const writer = session
        .range(append * 10, append * 10 + 10)
        .selectExpr('id', 'CAST(id % 2 AS INT) AS p')
        .write.format('delta')
        .options(append === 0 ? properties : {});
      await (partitionBy === undefined ? writer : writer.partitionBy(partitionBy)).mode('append').save(path(name));
    }
  }

  function tableAt(name: string): Promise<DeltaTable> {
    return DeltaTable.forPath(bench().session, bench().path(name));
  }

  function addedSizes(name: string, ...versions: readonly number[]): readonly number[] {
    const actions = versions.flatMap((version) => bench().commit(name, version));
    return actions.flatMap(({ add }) => (add === undefined ? [] : [Number(add['size'])]));
  }
});

async function filesRead(frame: DataFrame): Promise<number> {
  return (await frame.explanation()).tables[0]?.filesSelected ?? -1;
}

function sum(values: readonly number[]): number {
  return values.reduce((left, right) => left + right, 0);
}
