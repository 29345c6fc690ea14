import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporarySession } from '../../support/temporary-session.ts';

describe('reading files that are no table', () => {
  it('reads CSV as text, or with header and inferred types', async () => {
    await using made = await temporarySession();
    const file = join(made.directory, 'a.csv');
    await writeFile(file, 'id;name\n1;ann\n2;\n');
    expect(await made.session.read.option('sep', ';').csv(file).collect()).toEqual([
      { _c0: 'id', _c1: 'name' },
      { _c0: '1', _c1: 'ann' },
      { _c0: '2', _c1: null },
    ]);
    const typed = made.session.read.format('csv').options({ header: true, inferSchema: true, delimiter: ';' }).load(file);
    expect(await typed.collect()).toEqual([
      { id: 1n, name: 'ann' },
      { id: 2n, name: null },
    ]);
    expect(await made.session.read.schema('id INT, name STRING').option('header', true).option('sep', ';').csv(file).collect()).toEqual([
      { id: 1, name: 'ann' },
      { id: 2, name: null },
    ]);
  });

  it('reads JSON lines', async () => {
    await using made = await temporarySession();
    const file = join(made.directory, 'a.json');
    await writeFile(file, '{"id":1,"tags":["x"]}\n{"id":2}\n');
    expect(await made.session.read.json(file).collect()).toEqual([
      { id: 1n, tags: ['x'] },
      { id: 2n, tags: null },
    ]);
  });

  it('reads what it wrote as Parquet, partition directories as columns, hidden files left out', async () => {
    await using made = await temporarySession();
    const path = join(made.directory, 'p[1]');
    const frame = made.session.createDataFrame(
      [
        { id: 1, part: 'a/b' },
        { id: 2, part: 'c' },
      ],
      'id INT, part STRING',
    );
    await frame.write.partitionBy('part').parquet(path);
    await mkdir(join(path, '_hidden'));
    await writeFile(join(path, '_hidden', 'x.parquet'), 'not parquet');
    expect(await made.session.read.parquet(path).orderBy('id').collect()).toEqual([
      { id: 1, part: 'a/b' },
      { id: 2, part: 'c' },
    ]);
    await expect(frame.write.parquet(path)).rejects.toMatchObject({ errorClass: 'PATH_ALREADY_EXISTS' });
    await frame.limit(1).write.mode('overwrite').parquet(path);
    expect(await made.session.read.parquet(path).count()).toBe(1);
  });

  it('names a path that is not there, and options it does not know', async () => {
    await using made = await temporarySession();
    await expect(made.session.read.csv('/nothing/here').collect()).rejects.toMatchObject({ errorClass: 'PATH_NOT_FOUND' });
    expect(() => made.session.read.option('heade', true).csv('/x')).toThrow(expect.objectContaining({ hint: 'did you mean "header"?' }));
    expect(() => made.session.read.format('orc').load('/x')).toThrow(expect.objectContaining({ errorClass: 'UNSUPPORTED_FEATURE' }));
  });
});
