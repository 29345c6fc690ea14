import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compactionDebt,
  groupsWithin,
  maxFilesPerBin,
  maxRowsPerBin,
  outputFiles,
  type Packable,
} from '../../../../src/rows/files/pack-files.ts';

const mib = 1 << 20;
const files = (...sizes: readonly number[]) =>
  sizes.map((sizeBytes, index) => ({ path: `part-${String(index).padStart(5, '0')}`, sizeBytes }));
const packBins = <File extends Packable>(
  some: readonly File[],
  rule: { readonly targetFileBytes: number; readonly minInputFiles: number },
) => compactionDebt(some, () => '', { ...rule, maxGroups: 1 }).groups;
const sizesOf = (bins: readonly (readonly { readonly sizeBytes: number }[])[]) => bins.map((bin) => bin.map((file) => file.sizeBytes));

const rule = { targetFileBytes: 100, minInputFiles: 2, maxGroups: 1 };

describe('what there is to compact', () => {
  it('puts the smallest files together first and starts a bin when the next file would exceed the target', () => {
    expect(sizesOf(packBins(files(40, 30, 20, 10, 35, 50), rule))).toEqual([
      [10, 20, 30, 35],
      [40, 50],
    ]);
  });

  it('leaves files of three quarters of the target size and more alone', () => {
    expect(sizesOf(packBins(files(75, 100, 101, 5, 6), rule))).toEqual([[5, 6]]);
  });

  it('leaves fewer files than asked for alone, unless they fill a file', () => {
    expect(packBins(files(1, 2, 3), { targetFileBytes: 100, minInputFiles: 4 })).toEqual([]);
    expect(sizesOf(packBins(files(40, 41, 42, 43, 44), { targetFileBytes: 100, minInputFiles: 4 }))).toEqual([
      [40, 41],
      [42, 43],
    ]);
  });

  it.each([
    { what: 'nine files of almost twice the target', sizeBytes: 190 },
    { what: 'files of the target size', sizeBytes: 100 },
    { what: 'files of which no two fit into one', sizeBytes: 74 },
  ])('finds nothing in $what', ({ sizeBytes }) => {
    const found = compactionDebt(files(...Array.from({ length: 9 }, () => sizeBytes)), () => '', rule);
    expect(found).toMatchObject({ partitionCount: 0, groups: [] });
  });

  it('leaves small files alone of which little is deleted, where it is asked for the others only', () => {
    const some = files(10, 11, 12, 13).map((file, index) => ({ ...file, rowCount: 10, deletedRows: [0, 5, 4, 9][index] }));
    const { groups, smallFileCount } = compactionDebt(some, () => '', { ...rule, maxDeletedShare: 0.5, onlyMuchDeleted: true });
    expect(sizesOf(groups)).toEqual([[11, 13]]);
    expect(smallFileCount).toBe(2);
  });

  it('rewrites a file of which much is deleted, alone if need be and whatever its size', () => {
    const some = [
      { path: 'large', sizeBytes: 10_000, rowCount: 10, deletedRows: 2 },
      { path: 'hardly', sizeBytes: 10_000, rowCount: 10, deletedRows: 1 },
      { path: 'small', sizeBytes: 10, rowCount: 10, deletedRows: 9 },
      { path: 'whole', sizeBytes: 10, rowCount: 10 },
    ];
    const groups = compactionDebt(some, ({ path }) => (path === 'whole' ? 'a' : 'b'), rule).groups;
    expect(groups.map((group) => group.map(({ path }) => path))).toEqual([['large'], ['small']]);
  });

  it('rewrites a file for as few deleted rows as it is told', () => {
    const some = [{ path: 'large', sizeBytes: 10_000, rowCount: 10, deletedRows: 2 }];
    const taken = [0.1, 0.2, 0.3].map((maxDeletedShare) => compactionDebt(some, () => '', { ...rule, maxDeletedShare }).groups.length);
    expect(taken).toEqual([1, 1, 0]);
  });

  it('puts large files whose keys begin near each other together where rows are kept in the order of a key, four at most', () => {
    const some = [70, 10, 50, 30, 90, 20].map((from) => ({ path: String(from), sizeBytes: 100, rowCount: 10, deletedRows: 5, from }));
    const { groups } = compactionDebt(some, () => '', rule, { keyFrom: ({ from }) => from });
    expect(groups.map((group) => group.map(({ path }) => path))).toEqual([
      ['10', '20', '30', '50'],
      ['70', '90'],
    ]);
    expect(groups.map((group) => outputFiles(group, rule))).toEqual([2, 1]);
  });

  it('plans no more files than asked for, and one group at least', () => {
    const groups = [{ parts: 3 }, { parts: 2 }, {}, { parts: 1 }];
    expect([1, 5, 6, 7, 8].map((maxGroups) => groupsWithin(groups, { ...rule, maxGroups }).length)).toEqual([1, 2, 3, 4, 4]);
  });

  it('takes a file that is out of proportion by itself when much of it is deleted', () => {
    const some = files(100 * mib, 1024, 1025, 1026).map((file) => ({ ...file, rowCount: 10, deletedRows: file.sizeBytes > mib ? 5 : 0 }));
    const groups = compactionDebt(some, () => '', { targetFileBytes: 160 * mib, minInputFiles: 2, maxGroups: 1 }).groups;
    expect(sizesOf(groups)).toEqual([[1024, 1025, 1026], [100 * mib]]);
  });

  it('comes to an end: what was put together is not taken again', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 60 }),
        fc.integer({ min: 2, max: 10 }),
        (sizes, minInputFiles) => {
          let left = files(...sizes);
          for (let run = 0; ; run += 1) {
            const taken = compactionDebt(left, () => '', { ...rule, minInputFiles }).groups;
            if (taken.length === 0) return;
            // Each run leaves fewer files.
            expect(run).toBeLessThan(sizes.length);
            const gone = new Set(taken.flat().map(({ path }) => path));
            const made = taken.map((group, index) => ({
              path: `made-${run}-${index}`,
              sizeBytes: group.reduce((sum, file) => sum + file.sizeBytes, 0),
            }));
            left = [...left.filter(({ path }) => !gone.has(path)), ...made];
          }
        },
      ),
    );
  });

  it('never makes a bin of a single file, whatever is asked for', () => {
    expect(packBins(files(1), { targetFileBytes: 100, minInputFiles: 0 })).toEqual([]);
    expect(packBins([], { targetFileBytes: 100, minInputFiles: 2 })).toEqual([]);
  });

  it('does not rewrite a large file for the sake of a few tiny ones', () => {
    const bins = packBins(files(100 * mib, 1024, 1025, 1026), { targetFileBytes: 128 * mib, minInputFiles: 2 });
    expect(sizesOf(bins)).toEqual([[1024, 1025, 1026]]);
  });

  it('merges small files of any proportion', () => {
    expect(sizesOf(packBins(files(900_000, 10), { targetFileBytes: 128 * mib, minInputFiles: 2 }))).toEqual([[10, 900_000]]);
  });

  it('bounds the rows of a bin, and takes a file of so many rows for large enough', () => {
    const rows = [maxRowsPerBin, maxRowsPerBin / 2, maxRowsPerBin / 2, 1, undefined];
    const some = files(1, 2, 3, 4, 5).map((file, index) => ({ ...file, rowCount: rows[index] }));
    expect(sizesOf(packBins(some, { targetFileBytes: 100, minInputFiles: 2 }))).toEqual([
      [2, 3],
      [4, 5],
    ]);
  });

  it('orders files of one size by path, so that the same files always give the same plan', () => {
    const [bin] = packBins([...files(5, 5, 5)].reverse(), { targetFileBytes: 100, minInputFiles: 2 });
    expect(bin?.map((file) => file.path)).toEqual(['part-00000', 'part-00001', 'part-00002']);
  });

  it('packs each file at most once, within the target and the file limit, for any sizes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 300 * mib }), { maxLength: 1_300 }),
        fc.integer({ min: 1, max: 256 * mib }),
        fc.integer({ min: 0, max: 10 }),
        (sizes, targetFileBytes, minInputFiles) => {
          const bins = packBins(files(...sizes), { targetFileBytes, minInputFiles });
          const packed = bins.flat().map((file) => file.path);
          expect(new Set(packed).size).toBe(packed.length);
          for (const bin of bins) {
            expect(bin.length).toBeGreaterThanOrEqual(2);
            expect(bin.length).toBeLessThanOrEqual(maxFilesPerBin);
            expect(bin.reduce((sum, file) => sum + file.sizeBytes, 0)).toBeLessThanOrEqual(targetFileBytes);
          }
        },
      ),
    );
  });
});
