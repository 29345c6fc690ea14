import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Clock, toEpochMs } from '../../../../src/base/clock.ts';
import { serviceError } from '../../../../src/base/errors.ts';
import { inertFailpoint } from '../../../../src/base/failpoint.ts';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { KeyIndexSize } from '../../../../src/rows/key-index/key-index-observer.ts';
import { LocalKeyIndex } from '../../../../src/rows/key-index/local-key-index.ts';
import type { IndexedFile, KeyEntries, TableKeyIndex } from '../../../../src/table/key-index.ts';
import { type EntryRow, entriesOf, hashesOf, placesText, rowsText } from '../../../support/key-entries.ts';

const root = mkdtempSync(join(tmpdir(), 'key-index-'));
afterAll(() => {
  rmSync(root, { recursive: true, force: true });
});
let made = 0;
const open: LocalKeyIndex[] = [];
afterEach(async () => {
  for (const index of open.splice(0)) await index.close();
});

/** An index of one table in a directory of its own, and what it tells. */
class Bench {
  readonly directory: string = join(root, String((made += 1)));
  readonly failures: string[] = [];
  readonly fulls: KeyIndexSize[] = [];
  size: KeyIndexSize | undefined;
  /** Since the clock of the machine. */
  laterMs = 0;
  readonly clock: Clock = {
    now: () => toEpochMs(Date.now() + this.laterMs),
    monotonicMs: () => this.laterMs,
    sleep: () => Promise.resolve(),
  };
  readonly maxBytes: number;

  constructor(maxBytes = 1e9) {
    this.maxBytes = maxBytes;
  }

  index(): LocalKeyIndex {
    const index = new LocalKeyIndex({
      directory: this.directory,
      settings: { minRows: 1_000, maxBytes: this.maxBytes },
      ids: new RandomIdSource(new SeededRandom((made += 1))),
      clock: this.clock,
      failpoint: inertFailpoint,
      observer: {
        changed: (size) => {
          this.size = size;
        },
        failed: (what) => {
          this.failures.push(what);
        },
        full: (size) => {
          this.fulls.push(size);
        },
      },
    });
    open.push(index);
    return index;
  }

  /** Of files that are there now. */
  files(suffix = '.run'): readonly string[] {
    return readdirSync(this.directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(suffix))
      .map((name) => join(this.directory, name));
  }
}

const owner = { tableId: 't', columns: 'id long', carried: 0 };
const file = (name: string, rowCount: number): IndexedFile => ({ path: name, sizeBytes: 10, rowCount });
/** So many rows, with hashes that follow from their numbers and are spread over all first words. */
const rowsOf = (fileNumber: number, count: number, from = 0): readonly EntryRow[] =>
  Array.from({ length: count }, (_, position) => ({ hash: hashOf(from + position), file: fileNumber, position }));
const hashOf = (key: number): EntryRow['hash'] => [Math.imul(key, 2_654_435_761) >>> 0, key, 0, 0];

async function opened(index: LocalKeyIndex): Promise<TableKeyIndex> {
  const table = await index.of(owner);
  if (table === undefined) throw new Error('the index is not to be had');
  return table;
}

async function found(
  table: TableKeyIndex,
  keys: readonly EntryRow['hash'][],
  files: readonly IndexedFile[],
): Promise<readonly string[] | undefined> {
  const hashes = hashesOf(keys);
  const places = await table.find(hashes, files);
  return places === undefined ? undefined : placesText(places, hashes);
}

describe('a key index', () => {
  it('finds the rows of keys in the files that are asked for, and knows which files it has', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    const [a, b] = [file('a', 2_000), file('b', 700)];
    const rows = [...rowsOf(0, 2_000), ...rowsOf(1, 700, 1_500)];
    expect(await table.add([a, b], entriesOf(rows))).toBe(true);
    expect([table.covers(a), table.covers(b), table.covers(file('a', 1_999)), table.covers(file('c', 1))]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const keys = [0, 7, 1_499, 1_500, 1_999, 2_199, 2_200, 5_000].map(hashOf);
    const asked = rows.filter(({ hash }) => keys.some((key) => key.join() === hash.join()));
    expect(await found(table, keys, [a, b])).toEqual(rowsText(asked));
    expect(await found(table, keys, [b])).toEqual(rowsText(asked.filter((row) => row.file === 1).map((row) => ({ ...row, file: 0 }))));
    expect(await found(table, [], [a, b])).toEqual([]);
    expect(bench.size).toMatchObject({ files: 2, entries: 2_700 });
  });

  it('finds all rows of a key that has more than a page of them, and of hashes that begin alike', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    const many = Array.from({ length: 1_300 }, (_, position): EntryRow => ({ hash: [5, position % 3, 0, 1], file: 0, position }));
    const around = [0, 1, 4, 6, 0xffff_ffff].map((word, index): EntryRow => ({ hash: [word, 0, 0, 1], file: 0, position: 2_000 + index }));
    const all = [...many, ...around];
    const whole = file('a', all.length);
    await table.add([whole], entriesOf(all));
    for (const hash of [
      [5, 0, 0, 1],
      [5, 2, 0, 1],
      [0, 0, 0, 1],
      [0xffff_ffff, 0, 0, 1],
      [5, 0, 0, 0],
      [5, 3, 0, 1],
    ] as const)
      expect(await found(table, [hash], [whole])).toEqual(rowsText(all.filter((row) => row.hash.join() === hash.join())));
  });

  it('has numbers of 64 bits with each row', async () => {
    const bench = new Bench();
    const table = await bench.index().of({ ...owner, carried: 2 });
    const values = [-(2n ** 63n), -1n, 0n, 1n, 2n ** 32n, 2n ** 63n - 1n];
    const rows = values.map((value, position): EntryRow => ({ hash: hashOf(position), file: 0, position, carried: [value, 7n] }));
    await table?.add([file('a', rows.length)], entriesOf(rows, 2));
    const hashes = hashesOf(rows.map(({ hash }) => hash));
    const places = await table?.find(hashes, [file('a', rows.length)]);
    expect(places === undefined ? undefined : placesText(places, hashes)).toEqual(rowsText(rows));
  });

  it('has another salt where one was not written to its end', async () => {
    const bench = new Bench();
    const before = bench.index();
    const { salt } = await opened(before);
    await before.close();
    const [path = ''] = bench.files('salt');
    truncateSync(path, 0);
    const after = await opened(bench.index());
    expect(after.salt).toHaveLength(salt.length);
    expect(readFileSync(path, 'utf8')).toBe(after.salt);
  });

  it('is there after a restart; one of another table, of other columns, or with another salt is not', async () => {
    const bench = new Bench();
    const first = bench.index();
    const whole = file('a', 300);
    await (await opened(first)).add([whole], entriesOf(rowsOf(0, 300)));
    await first.close();
    expect(await found(await opened(bench.index()), [hashOf(5)], [whole])).toEqual(rowsText(rowsOf(0, 300).slice(5, 6)));
    writeFileSync(bench.files('salt')[0] ?? '', 'another');
    const resalted = bench.index();
    expect((await opened(resalted)).covers(whole)).toBe(false);
    for (const other of [
      { ...owner, tableId: 'u' },
      { ...owner, columns: 'id string' },
      { ...owner, carried: 1 },
    ])
      expect((await bench.index().of(other))?.covers(whole)).toBe(false);
    expect(bench.files()).toEqual([]);
    expect(bench.failures).toEqual([]);
  });

  it('is shared by several processes: what one adds or deletes leaves the others as they are', async () => {
    const bench = new Bench();
    const [one, two] = [await opened(bench.index()), await opened(bench.index())];
    const whole = file('a', 300);
    await one.add([whole], entriesOf(rowsOf(0, 300)));
    expect(two.covers(whole)).toBe(false);
    await two.add([whole], entriesOf(rowsOf(0, 300)));
    // Both are read at the next start; each row counts once.
    const third = await opened(bench.index());
    expect(await found(third, [hashOf(9)], [whole])).toEqual(rowsText(rowsOf(0, 300).slice(9, 10)));
    for (const path of bench.files()) rmSync(path);
    expect(await found(one, [hashOf(9)], [whole])).toHaveLength(1);
    expect(await found(third, [hashOf(9)], [whole])).toHaveLength(1);
  });

  it('puts runs together, without the rows of files that are gone', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    const files = Array.from({ length: 20 }, (_, number) => file(`f${number}`, 100));
    for (const [number, each] of files.entries()) await table.add([each], entriesOf(rowsOf(0, 100, number * 50)));
    expect(table.isUntidy).toBe(true);
    const live = files.filter((_, number) => number % 2 === 0);
    table.tidy(live);
    await expect.poll(() => bench.files().length).toBe(1);
    expect(bench.size).toMatchObject({ files: 10, entries: 1_000 });
    expect(table.isUntidy).toBe(false);
    const keys = Array.from({ length: 1_100 }, (_, key) => hashOf(key));
    const expected = live.flatMap((_, at) => rowsOf(at, 100, at * 100));
    expect(await found(table, keys, live)).toEqual(rowsText(expected));
    // The same from disk.
    expect(await found(await opened(bench.index()), keys, live)).toEqual(rowsText(expected));
  });

  it('finds all rows while runs are put together, and those of files that came after it was known which are live', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    const files = Array.from({ length: 12 }, (_, number) => file(`f${number}`, 1_000));
    const keys = Array.from({ length: 12_000 }, (_, key) => hashOf(key));
    const expected = (count: number): readonly string[] =>
      rowsText(files.slice(0, count).flatMap((_, at) => rowsOf(at, 1_000, at * 1_000)));
    for (const [number, each] of files.entries()) {
      table.tidy(files.slice(0, number));
      await table.add([each], entriesOf(rowsOf(0, 1_000, number * 1_000), 0, 500));
      const searches = [1, 2, 3].map(() => found(table, keys, files.slice(0, number + 1)));
      for (const search of searches) expect(await search).toEqual(expected(number + 1));
    }
    expect(bench.failures).toEqual([]);
  });

  it('gives nothing rather than a part when it does not cover a file', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    await table.add([file('a', 3)], entriesOf(rowsOf(0, 3)));
    expect(await found(table, [hashOf(1)], [file('a', 3), file('b', 3)])).toBeUndefined();
    expect(await found(table, [hashOf(1)], [file('a', 3)])).toHaveLength(1);
  });

  it.each([
    [
      'a page',
      (path: string) => {
        flipByte(path, 40);
      },
    ],
    [
      'the fences',
      (path: string) => {
        flipByte(path, 300 * 24 + 2);
      },
    ],
    [
      'the trailer',
      (path: string) => {
        flipByte(path, statSync(path).size - 1);
      },
    ],
    [
      'the end',
      (path: string) => {
        truncateSync(path, statSync(path).size - 3);
      },
    ],
    [
      'everything',
      (path: string) => {
        truncateSync(path, 0);
      },
    ],
  ])('is thrown away when %s of it is not what was written', async (_, damage) => {
    const bench = new Bench();
    const first = bench.index();
    const whole = file('a', 300);
    await (await opened(first)).add([whole], entriesOf(rowsOf(0, 300)));
    await first.close();
    damage(bench.files()[0] ?? '');
    const index = bench.index();
    const table = await opened(index);
    if (table.covers(whole))
      expect(
        await found(
          table,
          Array.from({ length: 300 }, (_, key) => hashOf(key)),
          [whole],
        ),
      ).toBeUndefined();
    expect(bench.failures).toEqual(['read']);
    expect(table.covers(whole)).toBe(false);
    expect(bench.files()).toEqual([]);
    // It begins anew.
    const again = await opened(index);
    expect(await again.add([whole], entriesOf(rowsOf(0, 300)))).toBe(true);
    expect(await found(again, [hashOf(3)], [whole])).toHaveLength(1);
  });

  it('does without when its directory cannot be made, and tries again later', async () => {
    const bench = new Bench();
    writeFileSync(bench.directory, 'in the way');
    const index = bench.index();
    expect(await index.of(owner)).toBeUndefined();
    rmSync(bench.directory);
    expect(await index.of(owner)).toBeUndefined();
    expect(bench.failures).toEqual(['open']);
    bench.laterMs = 3_600_000;
    expect(await index.of(owner)).toBeDefined();
  });

  it('does without what it cannot write; what the table throws is thrown', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    rmSync(bench.directory, { recursive: true });
    writeFileSync(bench.directory, 'in the way');
    expect(await table.add([file('a', 3)], entriesOf(rowsOf(0, 3)))).toBe(false);
    expect(await table.add([file('b', 3)], entriesOf(rowsOf(0, 3)))).toBe(false);
    expect(bench.failures).toEqual(['add']);
    rmSync(bench.directory);
    const other = await opened(bench.index());
    const gone = serviceError.notFound('ENGINE_FILE_MISSING', 'the file is gone');
    await expect(other.add([file('a', 3)], failing(gone))).rejects.toBe(gone);
    expect(other.covers(file('a', 3))).toBe(false);
    expect(bench.files('')).not.toContainEqual(expect.stringMatching(/run/));
  });

  it('goes on when somebody deletes it meanwhile', async () => {
    const bench = new Bench();
    const table = await opened(bench.index());
    const [a, b] = [file('a', 300), file('b', 10)];
    await table.add([a], entriesOf(rowsOf(0, 300)));
    rmSync(bench.directory, { recursive: true });
    expect(await found(table, [hashOf(9)], [a])).toHaveLength(1);
    expect(await table.add([b], entriesOf(rowsOf(0, 10)))).toBe(true);
    expect(await found(table, [hashOf(9)], [a, b])).toHaveLength(2);
    expect(await found(await opened(bench.index()), [hashOf(9)], [b])).toHaveLength(1);
    expect(bench.failures).toEqual([]);
  });

  it('takes in no more than it may have bytes', async () => {
    const bench = new Bench(24 * 250);
    const table = await opened(bench.index());
    expect(await table.add([file('a', 100)], entriesOf(rowsOf(0, 100)))).toBe(true);
    expect(await table.add([file('b', 200)], entriesOf(rowsOf(0, 200)))).toBe(false);
    expect(await table.add([file('c', 200)], entriesOf(rowsOf(0, 200)))).toBe(false);
    expect(bench.fulls).toMatchObject([{ files: 1, entries: 100 }]);
    expect([table.covers(file('a', 100)), table.covers(file('b', 200))]).toEqual([true, false]);
  });

  it('pays for many rows and few keys', () => {
    const index = new Bench().index();
    expect([index.pays({ rows: 999, keys: 1 }), index.pays({ rows: 1_000, keys: 1 }), index.pays({ rows: 1_000, keys: 100_001 })]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('leaves what another process writes, and not what nobody has finished', async () => {
    const bench = new Bench();
    await opened(bench.index());
    const [salt = ''] = bench.files('salt');
    const unfinished = salt.replace(/salt$/, 'x.run.tmp');
    writeFileSync(unfinished, 'x');
    await opened(bench.index());
    expect(existsSync(unfinished)).toBe(true);
    bench.laterMs = 7_200_000;
    await opened(bench.index());
    expect(existsSync(unfinished)).toBe(false);
  });
});

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(path, bytes);
}

async function* failing(error: Error): AsyncGenerator<KeyEntries, void, undefined> {
  yield* entriesOf(rowsOf(0, 3));
  throw error;
}
