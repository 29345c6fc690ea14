import { describe, expect, it } from 'vitest';
import { isServiceError } from '../../src/base/errors.ts';
import type { ObjectInfo, ObjectStore } from '../../src/storage/object-store.ts';
import { isSameObject } from '../../src/storage/same-object.ts';

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** What every object store promises. `open` gives a store over an empty root; `reopen` another one over the same root. */
export function describeObjectStore(
  name: string,
  fixture: () => Promise<{ readonly store: ObjectStore; readonly reopen: () => ObjectStore }>,
): void {
  describe(`${name} as an object store`, () => {
    it('gives back the bytes that were put, whole and by range', async () => {
      const { store } = await fixture();
      await store.put('a/b.bin', text('0123456789'));
      expect(Buffer.from(await store.read('a/b.bin')).toString()).toBe('0123456789');
      expect(Buffer.from(await store.readRange('a/b.bin', { from: 2, until: 5 })).toString()).toBe('234');
      expect(Buffer.from(await store.readRange('a/b.bin', { from: 8, until: 50 })).toString()).toBe('89');
      expect(await store.readRange('a/b.bin', { from: 20, until: 30 })).toHaveLength(0);
    });

    it('does not share memory with the caller', async () => {
      const { store } = await fixture();
      const bytes = text('abc');
      await store.put('x', bytes);
      bytes[0] = 0;
      const first = await store.read('x');
      first[1] = 0;
      expect(Buffer.from(await store.read('x')).toString()).toBe('abc');
    });

    it('replaces by put and never by putIfAbsent', async () => {
      const { store } = await fixture();
      expect(await store.putIfAbsent('x', text('first'))).toBe('created');
      expect(await store.putIfAbsent('x', text('second'))).toBe('exists');
      expect(Buffer.from(await store.read('x')).toString()).toBe('first');
      await store.put('x', text('third'));
      expect(Buffer.from(await store.read('x')).toString()).toBe('third');
    });

    it('lets exactly one of sixteen racing putIfAbsent win, and keeps that one', async () => {
      const { store, reopen } = await fixture();
      const stores = Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? store : reopen()));
      for (let round = 0; round < 10; round++) {
        const results = await Promise.all(stores.map((each, index) => each.putIfAbsent(`log/${round}`, text(`writer ${index}`))));
        const winners = results.flatMap((result, index) => (result === 'created' ? [index] : []));
        expect(winners).toHaveLength(1);
        expect(Buffer.from(await store.read(`log/${round}`)).toString()).toBe(`writer ${winners[0] ?? ''}`);
      }
    });

    it('says what is there and what is not', async () => {
      const { store } = await fixture();
      await store.put('dir/x', text('abc'));
      expect(await store.head('dir/x')).toMatchObject({ path: 'dir/x', sizeBytes: 3 });
      expect(await store.head('dir')).toBeUndefined();
      expect(await store.head('dir/y')).toBeUndefined();
      expect(await store.head('nowhere/y')).toBeUndefined();
      await expect(store.read('nowhere/y')).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND', kind: 'not-found' });
      await expect(store.readRange('dir/y', { from: 0, until: 1 })).rejects.toMatchObject({ code: 'STORAGE_NOT_FOUND' });
    });

    it('shows by its looks whether an object is the one that was seen before', async () => {
      const { store } = await fixture();
      await store.put('x', text('abc'));
      const [seen, again] = [await looked(store, 'x'), await looked(store, 'x')];
      const [shown] = await infos(store, 'x');
      expect(isSameObject(seen, again)).toBe(true);
      expect(shown !== undefined && isSameObject(shown, seen)).toBe(true);
      await store.delete('x');
      await store.put('x', text('xyz'));
      expect(isSameObject(seen, await looked(store, 'x'))).toBe(false);
    });

    it('lists recursively in the order of UTF-8 bytes', async () => {
      const { store } = await fixture();
      // The last two are the other way round in UTF-16; a slash sorts after a dash and before a zero.
      const paths = ['a-b', 'a/c', 'a/d/e', 'a0', 'b', 'p/\uffee', 'p/\u{1f600}'];
      for (const path of paths.toReversed()) await store.put(path, text(path));
      expect(await listed(store, '')).toEqual(paths);
      expect(await listed(store, 'a/')).toEqual(['a/c', 'a/d/e']);
      expect(await listed(store, 'a')).toEqual(['a-b', 'a/c', 'a/d/e', 'a0']);
      expect(await listed(store, '', 'a/c')).toEqual(['a/d/e', 'a0', 'b', 'p/\uffee', 'p/\u{1f600}']);
      expect(await listed(store, 'a/', 'a/d')).toEqual(['a/d/e']);
      expect(await listed(store, 'none/')).toEqual([]);
    });

    it('deletes, also what is not there', async () => {
      const { store } = await fixture();
      await store.put('x/y', text('1'));
      await store.delete('x/y');
      await store.delete('x/y');
      await store.delete('never/was');
      expect(await store.head('x/y')).toBeUndefined();
      expect(await listed(store, '')).toEqual([]);
      expect(await store.putIfAbsent('x/y', text('2'))).toBe('created');
    });

    it.each(['', '/abs', '../up', 'a/../b', './a', 'a//b', 'a/', 'a\\b', 'a\0b', '\ud800', 'n'.repeat(256), 'a/'.repeat(600) + 'b'])(
      'refuses the path %j',
      async (path) => {
        const { store } = await fixture();
        const refused = { code: 'STORAGE_PATH_INVALID', kind: 'invalid' };
        await expect(store.put(path, text('x'))).rejects.toMatchObject(refused);
        await expect(store.putIfAbsent(path, text('x'))).rejects.toMatchObject(refused);
        await expect(store.read(path)).rejects.toMatchObject(refused);
        await expect(store.head(path)).rejects.toMatchObject(refused);
        await expect(store.delete(path)).rejects.toMatchObject(refused);
        expect(await listed(store, '')).toEqual([]);
      },
    );

    it('stores names that mean something elsewhere', async () => {
      const { store } = await fixture();
      const paths = ['%2F', 'a b+c', 'ds=2024-01-01%2000%3A00', '~x', 'ü'];
      for (const path of paths) await store.put(path, text(path));
      expect(await listed(store, '')).toEqual(paths);
      for (const path of paths) expect(Buffer.from(await store.read(path)).toString()).toBe(path);
    });

    it('does nothing after the signal fired', async () => {
      const { store } = await fixture();
      const signal = AbortSignal.abort();
      for (const call of [
        () => store.put('x', text('1'), signal),
        () => store.putIfAbsent('x', text('1'), signal),
        () => store.read('x', signal),
        () => store.delete('x', signal),
      ]) {
        await expect(call()).rejects.toSatisfy((error) => isServiceError(error, 'aborted'));
      }
      expect(await store.head('x')).toBeUndefined();
    });

    it('shows what another instance over the same root put', async () => {
      const { store, reopen } = await fixture();
      await store.put('x', text('1'));
      expect(Buffer.from(await reopen().read('x')).toString()).toBe('1');
    });
  });
}

export async function listed(store: ObjectStore, prefix: string, startAfter?: string): Promise<readonly string[]> {
  return (await infos(store, prefix, startAfter)).map((object) => object.path);
}

async function infos(store: ObjectStore, prefix: string, startAfter?: string): Promise<readonly ObjectInfo[]> {
  const objects: ObjectInfo[] = [];
  for await (const object of store.list({ prefix, startAfter })) objects.push(object);
  return objects;
}

async function looked(store: ObjectStore, path: string): Promise<ObjectInfo> {
  const info = await store.head(path);
  if (info === undefined) throw new TypeError(`no object ${path}`);
  return info;
}
