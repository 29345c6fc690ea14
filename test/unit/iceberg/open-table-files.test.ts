import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { type TableFilesOptions, tableFiles } from '../../../src/iceberg/open-table-files.ts';
import type { TableFiles } from '../../../src/iceberg/table-files.ts';
import { objectStoreOpener } from '../../../src/storage/open-object-store.ts';

const open = objectStoreOpener({ clock: new SystemClock(), ids: new RandomIdSource(new SeededRandom(7)) });

function filesAt(roots: readonly string[], options: Partial<TableFilesOptions> = {}): TableFiles {
  return tableFiles({ name: 't', openStore: open, roots: () => roots, ...options });
}

describe('files of a table', () => {
  it('writes, reads and lists below a root, by full locations', async () => {
    const files = filesAt(['memory://files/db/t']);
    await files.put('memory://files/db/t/data/a.parquet', Uint8Array.of(1, 2));
    await expect(files.read('memory://files/db/t/data/a.parquet')).resolves.toEqual(Uint8Array.of(1, 2));
    const listed: string[] = [];
    for await (const { location } of files.list('memory://files/db/t/data')) listed.push(location);
    expect(listed).toEqual(['memory://files/db/t/data/a.parquet']);
  });

  it('takes the spellings of one local place for the same', () => {
    const files = filesAt(['file:/lake/t']);
    expect(files.openable('/lake/t/data/a b%20c.parquet')).toBe('/lake/t/data/a b%20c.parquet');
    expect(files.openable('file:///lake/t/data/x')).toBe('/lake/t/data/x');
    expect(filesAt(['s3://bucket/t']).openable('s3a://bucket/t/x')).toBe('s3://bucket/t/x');
  });

  it.each([
    ['another directory', '/etc/hostname'],
    ['a sibling whose name begins alike', '/lake/t2/x'],
    ['a parent segment', '/lake/t/../u/x'],
    ['an encoded parent segment', '/lake/t/%2E%2e/u/x'],
    ['a NUL', '/lake/t/a\0b'],
    ['a relative place without a base', 'data/x'],
    ['nothing', ''],
    ['the table itself', '/lake/t'],
  ])('refuses %s', async (_, location) => {
    await expect(filesAt(['/lake/t']).read(location)).rejects.toMatchObject({ code: 'FILE_OUTSIDE_TABLE', kind: 'invalid' });
  });

  it('maps recorded prefixes, the first that fits, at whole names only', () => {
    const pathMap = [
      { from: '/lake/t/data', to: '/copy/fast' },
      { from: '/lake/t', to: '/copy/t/' },
    ];
    const files = filesAt(['/lake/t', '/lake/tt'], { pathMap });
    expect(files.openable('file:/lake/t/data/x')).toBe('/copy/fast/x');
    expect(files.openable('/lake/t/database/x')).toBe('/copy/t/database/x');
    expect(files.openable('/lake/tt/x')).toBe('/lake/tt/x');
  });

  it('finds relative locations below the base, mapped ones too', () => {
    const files = filesAt(['gs://elsewhere/t'], { pathBase: '/case', pathMap: [{ from: 'file://data/', to: 'data/' }] });
    expect(files.openable('data/x')).toBe('/case/data/x');
    expect(files.openable('file://data/y')).toBe('/case/data/y');
    expect(() => files.openable('../x')).toThrow('".."');
  });

  it('follows the places a table names as they change', () => {
    let roots: readonly string[] = ['/lake/t'];
    const files = tableFiles({ name: 't', openStore: open, roots: () => roots });
    expect(() => files.openable('/fast/t/x')).toThrow('not in a place');
    roots = ['/lake/t', '/fast/t'];
    expect(files.openable('/fast/t/x')).toBe('/fast/t/x');
  });
});
