import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LazyEngine } from '../../../src/app/lazy-engine.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { IcebergTables } from '../../../src/iceberg/iceberg-tables.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { FileScan } from '../../../src/table/scan.ts';
import type { Table } from '../../../src/table/table.ts';
import { temporarySession } from '../../support/temporary-session.ts';
import { type FeedBench, feedBench } from './feed-bench.ts';

/** The same object, with a call before each of its methods. */
function watched<T extends object>(target: T, before: (method: string, first: unknown) => void): T {
  return new Proxy(target, {
    get: (of, name) => {
      const member: unknown = Reflect.get(of, name, of);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]): unknown => {
        before(String(name), given[0]);
        return Reflect.apply(member, of, given);
      };
    },
  });
}

/** Ten rows of these amounts, a file. */
const insert = (from: number): string =>
  `INSERT INTO t VALUES ${Array.from({ length: 10 }, (_, index) => `(${from + index}, ${from + index})`).join(', ')}`;

const statements = [
  ...[0, 20, 90, 40, 60].map(insert),
  'DELETE FROM t WHERE k IN (3, 93)',
  'DELETE FROM t WHERE k BETWEEN 20 AND 29',
  // Each row in another file, on the other side of the condition.
  'INSERT OVERWRITE t SELECT k, 100 - amount FROM t',
  'INSERT OVERWRITE t SELECT k, 100 - amount FROM t WHERE k <> 45',
  'INSERT INTO t VALUES (200, NULL), (201, NULL)',
  insert(300),
  'DELETE FROM t WHERE k >= 300',
  'DELETE FROM t',
];

describe.each([
  ['delta', "'delta.enableChangeDataFeed' = 'true'"],
  ['delta', "'delta.enableChangeDataFeed' = 'true', 'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'false'"],
  ['iceberg', "'write.delete.mode' = 'merge-on-read'"],
  ['iceberg', "'write.delete.mode' = 'copy-on-write'"],
] as const)('a feed of a condition over a table in %s (%s)', (format, properties) => {
  it('publishes what it would publish if it read every file, and reads those alone that may hold rows of it', async () => {
    await using own = await temporarySession();
    const { session, directory } = own;
    const place = join(directory, 't');
    await session.sql(`CREATE TABLE ${format}.\`${place}\` (k BIGINT, amount BIGINT) USING ${format} TBLPROPERTIES (${properties})`);
    for (const statement of statements) {
      const frame = await session.sql(statement.replaceAll(/\bt\b/g, `${format}.\`${place}\``));
      await frame.collect();
    }
    const ids = new RandomIdSource(new SeededRandom(2));
    const engine = new LazyEngine({ memoryLimitBytes: 2 ** 28, threads: 1, temporaryDirectory: directory, ids });
    const openEngine = (): ReturnType<LazyEngine['open']> => engine.open();
    const random = new SeededRandom(1);
    const parts = { openStore: openObjectStore, clock: new SystemClock(), random, ids, version: 'test', engine: openEngine };
    const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
    const scratchDirectory = join(directory, 'scratch');
    const open = async (): Promise<Table> => {
      const tables = { delta: new DeltaTables({ ...parts, rewriter }), iceberg: new IcebergTables({ ...parts, scratchDirectory }) };
      const table = await tables[format].open('t', place);
      if (table === undefined) throw new TypeError('no table');
      return table;
    };
    const published = async (where: string): Promise<{ readonly lines: readonly string[]; readonly files: number }> => {
      const asked = new Set<string>();
      // The engine opens local files itself.
      const scanned = (method: string, scan: unknown): void => {
        if (method === 'scan') for (const { path } of (scan as FileScan).files) asked.add(basename(path));
      };
      const fetched = (method: string, path: unknown): void => {
        if (method === 'read' || method === 'readRange') asked.add(basename(String(path)));
      };
      const bench: FeedBench = feedBench(open, {
        openEngine: async () => watched(await openEngine(), scanned),
        openStore: (location) => watched(openObjectStore(location), fetched),
      });
      const { version } = await (await open()).refresh();
      // Ordinals too: they are those of the whole table.
      const more = { where, envelope: 'debezium', keyColumns: ['k'], maxTransactionRows: 7 } as const;
      expect(await bench.publish(version, 'fail', more)).toMatchObject({ state: 'stopped', position: { version, complete: true } });
      return { lines: await bench.published(), files: asked.size };
    };
    for (const condition of ['# > 50', '# <= 50 OR # IS NULL', '# BETWEEN 55 AND 65']) {
      const pruned = await published(condition.replaceAll('#', 'amount'));
      const whole = await published(condition.replaceAll('#', 'coalesce(amount, amount)'));
      expect(pruned.lines).toEqual(whole.lines);
      expect(pruned.lines.length).toBeGreaterThan(3);
      expect(pruned.files).toBeLessThan(whole.files);
    }
    await engine.close();
  });
});
