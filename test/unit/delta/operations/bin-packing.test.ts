import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxFilesPerBin, maxRowsPerBin, packBins } from '../../../../src/delta/operations/optimize/bin-packing.ts';

const mib = 1 << 20;
const files = (...sizes: readonly number[]) =>
  sizes.map((sizeBytes, index) => ({ path: `part-${String(index).padStart(5, '0')}`, sizeBytes }));
const sizesOf = (bins: readonly (readonly { readonly sizeBytes: number }[])[]) => bins.map((bin) => bin.map((file) => file.sizeBytes));

describe('packBins', () => {
  it('puts the smallest files together first and starts a bin when the next file would exceed the target', () => {
    expect(sizesOf(packBins(files(40, 30, 20, 10, 35, 50), { targetFileBytes: 100, minInputFiles: 2 }))).toEqual([
      [10, 20, 30, 35],
      [40, 50],
    ]);
  });

  it('leaves files of the target size and more alone', () => {
    expect(sizesOf(packBins(files(100, 101, 5, 6), { targetFileBytes: 100, minInputFiles: 2 }))).toEqual([[5, 6]]);
  });

  it('drops bins with fewer files than asked for', () => {
    expect(packBins(files(1, 2, 3), { targetFileBytes: 100, minInputFiles: 4 })).toEqual([]);
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
            expect(bin.length).toBeGreaterThanOrEqual(Math.max(2, minInputFiles));
            expect(bin.length).toBeLessThanOrEqual(maxFilesPerBin);
            expect(bin.reduce((sum, file) => sum + file.sizeBytes, 0)).toBeLessThanOrEqual(targetFileBytes);
          }
        },
      ),
    );
  });
});
