import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SystemRandom } from '../../../src/base/system-random.ts';
import { LocalObjectStore } from '../../../src/storage/local-object-store.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import { describeObjectStore, listed } from '../../conformance/object-store.ts';

const made: string[] = [];
const ids = new RandomIdSource(new SystemRandom());

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'local-store-'));
  made.push(path);
  return path;
}

afterAll(async () => {
  for (const path of made) await rm(path, { recursive: true, force: true });
});

const bytes = new TextEncoder().encode('x');

describeObjectStore('local', async () => {
  // The root itself need not exist.
  const root = join(await directory(), 'table');
  const open = (): LocalObjectStore => new LocalObjectStore({ directory: root, ids });
  return { store: open(), reopen: open };
});

describe('LocalObjectStore', () => {
  it('leaves no temporary file behind, whoever wins', async () => {
    const root = await directory();
    const store = new LocalObjectStore({ directory: root, ids });
    await Promise.all(Array.from({ length: 8 }, () => store.putIfAbsent('x', bytes)));
    await store.put('x', bytes);
    expect(await readdir(root)).toEqual(['x']);
  });

  it('never lists files being written', async () => {
    const root = await directory();
    await writeFile(join(root, '.tmp-half'), 'half');
    expect(await listed(new LocalObjectStore({ directory: root, ids }), '')).toEqual([]);
  });

  it('says of a name that a link or a directory has that it cannot be an object, not that one exists', async () => {
    const [root, outside] = [await directory(), await directory()];
    await writeFile(join(outside, 'file'), 'x');
    await symlink(join(outside, 'file'), join(root, 'link'));
    await symlink(join(outside, 'nothing'), join(root, 'dangling'));
    await mkdir(join(root, 'folder'));
    const store = new LocalObjectStore({ directory: root, ids });
    for (const name of ['link', 'dangling', 'folder']) {
      await expect(store.putIfAbsent(name, bytes)).rejects.toMatchObject({
        code: 'STORAGE_PATH_INVALID',
        message: expect.stringContaining(name) as string,
      });
    }
    expect(await readdir(root)).toHaveLength(3);
  });

  it('does not follow symbolic links out of its root', async () => {
    const [root, outside] = [await directory(), await directory()];
    await writeFile(join(outside, 'secret'), 'secret');
    await symlink(outside, join(root, 'folder'));
    await symlink(join(outside, 'secret'), join(root, 'file'));
    const store = new LocalObjectStore({ directory: root, ids });
    const refused = { code: 'STORAGE_PATH_INVALID' };
    await expect(store.read('folder/secret')).rejects.toMatchObject(refused);
    await expect(store.read('file')).rejects.toMatchObject(refused);
    await expect(store.put('folder/other', bytes)).rejects.toMatchObject(refused);
    await expect(store.delete('folder/secret')).rejects.toMatchObject(refused);
    expect(await listed(store, '')).toEqual([]);
    expect(await readdir(outside)).toEqual(['secret']);
  });

  it('follows a symbolic link to a file under its root, and lists it where it is asked to', async () => {
    const root = await directory();
    await mkdir(join(root, 'kept'));
    await writeFile(join(root, 'kept', 'file'), 'text');
    await symlink(join('kept', 'file'), join(root, 'link'));
    const store = new LocalObjectStore({ directory: root, ids });
    expect(new TextDecoder().decode(await store.read('link'))).toBe('text');
    expect(await store.head('link')).toMatchObject({ path: 'link', sizeBytes: 4 });
    expect(await store.putIfAbsent('link', bytes)).toBe('exists');
    expect(await listed(store, '')).toEqual(['kept/file']);
    expect(await listedWithLinks(store)).toEqual(['kept/file', 'link']);
  });

  it.each([
    ['out of its root', '/etc/hostname'],
    ['nowhere', 'absent'],
  ])('names a symbolic link that leads %s, in listings that follow links too', async (_where, target) => {
    const root = await directory();
    await symlink(target, join(root, 'link'));
    const store = new LocalObjectStore({ directory: root, ids });
    const refused = { code: 'STORAGE_PATH_INVALID', message: expect.stringContaining('"link"') as string };
    await expect(store.read('link')).rejects.toMatchObject(refused);
    await expect(store.head('link')).rejects.toMatchObject(refused);
    await expect(store.putIfAbsent('link', bytes)).rejects.toMatchObject(refused);
    await expect(listedWithLinks(store)).rejects.toMatchObject(refused);
  });

  it('says that a directory in the way is not an object', async () => {
    const root = await directory();
    await mkdir(join(root, 'x'));
    await expect(new LocalObjectStore({ directory: root, ids }).read('x')).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND' });
  });

  it('opens file URIs, directories and named memories', async () => {
    const root = await directory();
    await openObjectStore(pathToFileURL(root).href).put('x', bytes);
    expect(await openObjectStore(root).head('x')).toMatchObject({ sizeBytes: 1 });
    await openObjectStore('memory://opened').put('x', bytes);
    expect(await openObjectStore('memory://opened').head('x')).toBeDefined();
    expect(() => openObjectStore('hdfs://host/x')).toThrow(expect.objectContaining({ code: 'STORAGE_LOCATION_INVALID' }) as Error);
  });

  it('has one winner per object among threads that share nothing but the directory', async () => {
    const root = await directory();
    // Plain link() and O_EXCL temp files stand for writers of another program.
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      const fs = require('node:fs');
      let won = 0;
      for (let i = 0; i < 50; i++) {
        const temp = workerData.root + '/.tmp-' + workerData.id + '-' + i;
        fs.writeFileSync(temp, String(workerData.id));
        try { fs.linkSync(temp, workerData.root + '/' + i); won++; } catch (error) { if (error.code !== 'EEXIST') throw error; }
        fs.unlinkSync(temp);
      }
      parentPort.postMessage(won);`;
    const others = Array.from(
      { length: 3 },
      (_, id) =>
        new Promise<number>((resolve, reject) =>
          new Worker(source, { eval: true, workerData: { root, id } }).once('message', resolve).once('error', reject),
        ),
    );
    const store = new LocalObjectStore({ directory: root, ids });
    let own = 0;
    for (let index = 0; index < 50; index++) if ((await store.putIfAbsent(String(index), bytes)) === 'created') own += 1;
    const wins = (await Promise.all(others)).reduce((total, won) => total + won, own);
    expect(wins).toBe(50);
  });
});

async function listedWithLinks(store: LocalObjectStore): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { path } of store.list({ prefix: '', links: true })) paths.push(path);
  return paths;
}
