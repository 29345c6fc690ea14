import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DeletionVector } from '../../../../src/delta/actions.ts';
import { deletionVectorPath } from '../../../../src/delta/deletion-vectors/deletion-vector-path.ts';
import { positionsWithout } from '../../../../src/delta/deletion-vectors/position-sets.ts';
import { readDeletionVector } from '../../../../src/delta/deletion-vectors/read-deletion-vector.ts';
import { encodeVector } from '../../../../src/delta/deletion-vectors/vector-bytes.ts';
import { writeDeletionVectors } from '../../../../src/delta/deletion-vectors/write-deletion-vectors.ts';
import { decodeZ85, encodeZ85 } from '../../../../src/delta/deletion-vectors/z85.ts';
import { tablePlace } from '../../../../src/delta/files/table-place.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { openObjectStore } from '../../../../src/storage/open-object-store.ts';
import { StepClock } from '../../../support/step-clock.ts';

const positions = (...values: readonly number[]): BigInt64Array => BigInt64Array.from(values.map(BigInt));

describe('deletion vectors', () => {
  let store: MemoryObjectStore;
  const ids = new RandomIdSource(new SeededRandom(7));
  const read = (vector: DeletionVector, rows?: number) => {
    const place = tablePlace({ name: 't', store, openStore: undefined, outside: () => outside });
    return readDeletionVector({ name: 't', store, place: { ...place, isLocal: true } }, { vector, rows });
  };
  let outside: readonly string[] = [];

  beforeEach(() => {
    store = new MemoryObjectStore({ name: 'dv', clock: new StepClock() });
  });

  const writeOne = async (values: BigInt64Array): Promise<DeletionVector> => {
    const [vector] = await writeDeletionVectors({ store, ids }, [{ positions: values }]);
    if (vector === undefined) throw new Error('one vector was written');
    return vector;
  };

  /** The vector of the file with one byte of it changed. */
  const damage = async (vector: DeletionVector, at: number): Promise<void> => {
    const path = deletionVectorPath(vector) ?? '';
    const bytes = Uint8Array.from(await store.read(path));
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    await store.put(path, bytes);
  };

  it('come back from one file that holds several', async () => {
    const all = [positions(0), positions(), positions(1, 2, 3, 70_000), positions(5_000_000_000)];
    const vectors = await writeDeletionVectors(
      { store, ids },
      all.map((each) => ({ positions: each })),
    );
    expect(new Set(vectors.map((vector) => deletionVectorPath(vector))).size).toBe(1);
    expect(vectors.map(({ storageType, offset, cardinality }) => [storageType, offset, cardinality])).toMatchObject([
      ['u', 1, 1],
      ['u', expect.any(Number), 0],
      ['u', expect.any(Number), 4],
      ['u', expect.any(Number), 1],
    ]);
    for (const [index, vector] of vectors.entries()) expect(await read(vector)).toEqual(all[index]);
    expect(deletionVectorPath(vectors[0] ?? (await writeOne(positions(1))))).toMatch(/^deletion_vector_[0-9a-f-]{36}\.bin$/);
  });

  it('start another file when one is full', async () => {
    const large = BigInt64Array.from({ length: 1_500_000 }, (_, index) => BigInt(index * 3));
    const vectors = await writeDeletionVectors(
      { store, ids },
      Array.from({ length: 5 }, () => ({ positions: large })),
    );
    expect(new Set(vectors.map((vector) => deletionVectorPath(vector))).size).toBe(2);
    expect((await read(vectors[4] ?? (await writeOne(positions()))))[1_499_999]).toBe(4_499_997n);
  });

  it('write nothing when there is nothing to write', async () => {
    expect(await writeDeletionVectors({ store, ids }, [])).toEqual([]);
    for await (const { path } of store.list({ prefix: '' })) expect(path).toBe('none');
  });

  it('are read inline as other writers put them', async () => {
    const vector = {
      storageType: 'i',
      pathOrInlineDv: '^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9',
      sizeInBytes: 40,
      cardinality: 4,
    };
    expect(await read(vector)).toEqual(positions(0, 1, 4, 5));
    const bytes = encodeVector(positions(3, 9));
    const inline = { storageType: 'i', pathOrInlineDv: encodeZ85(bytes), sizeInBytes: bytes.length, cardinality: 2 };
    expect(await read(inline)).toEqual(positions(3, 9));
  });

  it('are read at an absolute place, as shallow clones name them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tidewater-dv ü-'));
    const [vector] = await writeDeletionVectors({ store: openObjectStore(directory), ids }, [{ positions: positions(1, 2) }]);
    const path = join(directory, vector === undefined ? '' : (deletionVectorPath(vector) ?? ''));
    const absolute: DeletionVector = {
      storageType: 'p',
      offset: 1,
      cardinality: 2,
      sizeInBytes: vector?.sizeInBytes ?? 0,
      pathOrInlineDv: pathToFileURL(path).href,
    };
    const refused = { code: 'FILE_OUTSIDE_TABLE', hint: expect.stringContaining('tidewater.delta.allowedLocations') as string };
    await expect(read(absolute)).rejects.toMatchObject(refused);
    await expect(read({ ...absolute, pathOrInlineDv: 's3://b/x.bin' })).rejects.toMatchObject(refused);
    outside = [directory];
    expect(await read(absolute)).toEqual(positions(1, 2));
    await rm(directory, { recursive: true });
    await expect(read(absolute)).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_MISSING' });
    await expect(read({ ...absolute, pathOrInlineDv: 'hdfs://b/x.bin' })).rejects.toMatchObject({
      code: 'DELTA_DELETION_VECTOR_UNSUPPORTED',
    });
  });

  it('tell what is wrong with them', async () => {
    const vector = await writeOne(positions(1, 2, 3));
    await expect(read({ ...vector, cardinality: 4 })).rejects.toMatchObject({
      code: 'DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH',
      kind: 'corrupt',
    });
    await expect(read({ ...vector, sizeInBytes: 6 })).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_SIZE_MISMATCH' });
    await expect(read({ ...vector, sizeInBytes: 9999 })).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_SIZE_MISMATCH' });
    await expect(read({ ...vector, offset: 2 })).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_SIZE_MISMATCH' });
    for (const storageType of ['u', 'i'])
      await expect(read({ ...vector, storageType, pathOrInlineDv: '~'.repeat(20) })).rejects.toMatchObject({
        code: 'DELTA_DELETION_VECTOR_CORRUPT',
        message: expect.stringMatching(/^deletion vector of table "/) as string,
      });
    await expect(read({ ...vector, storageType: 'i' })).rejects.toMatchObject({ kind: 'corrupt' });
    await damage(vector, 30);
    await expect(read(vector)).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH', kind: 'corrupt' });
    await store.delete(deletionVectorPath(vector) ?? '');
    await expect(read(vector)).rejects.toMatchObject({ code: 'DELTA_DELETION_VECTOR_MISSING', kind: 'not-found' });
  });

  it('reach no further than the rows of their file, which is told before memory is taken for them', async () => {
    const vector = await writeOne(positions(0, 1));
    expect(await read(vector, 2)).toEqual(positions(0, 1));
    const code = 'DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH';
    await expect(read(vector, 1)).rejects.toMatchObject({ code, message: expect.stringContaining('2 positions') as string });
    await expect(read(await writeOne(positions(0, 5)), 5)).rejects.toMatchObject({ code });
    const many = await writeOne(BigInt64Array.from({ length: 3_000_000 }, (_, index) => BigInt(index)));
    const before = process.memoryUsage().arrayBuffers;
    await expect(read(many, 2)).rejects.toMatchObject({ code, message: expect.stringContaining('the 2 rows') as string });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16_000_000);
  });

  it('never lead out of the table', async () => {
    const vector = await writeOne(positions(1));
    await expect(read({ ...vector, pathOrInlineDv: `../up${vector.pathOrInlineDv}` })).rejects.toMatchObject({
      code: 'STORAGE_PATH_INVALID',
    });
  });
});

describe('Z85', () => {
  it('is the encoding of its specification', () => {
    const bytes = Uint8Array.of(0x86, 0x4f, 0xd2, 0x6f, 0xb5, 0x59, 0xf7, 0x5b);
    expect(encodeZ85(bytes)).toBe('HelloWorld');
    expect(decodeZ85('HelloWorld')).toEqual(bytes);
  });

  it.each(['Hell', 'Hello ', '#####', 'Hell~'])('refuses %s', (text) => {
    expect(() => decodeZ85(text)).toThrow(expect.objectContaining({ code: 'DELTA_DELETION_VECTOR_CORRUPT' }));
  });
});

describe('position sets', () => {
  it('are taken from each other', () => {
    const [left, right] = [positions(1, 3, 5, 7), positions(0, 3, 7, 9)];
    expect(positionsWithout(left, right)).toEqual(positions(1, 5));
    expect(positionsWithout(left, positions())).toEqual(left);
  });
});
