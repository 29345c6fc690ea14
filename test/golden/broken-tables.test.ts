import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { casesOf, GoldenTables } from '../support/golden-tables.ts';

const pack = 'fixtures-delta';
/** What is answered for each defect: the number of rows, or the code of a refusal. */
const answers: Readonly<Record<string, number | string>> = {
  'bad-json-line': 'DELTA_LOG_CORRUPT',
  'bad-last-checkpoint': 10,
  'bad-schema-string': 'DELTA_SCHEMA_INVALID',
  // The table is whole; its feed is not.
  'cdc-file-missing': 3,
  'checkpoint-without-commit': 10,
  'dv-missing': 'DELTA_DELETION_VECTOR_MISSING',
  'feature-lists-inconsistent': 'DELTA_INVALID_PROTOCOL_VERSION',
  // Nothing but reading the file could tell.
  'lying-stats': 10,
  'missing-commit': 'DELTA_VERSIONS_NOT_CONTIGUOUS',
  // Null, as in the other engines.
  'missing-partition-value': 10,
  'path-traversal': 'DELTA_PATH_REFUSED',
  'truncated-parquet': 'ENGINE_FILE_CORRUPT',
  'two-keys-per-line': 'DELTA_LOG_CORRUPT',
  'unknown-reader-feature': 'DELTA_UNSUPPORTED_FEATURES_FOR_READ',
  'wide-schema': 10,
  // The real size of the file counts.
  'wrong-size': 10,
};

describe('damaged and hostile tables', () => {
  let golden: GoldenTables;

  beforeAll(async () => {
    golden = await GoldenTables.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  const rowsOf = async (name: string): Promise<readonly string[]> => {
    const table = await golden.open(`broken/${name}`);
    return golden.rowsOf(await table.scan(await table.refresh()), {});
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

  it('names the file that is cut, and the line that is', async () => {
    await expect(rowsOf('truncated-parquet')).rejects.toThrow('part-00000-e4113609');
    await expect(rowsOf('bad-json-line')).rejects.toThrow('00000000000000000003.json line 2');
  });

  it('does not take a change file that is gone for a version without changes', async () => {
    const table = await golden.open('broken/cdc-file-missing');
    const { version } = await table.refresh();
    await expect(golden.changes(table, { from: 0, to: version }, {})).rejects.toMatchObject({
      code: 'ENGINE_FILE_MISSING',
      kind: 'not-found',
    });
  });
});
