import { describe, expect, it } from 'vitest';
import type { ContentFile, ManifestEntry } from '../../../../src/iceberg/metadata/content-file.ts';
import { positionDeleteIds } from '../../../../src/iceberg/metadata/reserved-ids.ts';
import { DeleteIndex } from '../../../../src/iceberg/scan/delete-index.ts';
import { entryOf, metadataOf } from '../../../support/iceberg/made-entries.ts';

const metadata = metadataOf([
  { specId: 0, fields: [{ sourceId: 1, fieldId: 1000, name: 'p', transform: { kind: 'identity' } }] },
  { specId: 1, fields: [] },
  { specId: 2, fields: [{ sourceId: 1, fieldId: 1000, name: 'p', transform: { kind: 'void' } }] },
]);
const path = '/lake/t/data/00000-file.parquet';

function data(sequenceNumber: number, file: Partial<ContentFile> = {}): ManifestEntry {
  return entryOf({ path, partition: ['a'], ...file }, sequenceNumber);
}

function positions(sequenceNumber: number, file: Partial<ContentFile> = {}): ManifestEntry {
  return entryOf({ content: 'position-deletes', path: `/p${sequenceNumber}`, partition: ['a'], ...file }, sequenceNumber);
}

function equality(sequenceNumber: number, file: Partial<ContentFile> = {}): ManifestEntry {
  return entryOf({ content: 'equality-deletes', path: `/e${sequenceNumber}`, partition: ['a'], equalityIds: [1], ...file }, sequenceNumber);
}

function vector(sequenceNumber: number, of: string): ManifestEntry {
  return positions(sequenceNumber, { format: 'puffin', path: '/v.puffin', referencedDataFile: of });
}

describe('deletes of a data file', () => {
  it('are position deletes of the same and later sequence numbers', () => {
    const index = new DeleteIndex(metadata, [positions(1), positions(2), positions(3)]);
    expect(index.of(data(2)).shared.map(({ sequenceNumber }) => sequenceNumber)).toEqual([2n, 3n]);
    expect(index.of(data(4)).shared).toEqual([]);
  });

  it('are equality deletes of later sequence numbers alone', () => {
    const index = new DeleteIndex(metadata, [equality(1), equality(2), equality(3)]);
    expect(index.of(data(2)).equality.map(({ sequenceNumber }) => sequenceNumber)).toEqual([3n]);
  });

  it('are those of its own partition of its own spec', () => {
    const index = new DeleteIndex(metadata, [
      positions(5, { partition: ['b'] }),
      equality(5, { partition: ['b'] }),
      positions(5, { specId: 2, partition: [undefined] }),
    ]);
    expect(index.of(data(1))).toEqual({ vector: undefined, own: [], shared: [], equality: [], globalEquality: [] });
    expect(index.of(data(1, { partition: ['b'] }))).toMatchObject({ shared: [{}], equality: [{}] });
  });

  it('are equality deletes of the whole table when their spec is unpartitioned, by void fields too', () => {
    const global = equality(5, { specId: 1, partition: [] });
    const void_ = equality(6, { specId: 2, partition: [undefined] });
    const index = new DeleteIndex(metadata, [global, void_]);
    expect(index.of(data(5)).globalEquality).toEqual([void_]);
    expect(index.of(data(4, { partition: ['b'] })).globalEquality).toEqual([global, void_]);
  });

  it('take a deletion vector for all position deletes', () => {
    const dv = vector(3, path);
    const index = new DeleteIndex(metadata, [positions(2), positions(4, { referencedDataFile: path }), dv, equality(9)]);
    expect(index.of(data(1))).toMatchObject({ vector: dv, own: [], shared: [], equality: [{ sequenceNumber: 9n }] });
    expect(index.of(data(1, { path: '/other.parquet' }))).toMatchObject({ vector: undefined, shared: [{}] });
    expect(() => new DeleteIndex(metadata, [dv, vector(4, path)])).toThrow('second');
  });

  it('are of one data file by its path or by equal bounds, not by bounds that may have been cut', () => {
    const bounds = (text: string): Partial<ContentFile> => {
      const map = new Map([[positionDeleteIds.path, Buffer.from(text)]]);
      return { lowerBounds: map, upperBounds: map };
    };
    const own = positions(1, { referencedDataFile: path });
    const bounded = positions(2, bounds(path));
    const cut = positions(3, bounds(path.slice(0, 16)));
    const index = new DeleteIndex(metadata, [own, bounded, cut]);
    expect(index.of(data(1))).toMatchObject({ own: [own, bounded], shared: [cut] });
    expect(index.of(data(1, { path: '/other.parquet' }))).toMatchObject({ own: [], shared: [cut] });
  });

  it('of all files are one list for the data files of a sequence number, however many there are', () => {
    const deletes = Array.from({ length: 10_000 }, (_, at) => positions(at + 1));
    const index = new DeleteIndex(metadata, deletes);
    const lists = Array.from({ length: 100_000 }, (_, at) => index.of(data((at % 100) + 1, { path: `/d${at}` })).shared);
    expect(new Set(lists).size).toBe(100);
  });
});
