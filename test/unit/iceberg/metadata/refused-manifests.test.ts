import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../../src/iceberg/metadata/manifest.ts';
import { readManifestList } from '../../../../src/iceberg/metadata/manifest-list.ts';
import { writeManifestList } from '../../../../src/iceberg/metadata/write-manifest-list.ts';
import { readAvroFile, writeAvroFile } from '../../../support/avro-file.ts';
import { entry, file, listed, uncounted, uncountedDeletes, written } from '../../../support/iceberg-manifests.ts';
import { createdTable, snapshot } from '../../../support/iceberg-metadata.ts';

describe('manifests', () => {
  it.each([
    ['data among deletes', uncountedDeletes, file('a'), 'file a has the content data in a manifest of deletes'],
    ['a file of less than no rows', uncounted, file('a', { recordCount: -5 }), 'file a is said to have -5 rows'],
    ['another number of entries', { ...listed, addedFiles: 2 }, file('a'), '1 entries are added, its manifest list says 2'],
    ['live files that the list does not count', { ...listed, addedFiles: 0, deletedFiles: 1 }, file('a'), '1 entries are added'],
  ])('are refused with %s', async (_, manifest, of, complaint) => {
    const { bytes } = await written(createdTable(), [entry('added', 1, of)]);
    expect(() => readManifest(bytes, manifest, createdTable())).toThrow(
      expect.objectContaining({ code: 'AVRO_FILE_CORRUPT', message: expect.stringContaining(`manifest m0.avro: ${complaint}`) as string }),
    );
  });

  it('are refused with deletes among data', async () => {
    const { bytes } = await written(createdTable(), [entry('added', 1, file('a', { content: 'position-deletes' }))], 'deletes');
    expect(() => readManifest(bytes, uncounted, createdTable())).toThrow('file a has the content position-deletes in a manifest of data');
  });
});

describe('manifest lists', () => {
  const list = { formatVersion: 2, snapshotId: 70n, parentSnapshotId: undefined, sequenceNumber: 8n, firstRowId: undefined } as const;

  it.each([
    [{ addedFiles: -1 }, 'manifest m0.avro is said to have -1 added files of 10 rows'],
    [{ existingFiles: -1 }, 'manifest m0.avro is said to have -1 existing files'],
    [{ addedFiles: 0 }, 'manifest m0.avro is said to have 10 added rows in no file'],
  ])('are refused with counts that no manifest has: %o', async (counts, complaint) => {
    const bytes = await writeManifestList({ ...list, manifests: [{ ...listed, ...counts }] });
    expect(() => readManifestList(bytes, { name: 'l', snapshot: snapshot(1, 8) })).toThrow(
      expect.objectContaining({ code: 'AVRO_FILE_CORRUPT', message: expect.stringContaining(`manifest list l: ${complaint}`) as string }),
    );
  });

  it('are refused with sequence numbers below zero, by which deletes would hold for no file', async () => {
    const avro = readAvroFile(Buffer.from(await writeManifestList({ ...list, manifests: [listed] })));
    for (const record of avro.records as Record<string, unknown>[]) record['sequence_number'] = -5n;
    expect(() => readManifestList(writeAvroFile(avro), { name: 'l', snapshot: snapshot(1, 8) })).toThrow(
      'manifest list l: manifest m0.avro has the sequence numbers -5 and',
    );
  });
});
