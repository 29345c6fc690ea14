import { describe, expect, it } from 'vitest';
import type { IcebergSnapshot } from '../../../../src/iceberg/metadata/table-metadata.ts';
import { SummaryCounts, totalsAfter } from '../../../../src/iceberg/transaction/snapshot-summary.ts';
import { dataFile } from '../../../support/iceberg/memory-table.ts';

function snapshotWith(summary: Readonly<Record<string, string>>): IcebergSnapshot {
  return {
    snapshotId: 1n,
    parentSnapshotId: undefined,
    sequenceNumber: 1n,
    timestampMs: 0,
    manifestList: undefined,
    manifests: [],
    summary,
    schemaId: 0,
    firstRowId: undefined,
    addedRows: undefined,
    keyId: undefined,
  };
}

describe('the summary of a snapshot', () => {
  it('counts kinds of delete files apart, a deletion vector by its part of the file', () => {
    const counts = new SummaryCounts(() => '');
    counts.add(dataFile('p', { content: 'position-deletes', recordCount: 2 }));
    counts.add(dataFile('e', { content: 'equality-deletes', recordCount: 3 }));
    counts.add(dataFile('v', { content: 'position-deletes', format: 'puffin', recordCount: 4, contentSizeBytes: 50 }));
    counts.remove(dataFile('old', { content: 'position-deletes', format: 'puffin', recordCount: 1, contentSizeBytes: 30 }));
    expect(counts.entries(0)).toEqual({
      'added-files-size': '2050',
      'added-delete-files': '3',
      'added-position-delete-files': '1',
      'added-position-deletes': '6',
      'added-equality-delete-files': '1',
      'added-equality-deletes': '3',
      'added-dvs': '1',
      'removed-files-size': '30',
      'removed-delete-files': '1',
      'removed-dvs': '1',
      'removed-position-deletes': '1',
      'changed-partition-count': '1',
    });
  });

  it('says that a file was there twice', () => {
    const counts = new SummaryCounts(() => '');
    counts.removeDuplicate();
    expect(counts.entries(0)['deleted-duplicate-files']).toBe('1');
  });

  it('does not invent totals that the parent does not say', () => {
    const parent = snapshotWith({ 'total-records': '5', 'total-data-files': 'many' });
    expect(totalsAfter(parent, { 'added-records': '3', 'deleted-records': '1', 'added-data-files': '1' })).toEqual({
      'total-records': '7',
    });
    expect(totalsAfter(parent, { 'deleted-records': '9' })).toEqual({});
    expect(totalsAfter(undefined, {})['total-records']).toBe('0');
  });
});
