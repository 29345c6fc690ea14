import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { foldedRows } from '../support/folded-rows.ts';
import { KeyedBench } from '../support/keyed-bench.ts';
import { keyedVariants } from '../support/keyed-variants.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';

/*
 * Compaction beside upserts: between the reading of files and the commit of what became of them too. The table and its feed equal a fold of the records,
 * and readers find few rows that are deleted, in few files.
 */

const directory = mkdtempSync(join(tmpdir(), 'keyed-upkeep-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

let made = 0;
function benchOf(format: (typeof keyedVariants)[number][0], how: string): KeyedBench {
  made += 1;
  return new KeyedBench({
    ...{ format, directory: join(directory, String(made)) },
    columns: ['{ name: id, type: long, nullable: false }', '{ name: n, type: integer }'],
    table: ['keyColumns: [id]', 'deleteWhen: "n < 0"', how],
  });
}

interface Change {
  readonly id: number;
  readonly n: number;
}
type Batch = readonly Change[];
type Step = { readonly kind: 'batch'; readonly rows: Batch } | { readonly kind: 'compact'; readonly meanwhile: readonly Batch[] };

const batch = fc.array(fc.record({ id: fc.integer({ min: 0, max: 7 }), n: fc.integer({ min: -1, max: 3 }) }), {
  minLength: 1,
  maxLength: 5,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('batch' as const), rows: batch }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('compact' as const), meanwhile: fc.array(batch, { maxLength: 2 }) }) },
);
const eager = { targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 4, maxDeletedShare: 0.01 };

const textOf = ({ id, n }: Readonly<Record<string, unknown>>): string => `${String(id)}|${String(n)}`;

async function follow(bench: KeyedBench, rows: Map<number, number>, changes: Batch): Promise<void> {
  expect(await bench.commit(...changes.map((value) => ({ value: JSON.stringify(value) })))).toMatchObject({ kind: 'committed' });
  for (const { id, n } of changes) {
    if (n < 0) rows.delete(id);
    else rows.set(id, n);
  }
}

async function compare(bench: KeyedBench, rows: ReadonlyMap<number, number>): Promise<void> {
  const wanted = [...rows].map(([id, n]) => textOf({ id, n })).toSorted();
  expect((await bench.sql('SELECT id, n FROM $accounts')).map(textOf).toSorted()).toEqual(wanted);
  expect(foldedRows(await bench.changes(), textOf)).toEqual(wanted);
}

describe(`keyed tables and their compaction, seed ${propertySeed}`, () => {
  it.each(keyedVariants)(
    'of %s %s lose no change to a compaction, and no deleted row comes back',
    async (format, _, how) => {
      await holds(
        fc.array(step, { minLength: 4, maxLength: 9 }),
        async (steps) => {
          const bench = benchOf(format, how);
          try {
            const rows = new Map<number, number>();
            for (const each of steps) {
              if (each.kind === 'batch') await follow(bench, rows, each.rows);
              else
                await bench.compact(eager, async () => {
                  for (const changes of each.meanwhile) await follow(bench, rows, changes);
                });
            }
            await compare(bench, rows);
          } finally {
            await bench.close();
          }
        },
        { runs: 1 },
      );
    },
    propertyTimeoutMs,
  );

  it.each([keyedVariants[0], keyedVariants[2], keyedVariants[3]])(
    'of %s %s are read at less than 1.3 times what they hold, however often rows change',
    async (format, _, how) => {
      const [keys, commits, changesOf] = [1_200, 8, 200];
      const rule = { targetFileBytes: 8_000, minInputFiles: 8, maxGroups: 16 };
      const random = new SeededRandom(propertySeed);
      const bench = benchOf(format, how);
      try {
        const rows = new Map<number, number>();
        await follow(
          bench,
          rows,
          Array.from({ length: keys }, (_each, id) => ({ id, n: 0 })),
        );
        for (let commit = 1; commit <= commits; commit += 1) {
          const changed = (): Batch =>
            Array.from({ length: changesOf }, () => ({ id: Math.floor(random.next() * keys), n: commit % 4 === 0 ? -1 : commit }));
          await follow(bench, rows, changed());
          if (commit % 4 !== 0) continue;
          expect((await bench.stored()).storedRows / rows.size).toBeGreaterThan(1.3);
          // Rows that end while files are rewritten are followed.
          expect(await bench.compact(rule, () => follow(bench, rows, changed()))).toBe('committed');
        }
        const { files, storedRows } = await bench.stored();
        expect(storedRows / rows.size).toBeLessThan(1.3);
        expect(storedRows / rows.size).toBeGreaterThanOrEqual(1);
        expect(files).toBeLessThanOrEqual(rule.minInputFiles);
        await compare(bench, rows);
      } finally {
        await bench.close();
      }
    },
    propertyTimeoutMs,
  );

  it.each(['delta', 'iceberg'] as const)(
    'of %s have their rows in the order of the key, so that statistics of row groups tell where one is',
    async (format) => {
      const bench = benchOf(format, 'properties: {}');
      try {
        for (const ids of [
          [5, 1, 9],
          [4, 8, 2],
          [1, 7],
        ])
          await follow(
            bench,
            new Map(),
            ids.map((id) => ({ id, n: 1 })),
          );
        expect(await bench.compact(eager)).toBe('committed');
        expect(await bench.stored()).toMatchObject({ files: 1, storedRows: 7 });
        expect((await bench.sql('SELECT id FROM $accounts')).map(({ id }) => id)).toEqual([1n, 2n, 4n, 5n, 7n, 8n, 9n]);
      } finally {
        await bench.close();
      }
    },
  );

  it.each([
    ['delta', '_metadata.file_path'],
    ['iceberg', '_file'],
  ] as const)('of %s have large files that come apart by their keys', async (format, file) => {
    const [keys, files] = [2_000, 4];
    const bench = benchOf(format, 'properties: {}');
    try {
      const rows = new Map<number, number>();
      for (let part = 0; part < files; part += 1)
        await follow(
          bench,
          rows,
          Array.from({ length: keys / files }, (_each, index) => ({ id: index * files + part, n: 7919 * index })),
        );
      const targetFileBytes = (await bench.stored()).bytes / files;
      // Of every file a third ends.
      await follow(
        bench,
        rows,
        Array.from({ length: keys / 3 }, (_each, index) => ({ id: index * 3, n: -1 })),
      );
      const opened = async (): Promise<number> => {
        const ranges = await bench.sql(`SELECT min(id) AS f, max(id) AS u FROM $accounts GROUP BY ${file}`);
        const most = Array.from({ length: keys }, (_each, id) => ranges.filter(({ f, u }) => Number(f) <= id && id <= Number(u)).length);
        return Math.max(...most);
      };
      expect(await opened()).toBe(files);
      expect(await bench.compact({ targetFileBytes, minInputFiles: 8, maxGroups: 16 })).toBe('committed');
      expect(await opened()).toBe(1);
      expect((await bench.stored()).files).toBeGreaterThan(1);
      await compare(bench, rows);
    } finally {
      await bench.close();
    }
  });
});
