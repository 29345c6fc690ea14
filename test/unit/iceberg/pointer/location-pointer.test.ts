import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { tableFiles } from '../../../../src/iceberg/open-table-files.ts';
import { FileSystemPointer } from '../../../../src/iceberg/pointer/file-system-pointer.ts';
import { locationPointer } from '../../../../src/iceberg/pointer/location-pointer.ts';
import { MetadataFilePointer } from '../../../../src/iceberg/pointer/metadata-file-pointer.ts';
import { objectStoreOpener } from '../../../../src/storage/open-object-store.ts';
import { committed, creation, loaded, withProperties } from '../../../support/iceberg-changes.ts';

const clock = new SystemClock();
let places = 0;

async function place() {
  places += 1;
  const location = `memory://place${places}`;
  const openStore = objectStoreOpener({ clock, ids: new RandomIdSource(new SeededRandom(3)) });
  const files = tableFiles({ name: 't', openStore, roots: () => [location] });
  const parts = { name: 't', location, files, clock };
  const first = committed(await new FileSystemPointer(parts).swap(undefined, creation({ location })));
  const second = committed(await new FileSystemPointer(parts).swap(first, withProperties(first, { a: '2' })));
  return { location, files, parts, first, second };
}

describe('locationPointer', () => {
  it('takes a directory with versions, and one with nothing, for a table in the file system', async () => {
    const { parts, second } = await place();
    const pointer = await locationPointer(parts);
    expect(pointer).toBeInstanceOf(FileSystemPointer);
    expect((await loaded(pointer)).metadataLocation).toBe(second.metadataLocation);
    const files = tableFiles({
      name: 't',
      openStore: objectStoreOpener({ clock, ids: new RandomIdSource(new SeededRandom(3)) }),
      roots: () => ['memory://none'],
    });
    const empty = await locationPointer({ ...parts, files, location: 'memory://none' });
    expect(empty).toBeInstanceOf(FileSystemPointer);
    expect(await empty.load(undefined)).toBeUndefined();
  });

  it('takes one metadata file for the table as it was then, to read only', async () => {
    const { parts, first } = await place();
    const pointer = await locationPointer({ ...parts, location: first.metadataLocation ?? '' });
    const found = await loaded(pointer);
    expect(found.metadata.properties['a']).toBeUndefined();
    expect(await pointer.load(found)).toBe(found);
    await expect(pointer.swap(found, withProperties(found, { a: '3' }))).rejects.toMatchObject({
      errorClass: 'ICEBERG_TABLE_READ_ONLY',
      kind: 'unsupported',
    });
    const absent = await locationPointer({ ...parts, location: `${parts.location}/metadata/v9.metadata.json` });
    expect(await absent.load(undefined)).toBeUndefined();
  });

  it('takes the folder of a catalog table for that table, to read only', async () => {
    const { parts, files, location, first, second } = await place();
    const folder = `${location}/metadata`;
    for (const [from, to] of [
      [first, '00009-aaaa.metadata.json'],
      [second, '00010-bbbb.metadata.json'],
    ] as const) {
      await files.put(`${folder}/${to}`, await files.read(from.metadataLocation ?? ''));
      await files.delete(from.metadataLocation ?? '');
    }
    await files.delete(`${folder}/version-hint.text`);
    const pointer = await locationPointer(parts);
    expect(pointer).toBeInstanceOf(MetadataFilePointer);
    expect((await loaded(pointer)).metadataLocation).toBe(`${folder}/00010-bbbb.metadata.json`);
  });
});
