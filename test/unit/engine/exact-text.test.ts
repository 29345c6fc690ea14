import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StructType } from '../../../src/schema/types.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';

// Story: the engine's library took the byte order mark from texts that begin with one. The bounds of a file were those of another text, and a
// condition left the file out that held the row; keys of a MERGE were not found.

let made: TestEngine;
beforeAll(async () => {
  made = await openTestEngine();
});
afterAll(() => made.close());

const schema: StructType = { kind: 'struct', fields: [{ name: 's', type: { kind: 'string' }, nullable: true }] };
const texts = ['\ufeffmark', '\ufeffa text that is longer than twelve bytes', '\ufeff'];

it.each(texts)('a text that begins with a byte order mark keeps it: %j', async (text) => {
  const held = await made.hold(schema, [{ s: text }]);
  expect(await made.engine.rows(`SELECT s, min(s) OVER () FROM (${held.sql})`)).toEqual([[text, text]]);
  const files = await made.engine.writeParquet(held, {
    directory: join(made.directory, 'marks'),
    pathOf: () => 'a.parquet',
    partitionBy: [],
    compression: 'snappy',
  });
  expect(files[0]?.statistics).toEqual([{ path: ['s'], nullCount: 0, min: text, max: text }]);
  await held.dispose();
});

it('a directory is not taken for a file: the engine would read all that is in it', async () => {
  const held = await made.hold(schema, [{ s: 'x' }]);
  const directory = join(made.directory, 'many');
  await made.engine.writeParquet(held, { directory, pathOf: () => 'a.parquet', partitionBy: [], compression: 'snappy' });
  const file = { path: directory, sizeBytes: 1, rowCount: 1, partitionValues: {} };
  const storedColumns = schema.fields.map((field) => ({ field, match: { by: 'name' as const, name: field.name }, storedType: field.type }));
  const statistics = { filesConsidered: 1, bytesConsidered: 1, filesSelected: 1, bytesSelected: 1 };
  await expect(made.engine.scan({ schema, storedColumns, partitionColumns: [], files: [file], statistics })).rejects.toMatchObject({
    code: 'ENGINE_FILE_MISSING',
    message: expect.stringContaining('is a directory') as string,
  });
  await held.dispose();
});
