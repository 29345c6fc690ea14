import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { inertFailpoint } from '../../../src/base/failpoint.ts';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { readParquet } from '../../../src/codec/parquet/read-parquet.ts';
import { rowsOf } from '../../../src/codec/rows.ts';
import { type WriteDataFilesTask, writeDataFiles } from '../../../src/commit/file-writer.ts';
import type { DataType, StructType } from '../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { ObjectInfo } from '../../../src/storage/object-store.ts';
import type { WriteSpec } from '../../../src/table/staged-file.ts';
import { StepClock } from '../../support/step-clock.ts';

const clock = new StepClock(Date.UTC(2026, 0, 2));
const schemaOf = (partition: DataType, nullable = true): StructType => ({
  kind: 'struct',
  fields: [
    { name: 'p', type: partition, nullable },
    { name: 'n', type: { kind: 'long' }, nullable: false },
  ],
});

function taskFor(
  schema: StructType,
  rows: readonly InputRow[],
  overrides: Partial<WriteSpec> = {},
): WriteDataFilesTask & { store: MemoryObjectStore } {
  return {
    batch: buildBatch(schema, rows),
    spec: {
      location: 'memory://t',
      schema,
      partitionColumns: ['p'],
      partitionColumnsInFile: false,
      compression: 'zstd',
      partitionPathStyle: 'hive-delta',
      statisticsColumns: 32,
      ...overrides,
    },
    store: new MemoryObjectStore({ name: 't', clock }),
    fileNameStem: 'stem',
    clock,
    failpoint: inertFailpoint,
  };
}

describe('writing data files', () => {
  it('an unpartitioned batch becomes one file with its rows, size and statistics', async () => {
    const schema = schemaOf({ kind: 'string' });
    const task = taskFor(
      schema,
      [
        { p: 'b', n: 1 },
        { p: 'a', n: 2 },
      ],
      { partitionColumns: [] },
    );
    const { files } = await writeDataFiles(task);
    const bytes = await task.store.read('part-00000-stem.c000.zstd.parquet');
    expect(files).toEqual([
      {
        path: 'part-00000-stem.c000.zstd.parquet',
        partitionValues: {},
        sizeBytes: bytes.length,
        rowCount: 2,
        modifiedMs: Date.UTC(2026, 0, 2),
        statistics: [
          { path: ['p'], nullCount: 0, min: 'a', max: 'b' },
          { path: ['n'], nullCount: 0, min: 1n, max: 2n },
        ],
      },
    ]);
    expect([...rowsOf((await readParquet(bytes)).batches)]).toEqual([
      { p: 'b', n: 1n },
      { p: 'a', n: 2n },
    ]);
  });

  it('a partitioned batch becomes one file per value, rows in order, without the partition column', async () => {
    const rows = [
      { p: 'x', n: 1 },
      { p: null, n: 2 },
      { p: 'y/%', n: 3 },
      { p: 'x', n: 4 },
    ];
    const task = taskFor(schemaOf({ kind: 'string' }), rows);
    const { files } = await writeDataFiles(task);
    const contents = await Promise.all(
      files.map(async (file) => [
        file.path,
        file.partitionValues['p'],
        [...rowsOf((await readParquet(await task.store.read(file.path))).batches)],
      ]),
    );
    expect(contents).toEqual([
      ['p=x/part-00000-stem.c000.zstd.parquet', 'x', [{ n: 1n }, { n: 4n }]],
      ['p=__HIVE_DEFAULT_PARTITION__/part-00001-stem.c000.zstd.parquet', undefined, [{ n: 2n }]],
      ['p=y%2F%25/part-00002-stem.c000.zstd.parquet', 'y/%', [{ n: 3n }]],
    ]);
  });

  it('partition columns stay in the file where the format keeps them', async () => {
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: 'x', n: 1 }], { partitionColumnsInFile: true });
    const { files } = await writeDataFiles(task);
    const read = await readParquet(await task.store.read(files[0]?.path ?? ''));
    expect([...rowsOf(read.batches)]).toEqual([{ p: 'x', n: 1n }]);
  });

  it('no rows, no file', async () => {
    expect((await writeDataFiles(taskFor(schemaOf({ kind: 'string' }), []))).files).toEqual([]);
  });

  it.each<[DataType, InputRow['p'], string, string]>([
    [{ kind: 'long' }, 2n ** 53n + 1n, '9007199254740993', 'p=9007199254740993'],
    [{ kind: 'boolean' }, false, 'false', 'p=false'],
    [{ kind: 'date' }, -1, '1969-12-31', 'p=1969-12-31'],
    [{ kind: 'date' }, -719_162, '0001-01-01', 'p=0001-01-01'],
    [{ kind: 'decimal', precision: 20, scale: 3 }, '12', '12.000', 'p=12.000'],
    [{ kind: 'double' }, -0, '-0.0', 'p=-0.0'],
    [{ kind: 'timestamp' }, -1n, '1969-12-31T23:59:59.999999Z', 'p=1969-12-31T23%3A59%3A59.999999Z'],
    [{ kind: 'timestamp_ntz' }, 31_500_000_000n, '1970-01-01 08:45:00', 'p=1970-01-01 08%3A45%3A00'],
    [{ kind: 'string' }, '/%20%f', '/%20%f', 'p=%2F%2520%25f'],
  ])('spells a partition value as Delta does: case %#', async (type, value, text, directory) => {
    const { files } = await writeDataFiles(taskFor(schemaOf(type), [{ p: value, n: 1 }]));
    expect(files.map((file) => [file.partitionValues['p'], file.path.split('/')[0]])).toEqual([[text, directory]]);
  });

  it('a value too long for a directory name is whole in the log and cut in the path', async () => {
    const value = 'ü'.repeat(300);
    const { files } = await writeDataFiles(taskFor(schemaOf({ kind: 'string' }), [{ p: value, n: 1 }]));
    expect(files[0]?.partitionValues['p']).toBe(value);
    expect(Buffer.byteLength(files[0]?.path.split('/')[0] ?? '')).toBeLessThanOrEqual(200);
  });

  it.each([null, ''])('refuses %j in a required partition column, since the log would make it null', async (value) => {
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: value, n: 1 }]);
    const required = schemaOf({ kind: 'string' }, false);
    await expect(
      writeDataFiles({ ...task, batch: { ...task.batch, schema: required }, spec: { ...task.spec, schema: required } }),
    ).rejects.toMatchObject({ code: 'PARTITION_VALUE_MISSING' });
  });

  it('refuses binary partition columns and more than ten thousand partitions', async () => {
    await expect(writeDataFiles(taskFor(schemaOf({ kind: 'binary' }), [{ p: Uint8Array.of(1), n: 1 }]))).rejects.toMatchObject({
      code: 'PARTITION_TYPE_UNSUPPORTED',
    });
    const rows = Array.from({ length: 10_001 }, (_, index) => ({ p: index, n: index }));
    await expect(writeDataFiles(taskFor(schemaOf({ kind: 'integer' }), rows))).rejects.toMatchObject({ code: 'TOO_MANY_PARTITIONS' });
  });

  it('refuses a table whose columns all are partition columns', async () => {
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: 'x', n: 1 }], { partitionColumns: ['p', 'n'] });
    await expect(writeDataFiles(task)).rejects.toMatchObject({ code: 'PARTITION_COLUMNS_ALL' });
  });

  it('a file that arrived short is an error, not a staged file', async () => {
    class ShortStore extends MemoryObjectStore {
      override async head(path: string): Promise<ObjectInfo | undefined> {
        const info = await super.head(path);
        return info === undefined ? undefined : { ...info, sizeBytes: info.sizeBytes - 1 };
      }
    }
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: 'x', n: 1 }]);
    await expect(writeDataFiles({ ...task, store: new ShortStore({ name: 't', clock }) })).rejects.toMatchObject({
      code: 'STAGED_FILE_INCOMPLETE',
    });
  });

  it('passes the failpoints before and after each put', async () => {
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: 'x', n: 1 }]);
    const passed: string[] = [];
    const failpoint: WriteDataFilesTask['failpoint'] = async (name) => {
      passed.push(`${name} ${(await task.store.head('p=x/part-00000-stem.c000.zstd.parquet')) === undefined ? 'absent' : 'present'}`);
    };
    await writeDataFiles({ ...task, failpoint });
    expect(passed).toEqual(['before-data-file absent', 'within-data-files present']);
  });

  it('waits for the puts in flight before it reports the first error', async () => {
    const task = taskFor(schemaOf({ kind: 'string' }), [
      { p: 'x', n: 1 },
      { p: 'y', n: 2 },
    ]);
    let calls = 0;
    const failpoint: WriteDataFilesTask['failpoint'] = async (name) => {
      calls += 1;
      if (calls === 1 && name === 'before-data-file') throw new ServiceError({ code: 'BROKEN', kind: 'internal', message: 'broken' });
      await Promise.resolve();
    };
    await expect(writeDataFiles({ ...task, failpoint })).rejects.toMatchObject({ code: 'BROKEN' });
    expect(await task.store.head('p=y/part-00001-stem.c000.zstd.parquet')).toBeDefined();
  });

  it('stops between files when cancelled', async () => {
    const task = taskFor(schemaOf({ kind: 'string' }), [{ p: 'x', n: 1 }]);
    await expect(writeDataFiles({ ...task, signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: 'aborted' });
  });
});

describe('a write that is cancelled', () => {
  // A put failed while the file after it was being encoded; nobody had begun to wait for the put, and the process ended.
  it('reports the failure once, to its caller only', async () => {
    const task = taskFor(
      schemaOf({ kind: 'string' }),
      ['a', 'b', 'c'].map((p) => ({ p, n: 1 })),
    );
    const stop = new AbortController();
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => {
      unhandled.push(reason);
    };
    process.on('unhandledRejection', note);
    const failpoint = (name: string): Promise<void> => {
      if (name === 'before-data-file') stop.abort();
      return Promise.resolve();
    };
    await expect(writeDataFiles({ ...task, failpoint, signal: stop.signal })).rejects.toMatchObject({ kind: 'aborted' });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
