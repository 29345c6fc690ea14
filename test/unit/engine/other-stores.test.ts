import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { DuckdbEngine } from '../../../src/engine/duckdb-engine.ts';
import type { ParquetTarget, WrittenFile } from '../../../src/engine/engine.ts';
import { parquetPlace } from '../../../src/engine/write/parquet-place.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { MemoryObjectStore } from '../../../src/storage/memory-object-store.ts';
import type { FileScan } from '../../../src/table/scan.ts';
import { listed } from '../../conformance/object-store.ts';
import { FaultyObjectStore } from '../../support/faulty-object-store.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';

const clock = new SystemClock();
const memory = new MemoryObjectStore({ name: 'table', clock });
const store = new FaultyObjectStore(memory, { clock, random: new SystemRandom() });
const schema: StructType = { kind: 'struct', fields: [{ name: 'id', type: { kind: 'long' }, nullable: true }] };
let directory: string;
let engine: DuckdbEngine;

beforeAll(async () => {
  directory = temporaryDirectory('engine-stores');
  engine = await DuckdbEngine.open({
    memoryLimitBytes: 128 << 20,
    threads: 1,
    temporaryDirectory: directory,
    fileCacheBytes: 100_000,
    openStore: () => store,
    ids: new RandomIdSource(new SystemRandom()),
  });
});
afterAll(async () => {
  await engine.close();
  removeDirectory(directory);
});

function write(name: string, rows: number): Promise<readonly WrittenFile[]> {
  const sql = `SELECT range::BIGINT AS id, (range % 3)::VARCHAR AS p FROM range(${rows})`;
  const fields = [...schema.fields, { name: 'p', type: { kind: 'string' }, nullable: true } as const];
  const target: ParquetTarget = {
    ...parquetPlace(store),
    pathOf: ({ partitionValues }) => `${name}/p=${partitionValues[0] ?? ''}/part.parquet`,
    partitionBy: ['p'],
    compression: 'zstd',
  };
  return engine.writeParquet({ sql, schema: { kind: 'struct', fields } }, target);
}

function scanOf(files: readonly { readonly path: string; readonly sizeBytes: number }[], readRange?: FileScan['readRange']): FileScan {
  return {
    schema,
    storedColumns: schema.fields.map((field) => ({ field, match: { by: 'name', name: field.name }, storedType: field.type })),
    partitionColumns: [],
    files: files.map((file) => ({ ...file, rowCount: undefined, partitionValues: {} })),
    readRange,
    statistics: { filesConsidered: 0, bytesConsidered: 0, filesSelected: 0, bytesSelected: 0 },
  };
}

async function sumOf(scan: FileScan): Promise<unknown> {
  const relation = await engine.scan(scan);
  try {
    return (await engine.rows(`SELECT sum(id)::BIGINT FROM (${relation.sql})`))[0]?.[0];
  } finally {
    await relation.dispose();
  }
}

/** Directories and files of the engine that are not copies. */
async function leftovers(): Promise<readonly string[]> {
  const [own = ''] = await readdir(directory);
  return (await readdir(join(directory, own))).filter((name) => name !== 'copies');
}

describe('an engine over a store that is no file system', () => {
  it('writes files there and reads them again, each fetched once', async () => {
    const written = await write('a', 300);
    expect(written.map(({ path, rowCount }) => [path, rowCount]).toSorted()).toEqual([
      ['a/p=0/part.parquet', 100],
      ['a/p=1/part.parquet', 100],
      ['a/p=2/part.parquet', 100],
    ]);
    for (const { path, sizeBytes } of written) expect(await store.head(path)).toMatchObject({ sizeBytes });
    expect(await leftovers()).toEqual([]);
    const before = store.calls.get('read') ?? 0;
    const files = written.map(({ path, sizeBytes }) => ({ path: `memory://table/${path}`, sizeBytes }));
    const scan = scanOf(files, (path, range, signal) => store.readRange(path.replace('memory://table/', ''), range, signal));
    expect(await sumOf(scan)).toBe(44_850n);
    expect(await sumOf(scan)).toBe(44_850n);
    expect((store.calls.get('read') ?? 0) - before).toBe(3);
  });

  it('leaves nothing behind when a file cannot be put', async () => {
    store.failNext('put', 'after', 'b/p=1');
    await expect(write('b', 300)).rejects.toMatchObject({ code: 'STORAGE_OUTCOME_UNKNOWN' });
    expect(await listed(memory, 'b/')).toEqual([]);
    expect(await leftovers()).toEqual([]);
  });

  it('says that a file is gone, and does not keep half a scan', async () => {
    const [file] = await write('c', 3);
    const there = { path: `memory://table/${file?.path ?? ''}`, sizeBytes: file?.sizeBytes ?? 0 };
    const gone = { path: 'memory://table/c/gone.parquet', sizeBytes: 10 };
    const scan = scanOf([there, gone], (path, range) => store.readRange(path.replace('memory://table/', ''), range));
    await expect(engine.scan(scan)).rejects.toMatchObject({ code: 'ENGINE_FILE_MISSING', kind: 'not-found' });
  });

  it('opens what no table vouches for itself, and sees when it was replaced', async () => {
    await store.put('plain.parquet', await store.read('a/p=0/part.parquet'));
    const plain = scanOf([{ path: 'memory://table/plain.parquet', sizeBytes: 0 }]);
    expect(await sumOf(plain)).toBe(14_850n);
    await store.put('plain.parquet', await store.read('c/p=1/part.parquet'));
    expect(await sumOf(plain)).toBe(1n);
    await expect(sumOf(scanOf([{ path: 'memory://table/none.parquet', sizeBytes: 0 }]))).rejects.toMatchObject({
      code: 'ENGINE_FILE_MISSING',
    });
  });

  it('refuses what is larger than the room for copies, and says how to raise it', async () => {
    const scan = scanOf([{ path: 'memory://table/large.parquet', sizeBytes: 100_001 }], () => Promise.resolve(new Uint8Array()));
    await expect(engine.scan(scan)).rejects.toMatchObject({
      code: 'STORAGE_CACHE_FULL',
      hint: expect.stringContaining('tidewater.engine.fileCacheSize') as string,
    });
  });
});
