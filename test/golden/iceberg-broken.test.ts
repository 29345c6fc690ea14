import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { liveFiles } from '../../src/iceberg/scan/live-files.ts';
import { GoldenIceberg } from '../support/golden-iceberg.ts';
import { casesOf } from '../support/golden-tables.ts';

const pack = 'fixtures-iceberg';
/** What is answered for each defect: the number of rows, or the code of a refusal. */
const answers: Readonly<Record<string, number | string>> = {
  // Java refuses it too: a clock that went back hides which snapshot was current when.
  'clock-back': 'ICEBERG_METADATA_INVALID',
  // The current snapshot is whole; walks along the parents end with an error.
  'cyclic-parents': 6,
  'format-version-4': 'ICEBERG_FORMAT_VERSION_UNSUPPORTED',
  'missing-manifest-list': 'ICEBERG_FILE_MISSING',
  'path-outside': 'FILE_OUTSIDE_TABLE',
  'puffin-dv-corrupt': 'ICEBERG_DELETION_VECTOR_CORRUPT',
  'refs-main-differs': 'ICEBERG_METADATA_INVALID',
  // Found by name, as in Java, never by place.
  'stripped-field-ids': 6,
  'truncated-manifest': 'AVRO_FILE_CORRUPT',
  'unknown-file-format': 'ICEBERG_FILE_FORMAT_UNSUPPORTED',
  'version-hint-wrong': 6,
  // The real size counts.
  'wrong-manifest-length': 6,
};

describe('damaged and hostile tables', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  const rowsOf = async (name: string): Promise<readonly string[]> => {
    const table = await golden.openRecorded(`broken/${name}`);
    return golden.rows(table, await table.refresh(), {});
  };

  it('answers every case of the pack', () => {
    expect(casesOf(pack).filter((name) => name.startsWith('broken/'))).toEqual(Object.keys(answers).map((name) => `broken/${name}`));
  });

  it.each(Object.entries(answers))('%s: %s', async (name, answer) => {
    if (typeof answer === 'string') {
      await expect(rowsOf(name)).rejects.toMatchObject({ code: answer, message: expect.stringMatching(/\w{3}/) as string });
      return;
    }
    const rows = await rowsOf(name);
    expect(rows).toHaveLength(answer);
    expect(new Set(rows).size).toBe(answer);
  });

  it('names the file that is cut, the format that is unknown and the place that is refused', async () => {
    await expect(rowsOf('truncated-manifest')).rejects.toThrow('60f771f5-f0b7-43b8-8f14-c9ec26074ee3-m0.avro');
    await expect(rowsOf('unknown-file-format')).rejects.toThrow('LANCE');
    await expect(rowsOf('path-outside')).rejects.toThrow('/etc/hostname');
  });

  it('ends walks along parents that go in a circle with an error', async () => {
    const table = await golden.openRecorded('broken/cyclic-parents');
    await expect(table.history({})).rejects.toMatchObject({ code: 'ICEBERG_METADATA_CORRUPT', kind: 'corrupt' });
  });

  it('still tells what the metadata says when the manifest list is gone', async () => {
    const table = await golden.openRecorded('broken/missing-manifest-list');
    await expect(golden.metadataRows(table, 'snapshots')).resolves.toHaveLength(3);
    await expect(liveFiles(table.context, await table.refresh())).rejects.toThrow('manifest list');
  });
});
