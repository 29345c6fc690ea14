import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import type { Folders } from '../../../../src/catalog/hadoop/folders.ts';
import { LocalFolders } from '../../../../src/catalog/hadoop/local-folders.ts';
import { StoreFolders } from '../../../../src/catalog/hadoop/store-folders.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

const directory = temporaryDirectory('folders');
let roots = 0;

afterAll(() => {
  removeDirectory(directory);
});

interface FoldersCase {
  readonly folders: Folders;
  readonly put: (path: string) => Promise<void>;
}

function local(): FoldersCase {
  roots += 1;
  const root = join(directory, `root${roots}`);
  const put = (path: string): Promise<void> => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), 'x');
    return Promise.resolve();
  };
  return { folders: new LocalFolders(root), put };
}

function stored(): FoldersCase {
  const store = new MemoryObjectStore({ name: 'folders', clock: new SystemClock() });
  return { folders: new StoreFolders(store), put: (path) => store.put(path, new Uint8Array([1])) };
}

describe.each([
  ['a file system', local],
  ['an object store', stored],
])('folders of %s', (_, make) => {
  it('are there although they hold nothing', async () => {
    const { folders } = make();
    expect(await folders.children('')).toEqual([]);
    expect(await folders.children('a')).toBeUndefined();
    expect(await folders.create('a/b')).toBe(true);
    expect(await folders.create('a/b')).toBe(false);
    expect(await folders.create('a')).toBe(false);
    expect(await folders.children('')).toEqual(['a']);
    expect(await folders.children('a')).toEqual(['b']);
    expect(await folders.children('a/b')).toEqual([]);
  });

  it('are shown once each, whatever they hold, and files are not', async () => {
    const { folders, put } = make();
    for (const path of ['a/x/1', 'a/x/2', 'a/x-y/1', 'a/x.z/1', 'a/é/1', 'a/file', 'ab/1']) await put(path);
    expect([...((await folders.children('a')) ?? [])].sort()).toEqual(['x', 'x-y', 'x.z', 'é']);
  });

  it('are removed when they hold nothing', async () => {
    const { folders, put } = make();
    await folders.create('a');
    await put('b/file');
    await put('c/d/file');
    expect(await folders.removeEmpty('a')).toBe('removed');
    expect(await folders.removeEmpty('a')).toBe('absent');
    expect(await folders.removeEmpty('b')).toBe('not-empty');
    expect(await folders.removeEmpty('c')).toBe('not-empty');
    expect(await folders.children('c')).toEqual(['d']);
  });
});
