import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('generateManifest', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const manifest = async (path: string): Promise<readonly string[]> =>
    (await readFile(tables.path(`${path}/manifest`), 'utf8')).split('\n').filter((line) => line !== '');

  it('names the live files of each partition by their places, and takes manifests of emptied partitions away', async () => {
    const table = await tables.create('parts', 'id INT, p STRING', { partitionBy: ['p'] });
    for (const p of ['a b', 'a b', 'c']) await tables.append(table, `SELECT 1 AS id, '${p}' AS p`);
    await table.operations.generateManifest();
    const lines = await manifest('parts/_symlink_format_manifest/p=a b');
    const places = [...(await table.refresh()).files()].map((file) => `file://${tables.path('parts')}/${file.storedPath}`);
    expect(lines).toEqual(places.filter((place) => place.includes('p=a b')).sort());
    await table.operations.delete({ condition: parseExpression("p = 'c'") });
    await table.operations.generateManifest();
    await expect(manifest('parts/_symlink_format_manifest/p=c')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await manifest('parts/_symlink_format_manifest/p=a b')).toEqual(lines);
  });

  it('has an empty manifest for an empty table, and refuses what such readers would get wrong', async () => {
    const empty = await tables.create('empty', 'id INT');
    await empty.operations.generateManifest();
    expect(await manifest('empty/_symlink_format_manifest')).toEqual([]);
    const mapped = await tables.create('mapped', 'id INT', { properties: { 'delta.columnMapping.mode': 'name' } });
    await expect(mapped.operations.generateManifest()).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING',
    });
    const vectors = await tables.create('vectors', 'id INT', { properties: { 'delta.enableDeletionVectors': 'true' } });
    await tables.append(vectors, 'SELECT CAST(i AS INT) AS id FROM range(9) t(i)');
    await vectors.operations.delete({ condition: parseExpression('id = 1') });
    await expect(vectors.operations.generateManifest()).rejects.toMatchObject({
      errorClass: 'DELTA_UNSUPPORTED_GENERATE_WITH_DELETION_VECTORS',
    });
  });
});
