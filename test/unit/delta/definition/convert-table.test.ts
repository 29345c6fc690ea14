import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConvertRequest } from '../../../../src/table/table-formats.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

describe('convert', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const convert = async (name: string, partitionColumns: ConvertRequest['partitionColumns'] = [], collectStatistics = true) => {
    await tables.driver().convert({ location: tables.path(name), partitionColumns, collectStatistics });
    return tables.open(name);
  };

  it('makes a table of the files where they lie: columns of all of them, exact statistics, one version', async () => {
    await tables.parquet(
      'plain/a.parquet',
      "SELECT CAST(1 AS BIGINT) AS id, 'x' AS s, DATE '2020-02-29' AS d, TIMESTAMPTZ '2020-01-01 00:00:00.123456+00' AS t",
    );
    await tables.parquet(
      'plain/sub/b c.parquet',
      "SELECT CAST(2 AS BIGINT) AS id, {'m': 1.5::DOUBLE, 'l': [1, 2]} AS n, 12.50::DECIMAL(9,2) AS c",
    );
    const table = await convert('plain');
    const snapshot = await table.refresh();
    expect(snapshot.version).toBe(0);
    expect(snapshot.schema.fields.map((field) => [field.name, field.type.kind, field.nullable])).toEqual([
      ['id', 'long', true],
      ['s', 'string', true],
      ['d', 'date', true],
      ['t', 'timestamp', true],
      ['n', 'struct', true],
      ['c', 'decimal', true],
    ]);
    const stats = new Map([...snapshot.files()].map((file) => [file.path, JSON.parse(file.stats ?? '{}')]));
    expect(stats.get('plain/a.parquet') ?? stats.get('a.parquet')).toEqual({
      numRecords: 1,
      minValues: { id: 1, s: 'x', d: '2020-02-29', t: '2020-01-01T00:00:00.123Z' },
      maxValues: { id: 1, s: 'x', d: '2020-02-29', t: '2020-01-01T00:00:00.124Z' },
      nullCount: { id: 0, s: 0, d: 0, t: 0, n: { m: 1, l: 1 }, c: 1 },
    });
    expect(stats.get('sub/b%20c.parquet')).toMatchObject({
      minValues: { id: 2, n: { m: 1.5 }, c: 12.5 },
      nullCount: { s: 1, n: { m: 0, l: 0 } },
    });
    expect((await tables.rows(table)).length).toBe(2);
    expect((await table.context.readCommit(toVersion(0)))?.actions[0]).toMatchObject({
      body: {
        operation: 'CONVERT',
        operationParameters: { numFiles: 2, partitionedBy: '[]', collectStats: true, sourceFormat: 'parquet' },
        operationMetrics: { numConvertedFiles: '2' },
      },
    });
    await convert('plain');
    expect((await table.refresh()).version).toBe(0);
  });

  it('takes partition values from the folders, once unescaped', async () => {
    await tables.parquet('parts/p=01/q=a%2Fb%25/x.parquet', 'SELECT 1 AS id');
    await tables.parquet('parts/p=2/q=__HIVE_DEFAULT_PARTITION__/x.parquet', 'SELECT 2 AS id');
    await tables.parquet('parts/_hidden/x.parquet', 'SELECT 3 AS id');
    const table = await convert(
      'parts',
      [
        { name: 'p', type: 'INT' },
        { name: 'q', type: 'STRING' },
      ],
      false,
    );
    const snapshot = await table.refresh();
    expect(snapshot.partitionColumns).toEqual(['p', 'q']);
    const files = [...snapshot.files()].sort((a, b) => (a.path < b.path ? -1 : 1));
    expect(files.map((file) => [file.path, file.partitionValues, file.stats])).toEqual([
      ['p=01/q=a%252Fb%2525/x.parquet', { p: '1', q: 'a/b%' }, undefined],
      ['p=2/q=__HIVE_DEFAULT_PARTITION__/x.parquet', { p: '2', q: undefined }, undefined],
    ]);
    expect(await tables.rows(table)).toEqual(['{"id":1,"p":1,"q":"a/b%"}', '{"id":2,"p":2,"q":null}']);
  });

  it('refuses folders that spell other columns, values that do not fit, other files, and nothing at all', async () => {
    await tables.parquet('odd/p=x/f.parquet', 'SELECT 1 AS id');
    const wrong = (columns: ConvertRequest['partitionColumns']) => expect(convert('odd', columns)).rejects;
    await wrong([]).toMatchObject({
      errorClass: 'DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME',
      message: expect.stringContaining(
        'Expecting 0 partition column(s): [], but found 1 partition column(s): [`p`] from parsing the file name:',
      ) as string,
    });
    await wrong([{ name: 'q', type: 'INT' }]).toMatchObject({
      errorClass: 'DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME',
      sqlState: 'KD009',
    });
    await wrong([{ name: 'p', type: 'INT' }]).toMatchObject({ errorClass: 'DELTA_FAILED_CAST_PARTITION_VALUE', sqlState: '22018' });
    await writeFile(tables.path('odd/p=x/notes.csv'), 'a,b');
    await wrong([{ name: 'p', type: 'STRING' }]).toMatchObject({
      errorClass: 'DELTA_FAILED_READ_FILE_FOOTER',
      parameters: { currentFile: expect.stringContaining('notes.csv') as string },
    });
    await expect(convert('nothing')).rejects.toMatchObject({ errorClass: 'DELTA_EMPTY_DIRECTORY', sqlState: '42K03' });
    await tables.parquet('mixed/a.parquet', 'SELECT 1 AS id');
    await tables.parquet('mixed/b.parquet', "SELECT 'x' AS id");
    await expect(convert('mixed')).rejects.toMatchObject({ errorClass: 'DELTA_FAILED_MERGE_SCHEMA_FILE', sqlState: '42KDA' });
  });
});
