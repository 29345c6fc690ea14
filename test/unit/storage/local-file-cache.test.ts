import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { LocalFileCache, type RemoteFile } from '../../../src/storage/local-file-cache.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';

/** A file of a server: counts requests, and may be held up or fail. */
class ServedFile implements RemoteFile {
  readonly key: string;
  readonly sizeBytes: number | undefined;
  readonly bytes: Uint8Array;
  requests = 0;
  aborted = 0;
  before: (signal: AbortSignal | undefined) => Promise<void> = () => Promise.resolve();

  constructor(key: string, length: number, known = true) {
    this.key = key;
    this.bytes = new Uint8Array(length).map((_, index) => index % 251);
    this.sizeBytes = known ? length : undefined;
  }

  readonly readRange: RemoteFile['readRange'] = async ({ from, until }, signal) => {
    this.requests += 1;
    signal?.addEventListener('abort', () => {
      this.aborted += 1;
    });
    await this.before(signal);
    return this.bytes.slice(from, until);
  };
}

let parent: string;
let cache: LocalFileCache;
const directory = (): string => join(parent, 'copies');

beforeEach(() => {
  parent = temporaryDirectory('cache');
  cache = new LocalFileCache({ directory: directory(), maxBytes: 100 });
});
afterEach(async () => {
  await cache.close();
  removeDirectory(parent);
});

describe('LocalFileCache', () => {
  it('fetches a file once for all who ask, and keeps it', async () => {
    const file = new ServedFile('s3://b/t/day=1/part-0.parquet', 60);
    const pins = await Promise.all([cache.pin(file), cache.pin(file), cache.pin(file)]);
    const [first] = pins;
    expect(new Set(pins.map((pin) => pin.path)).size).toBe(1);
    expect(first.path).toMatch(/part-0\.parquet$/);
    expect(new Uint8Array(await readFile(first.path))).toEqual(file.bytes);
    for (const pin of pins) pin.release();
    (await cache.pin(file)).release();
    expect(file.requests).toBe(1);
    expect(cache.usedBytes).toBe(60);
  });

  it('fetches large files in pieces, whether their size is known or not', async () => {
    cache = new LocalFileCache({ directory: directory(), maxBytes: 1 << 30 });
    for (const known of [true, false]) {
      const file = new ServedFile(`large-${String(known)}`, (17 << 20) + 3, known);
      const pin = await cache.pin(file);
      expect(Buffer.compare(await readFile(pin.path), file.bytes)).toBe(0);
      expect(file.requests).toBe(3);
      pin.release();
    }
  });

  it('lets go of what was used longest ago, never of what is in use', async () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((key) => new ServedFile(key, 40)) as [ServedFile, ServedFile, ServedFile, ServedFile];
    const pinned = await cache.pin(a);
    (await cache.pin(b)).release();
    (await cache.pin(c)).release();
    expect(existsSync(pinned.path)).toBe(true);
    expect((await readdir(directory())).map((name) => name.at(-1))).toEqual(['a', 'c']);
    pinned.release();
    // `c` was used after `a`, then `a` again.
    (await cache.pin(a)).release();
    (await cache.pin(d)).release();
    expect((await readdir(directory())).map((name) => name.at(-1)).toSorted()).toEqual(['a', 'd']);
    expect(cache.usedBytes).toBe(80);
  });

  it('refuses what does not fit beside the files in use, and takes it once it does', async () => {
    const first = await cache.pin(new ServedFile('a', 60));
    for (const known of [true, false]) {
      await expect(cache.pin(new ServedFile('b', 60, known))).rejects.toMatchObject({ code: 'STORAGE_CACHE_FULL', kind: 'unavailable' });
    }
    expect(cache.usedBytes).toBe(60);
    first.release();
    (await cache.pin(new ServedFile('b', 60))).release();
    expect(await readdir(directory())).toHaveLength(1);
  });

  it('forgets a fetch that failed, and tries again for the next', async () => {
    const file = new ServedFile('a', 10);
    const broken = new ServiceError({ code: 'STORAGE_UNAVAILABLE', kind: 'unavailable', message: 'gone for a moment' });
    file.before = () => Promise.reject(broken);
    await expect(Promise.all([cache.pin(file), cache.pin(file)])).rejects.toBe(broken);
    expect(cache.usedBytes).toBe(0);
    file.before = () => Promise.resolve();
    (await cache.pin(file)).release();
    expect(await readdir(directory())).toHaveLength(1);
  });

  it('goes on fetching while anyone waits, and stops when nobody does', async () => {
    const file = new ServedFile('a', 10);
    let open = (): void => undefined;
    file.before = () =>
      new Promise((resolve) => {
        open = resolve;
      });
    const [left, right] = [new AbortController(), new AbortController()];
    const waiting = [cache.pin(file, left.signal), cache.pin(file, right.signal)] as const;
    // The fetch makes its directory first.
    await vi.waitUntil(() => file.requests > 0, { timeout: 20_000 });
    left.abort();
    await expect(waiting[0]).rejects.toMatchObject({ code: 'ABORTED' });
    expect(file.aborted).toBe(0);
    right.abort();
    await expect(waiting[1]).rejects.toMatchObject({ code: 'ABORTED' });
    expect(file.aborted).toBeGreaterThan(0);
    // Who comes now does not wait for the fetch that was given up.
    file.before = () => Promise.resolve();
    const pin = await cache.pin(file);
    open();
    expect(new Uint8Array(await readFile(pin.path))).toEqual(file.bytes);
    pin.release();
  });

  it('takes everything away when it is closed', async () => {
    (await cache.pin(new ServedFile('a', 10))).release();
    await cache.close();
    expect(existsSync(directory())).toBe(false);
    await expect(cache.pin(new ServedFile('b', 10))).rejects.toMatchObject({ code: 'STORAGE_CACHE_CLOSED' });
  });
});
