import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../src/base/errors.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { tableFiles } from '../../../../src/iceberg/open-table-files.ts';
import { FileSystemPointer } from '../../../../src/iceberg/pointer/file-system-pointer.ts';
import type { TableFiles } from '../../../../src/iceberg/table-files.ts';
import { objectStoreOpener } from '../../../../src/storage/open-object-store.ts';
import { describeTablePointer } from '../../../conformance/table-pointer.ts';
import { appended, committed, creation, loaded, withProperties } from '../../../support/iceberg-changes.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/servers.ts';

const clock = new SystemClock();
const openStore = objectStoreOpener({ clock, ids: new RandomIdSource(new SeededRandom(7)) });
const directory = temporaryDirectory('pointer');
let tables = 0;

afterAll(() => {
  removeDirectory(directory);
});

function filesOf(location: string): TableFiles {
  return tableFiles({ name: 't', openStore, roots: () => [location] });
}

function pointerAt(location: string, files: TableFiles = filesOf(location)): FileSystemPointer {
  return new FileSystemPointer({ name: 'lake.db.t', location, files, clock });
}

function localCase(): { readonly pointer: FileSystemPointer; readonly reopen: () => FileSystemPointer; readonly location: string } {
  tables += 1;
  const location = join(directory, `t${tables}`);
  return { pointer: pointerAt(location), reopen: () => pointerAt(location), location };
}

const metadataFiles = (location: string): readonly string[] => readdirSync(join(location, 'metadata')).sort();

describeTablePointer('a local directory', () => Promise.resolve(localCase()));
describeTablePointer('a folder of an object store', () => {
  tables += 1;
  const location = `memory://lake${tables}`;
  return Promise.resolve({ pointer: pointerAt(location), reopen: () => pointerAt(location), location });
});

describe('FileSystemPointer', () => {
  it('names versions and the hint as Hadoop tables do', async () => {
    const { pointer, location } = localCase();
    const base = committed(await pointer.swap(undefined, creation({ location })));
    expect(base.metadataLocation).toBe(`${location}/metadata/v1.metadata.json`);
    committed(await pointer.swap(base, appended(base, 5n)));
    expect(metadataFiles(location)).toEqual(['v1.metadata.json', 'v2.metadata.json', 'version-hint.text']);
    expect(readFileSync(join(location, 'metadata', 'version-hint.text'), 'utf8')).toBe('2');
  });

  it.each([
    ['is missing', undefined],
    ['is late', '1'],
    ['names a version that is not there', '77'],
    ['is no number', 'abc'],
  ])('finds the newest version when the hint %s', async (_, hint) => {
    const { pointer, reopen, location } = localCase();
    let base = committed(await pointer.swap(undefined, creation({ location })));
    for (const a of ['1', '2', '3']) base = committed(await pointer.swap(base, withProperties(base, { a })));
    const file = join(location, 'metadata', 'version-hint.text');
    rmSync(file);
    if (hint !== undefined) writeFileSync(file, hint);
    expect((await loaded(reopen())).metadataLocation).toBe(`${location}/metadata/v4.metadata.json`);
  });

  it('finds the newest of many versions above a hint that is far behind', async () => {
    const { pointer, reopen, location } = localCase();
    let base = committed(await pointer.swap(undefined, creation({ location })));
    for (let change = 0; change < 50; change += 1) base = committed(await pointer.swap(base, withProperties(base, { a: String(change) })));
    writeFileSync(join(location, 'metadata', 'version-hint.text'), '1');
    expect((await loaded(reopen())).metadata.properties['a']).toBe('49');
  });

  it.each(['v2.gz.metadata.json', 'v2.metadata.json.gz'])('takes a version that is named %s for version 2', async (name) => {
    const { pointer, reopen, location } = localCase();
    const properties = { 'write.metadata.compression-codec': 'gzip' };
    const base = committed(await pointer.swap(undefined, creation({ location, properties })));
    committed(await pointer.swap(base, withProperties(base, { a: '1' })));
    const folder = join(location, 'metadata');
    const bytes = readFileSync(join(folder, 'v2.gz.metadata.json'));
    expect([...bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    rmSync(join(folder, 'v2.gz.metadata.json'));
    writeFileSync(join(folder, name), bytes);
    expect((await loaded(reopen())).metadata.properties['a']).toBe('1');
    expect(await pointer.swap(base, withProperties(base, { a: '2' }))).toMatchObject({ kind: 'conflicted' });
  });

  it('sees that a table of the same name was made in place of one that was dropped', async () => {
    const { pointer, reopen, location } = localCase();
    committed(await pointer.swap(undefined, creation({ location })));
    const old = await loaded(pointer);
    rmSync(location, { recursive: true });
    const uuid = '99999999-2222-4333-8444-555555555555';
    committed(await reopen().swap(undefined, creation({ location, uuid, properties: { another: 'one' } })));
    expect((await pointer.load(old))?.metadata.tableUuid).toBe(uuid);
    rmSync(location, { recursive: true });
    expect(await pointer.load(old)).toBeUndefined();
  });

  it('removes the checksums that Hadoop has put beside files it overwrites', async () => {
    // Spark refuses to read a file whose .crc sidecar is of other bytes.
    const { pointer, location } = localCase();
    mkdirSync(join(location, 'metadata'), { recursive: true });
    for (const name of ['.version-hint.text.crc', '.v1.metadata.json.crc']) writeFileSync(join(location, 'metadata', name), 'crc');
    committed(await pointer.swap(undefined, creation({ location })));
    expect(metadataFiles(location)).toEqual(['v1.metadata.json', 'version-hint.text']);
  });

  it('counts a commit whose hint could not be written', async () => {
    const { location } = localCase();
    const files = filesOf(location);
    const failing = { ...delegate(files), put: () => Promise.reject(failure('unavailable')) };
    const base = committed(await pointerAt(location, failing).swap(undefined, creation({ location })));
    expect((await loaded(pointerAt(location))).metadata).toEqual(base.metadata);
  });

  it('finds out by itself whether a put that nobody confirmed has landed', async () => {
    const { location } = localCase();
    const files = filesOf(location);
    const lost: TableFiles = {
      ...delegate(files),
      putIfAbsent: async (at, bytes, signal) => {
        await files.putIfAbsent(at, bytes, signal);
        throw failure('unknown-outcome');
      },
    };
    const base = committed(await pointerAt(location, lost).swap(undefined, creation({ location })));
    const never = { ...delegate(files), putIfAbsent: () => Promise.reject(failure('unknown-outcome')) };
    expect(await pointerAt(location, never).swap(base, appended(base, 3n))).toMatchObject({ kind: 'unknown' });
    committed(await pointerAt(location).swap(base, appended(base, 1n)));
    const second = await pointerAt(location, lost).swap(base, appended(base, 2n));
    expect(second.kind).toBe('conflicted');
  });

  it('does not claim a commit when its base was cleaned up meanwhile', async () => {
    // Versions 2 and 3 of others may have come and gone between the look at the folder and the put.
    const { pointer, location } = localCase();
    const base = committed(await pointer.swap(undefined, creation({ location })));
    const files = filesOf(location);
    const racing: TableFiles = {
      ...delegate(files),
      putIfAbsent: async (at, bytes, signal) => {
        await files.delete(base.metadataLocation ?? '');
        return files.putIfAbsent(at, bytes, signal);
      },
    };
    expect(await pointerAt(location, racing).swap(base, appended(base, 1n))).toMatchObject({ kind: 'unknown' });
  });

  it('makes no table that says it lies elsewhere', async () => {
    const { pointer, location } = localCase();
    await expect(pointer.swap(undefined, creation({ location: `${location}-other` }))).rejects.toThrow(/^Cannot set a custom location/);
    committed(await pointer.swap(undefined, creation({ location: `file:${location}` })));
  });

  it.each([
    ['moves the table', { action: 'set-location', location: '/elsewhere' }, /cannot be relocated/],
    ['moves the metadata', { action: 'set-properties', updates: { 'write.metadata.path': '/elsewhere' } }, /cannot relocate metadata/],
  ] as const)('refuses a change that %s', async (_, update, message) => {
    const { pointer, location } = localCase();
    const base = committed(await pointer.swap(undefined, creation({ location })));
    await expect(pointer.swap(base, { requirements: [], updates: [update] })).rejects.toThrow(message);
  });
});

function failure(kind: 'unavailable' | 'unknown-outcome'): ServiceError {
  return new ServiceError({ code: 'STORAGE_FAILED', kind, message: 'the storage fails' });
}

function delegate(files: TableFiles): TableFiles {
  return {
    read: (...args) => files.read(...args),
    readRange: (...args) => files.readRange(...args),
    head: (...args) => files.head(...args),
    put: (...args) => files.put(...args),
    putIfAbsent: (...args) => files.putIfAbsent(...args),
    delete: (...args) => files.delete(...args),
    discard: (...args) => files.discard(...args),
    notDeletable: (...args) => files.notDeletable(...args),
    list: (...args) => files.list(...args),
    openable: (...args) => files.openable(...args),
    storeAt: (...args) => files.storeAt(...args),
  };
}
