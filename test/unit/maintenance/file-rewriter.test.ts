import { describe, expect, it } from 'vitest';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { readParquet } from '../../../src/codec/parquet/read-parquet.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import { rowsOf } from '../../../src/codec/rows.ts';
import { maxRewriteBytes, ParquetFileRewriter } from '../../../src/maintenance/file-rewriter.ts';
import type { Field, StructType } from '../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { FileToRewrite } from '../../../src/table/operations.ts';
import type { WriteSpec } from '../../../src/table/staged-file.ts';
import { intercepted } from '../../support/intercepted-store.ts';
import { StepClock } from '../../support/step-clock.ts';

const field = (name: string, kind: 'long' | 'string' | 'double', nullable = true): Field => ({ name, type: { kind }, nullable });
const struct = (...fields: readonly Field[]): StructType => ({ kind: 'struct', fields });
const schema = struct(field('id', 'long', false), field('day', 'string'), field('name', 'string'), field('price', 'double'));
const inFile = struct(field('id', 'long', false), field('name', 'string'), field('price', 'double'));
const spec: WriteSpec = {
  location: 'memory://orders',
  schema,
  partitionColumns: ['day'],
  partitionColumnsInFile: false,
  compression: 'zstd',
  partitionPathStyle: 'hive-delta',
  statisticsColumns: 32,
};

function arrange() {
  const store = new MemoryObjectStore({ name: 'orders', clock: new StepClock() });
  const rewriter = new ParquetFileRewriter({ openStore: () => store });
  const file = async (path: string, type: StructType, rows: readonly InputRow[]): Promise<FileToRewrite> => {
    const bytes = await writeParquet([buildBatch(type, rows)], { compression: 'snappy' });
    await store.put(path, bytes);
    return { path, sizeBytes: bytes.length, rowCount: rows.length };
  };
  const rewrite = (inputs: readonly FileToRewrite[], from: ParquetFileRewriter = rewriter) =>
    from.rewrite({ spec, group: { partitionValues: { day: 'monday' }, inputs }, outputPath: 'day=monday/out.parquet' });
  return { store, file, rewrite };
}

describe('ParquetFileRewriter', () => {
  it('writes the rows of all inputs in order into one file, with statistics from the rows', async () => {
    const { store, file, rewrite } = arrange();
    const rows = [
      { id: 9007199254740993n, name: 'x', price: 1.5 },
      { id: 1n, name: null, price: Number.NaN },
      { id: 2n, name: 'ü', price: -2 },
    ];
    const staged = await rewrite([await file('a', inFile, rows.slice(0, 2)), await file('b', inFile, rows.slice(2))]);
    const bytes = await store.read('day=monday/out.parquet');
    expect([...rowsOf((await readParquet(bytes)).batches)]).toEqual(rows);
    expect(staged).toMatchObject({
      path: 'day=monday/out.parquet',
      partitionValues: { day: 'monday' },
      sizeBytes: bytes.length,
      rowCount: 3,
    });
    expect(staged.modifiedMs).toBe((await store.head('day=monday/out.parquet'))?.modifiedMs);
    const [id, name, price] = staged.statistics;
    expect(staged.statistics).toHaveLength(3);
    expect(id).toMatchObject({ path: ['id'], nullCount: 0, min: 1n, max: 9007199254740993n });
    expect(name).toMatchObject({ path: ['name'], nullCount: 1, min: 'x', max: 'ü' });
    expect(price?.min).toBeUndefined();
  });

  it('fills columns an older file lacks with nulls and drops columns the table does not have', async () => {
    const { store, file, rewrite } = arrange();
    const older = await file('a', struct(field('id', 'long', false)), [{ id: 1n }]);
    const newer = await file('b', struct(...inFile.fields, field('_change_type', 'string')), [
      { id: 2n, name: 'n', price: 3, _change_type: null },
    ]);
    await rewrite([older, newer]);
    const { schema: stored, batches } = await readParquet(await store.read('day=monday/out.parquet'));
    expect(stored.fields.map(({ name }) => name)).toEqual(['id', 'name', 'price']);
    expect([...rowsOf(batches)]).toEqual([
      { id: 1n, name: null, price: null },
      { id: 2n, name: 'n', price: 3 },
    ]);
  });

  it('writes a file without rows when no input has any', async () => {
    const { store, file, rewrite } = arrange();
    expect(await rewrite([await file('a', inFile, []), await file('b', inFile, [])])).toMatchObject({ rowCount: 0 });
    expect((await readParquet(await store.read('day=monday/out.parquet'))).batches).toEqual([]);
  });

  it('gives the same rows when it is repeated', async () => {
    const { store, file, rewrite } = arrange();
    const inputs = [await file('a', inFile, [{ id: 1n }]), await file('b', inFile, [{ id: 2n }])];
    await rewrite(inputs);
    const first = await store.read('day=monday/out.parquet');
    await rewrite(inputs);
    expect(await store.read('day=monday/out.parquet')).toEqual(first);
  });

  it('refuses an input that does not hold the rows the log promises, and writes nothing', async () => {
    const { store, file, rewrite } = arrange();
    const input = await file('a', inFile, [{ id: 1n }]);
    await expect(rewrite([{ ...input, rowCount: 2 }])).rejects.toMatchObject({ code: 'REWRITE_ROWS_DIFFER', kind: 'corrupt' });
    expect(await store.head('day=monday/out.parquet')).toBeUndefined();
  });

  it('reports an input that is gone', async () => {
    const { rewrite } = arrange();
    await expect(rewrite([{ path: 'a', sizeBytes: 1, rowCount: 1 }])).rejects.toMatchObject({
      code: 'STORAGE_NOT_FOUND',
      kind: 'not-found',
    });
  });

  it('refuses a group that does not fit into its memory', async () => {
    const { rewrite } = arrange();
    const half = { sizeBytes: maxRewriteBytes / 2 + 1, rowCount: undefined };
    await expect(
      rewrite([
        { path: 'a', ...half },
        { path: 'b', ...half },
      ]),
    ).rejects.toMatchObject({ code: 'REWRITE_TOO_LARGE' });
  });

  it('does not trust a store that took only part of the file', async () => {
    const { store, file, rewrite } = arrange();
    const cut = intercepted(store, { put: (path, bytes) => store.put(path, bytes.subarray(0, 10)) });
    const inputs = [await file('a', inFile, [{ id: 1n }])];
    await expect(rewrite(inputs, new ParquetFileRewriter({ openStore: () => cut }))).rejects.toMatchObject({
      code: 'STAGED_FILE_INCOMPLETE',
    });
  });
});
