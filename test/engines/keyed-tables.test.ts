import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import type { Row } from '../../src/index.ts';
import { KeyedBench } from '../support/keyed-bench.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { obtainEngines } from './engines.ts';
import { type CanonicalRow, Oracle, sortedLines } from './oracle.ts';
import { canonicalRow } from './support/canonical-rows.ts';
import { enginesMissing } from './support/engine-bench.ts';
import { linesOf } from './support/iceberg-bench.ts';

/* Tables with one row for each key after updates, deletes and compactions, with marks in its files again, some of them made while their rows were copied, read by other engines: each sees what a map folds the records to. */

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const batches = 6;
const batchSize = 30;
const keys = 40;
/** After this batch; those behind it leave marks again. */
const compactedAt = 2;
/** With this batch in the middle of a compaction as maintenance runs it, whose files have marks of their own then. */
const carriedAt = 4;
const eager = { targetFileBytes: 1 << 20, minInputFiles: 2, maxGroups: 4 };

const ofIceberg = [
  ['position deletes', 'properties: {}'],
  ['deletion vectors', 'properties: { format-version: "3" }'],
] as const;
const compactions = {
  delta: 'OPTIMIZE $accounts',
  iceberg: "CALL ice.system.rewrite_data_files(table => 'db.accounts', options => map('rewrite-all', 'true'))",
};

describe.skipIf(enginesMissing)(`a table with one row for each key, SEED=${seed}`, () => {
  const directory = temporaryDirectory('engines-keyed');
  let oracle: Oracle;
  let made = 0;

  beforeAll(async () => {
    oracle = Oracle.start(await obtainEngines());
  }, 900_000);
  afterAll(async () => {
    await oracle.stop();
    removeDirectory(directory);
  });

  /** Expects `seen` of the table's path to see the fold. */
  async function expectFold(
    format: 'delta' | 'iceberg',
    how: string,
    seen: (path: string, bench: KeyedBench) => Promise<readonly (readonly [engine: string, rows: readonly string[]])[]>,
  ): Promise<void> {
    made += 1;
    const bench = new KeyedBench({
      ...{ format, directory: join(directory, String(made)) },
      columns: ['{ name: id, type: long, nullable: false }', '{ name: kind, type: string }', '{ name: n, type: integer }'],
      table: ['keyColumns: [id]', `deleteWhen: "kind = 'gone'"`, 'partitionBy: [kind]', how],
    });
    const random = new SeededRandom(seed);
    const below = (most: number): number => Math.floor(random.next() * most);
    const rows = new Map<number, CanonicalRow>();
    try {
      for (let batch = 0; batch < batches; batch += 1) {
        const records = Array.from({ length: batchSize }, () => ({
          id: below(keys),
          kind: ['a', 'b', 'gone'][below(3)] ?? 'a',
          n: below(1000),
        }));
        const commit = (): Promise<unknown> => bench.commit(...records.map((record) => ({ value: JSON.stringify(record) })));
        if (batch === carriedAt) expect(await bench.compact(eager, commit)).toBe('committed');
        else await commit();
        for (const record of records) {
          if (record.kind === 'gone') rows.delete(record.id);
          else rows.set(record.id, record);
        }
        if (batch === compactedAt) await bench.sql(compactions[format]);
      }
      const wanted = sortedLines([...rows.values()]);
      for (const [engine, found] of await seen(bench.path, bench)) expect([engine, ...found]).toEqual([engine, ...wanted]);
    } finally {
      await bench.close();
    }
  }

  it('P04: of Delta, with deletion vectors, is its fold in Spark, DuckDB and delta-rs', async () => {
    await expectFold('delta', 'properties: {}', async (path) => {
      const seen: [string, readonly string[]][] = [];
      for (const engine of ['spark', 'duckdb', 'delta-rs'] as const) seen.push([engine, sortedLines(await oracle.rows(engine, path))]);
      return seen;
    });
  });

  it.each(['stored', 'derived'])(
    'P04: of Delta, with %s images, has the same changes for Spark and for a session of ours',
    async (images) => {
      await expectFold('delta', `changeImages: ${images}`, async (path, bench) => {
        const { version } = await (await bench.table()).refresh();
        for (let at = 1; at <= version; at += 1) {
          const ours = await bench.sql(`SELECT id, kind, n, _change_type, _commit_version FROM table_changes('$accounts', ${at}, ${at})`);
          const theirs = await oracle.changes('spark', path, { from: at, to: at });
          expect([at, ...sortedLines(ours.map((row) => canonicalRow(row as Row)))]).toEqual([at, ...sortedLines(theirs)]);
        }
        return [];
      });
    },
  );

  it.each(ofIceberg)('P04: of Iceberg, with %s, is its fold in Spark, DuckDB and pyiceberg', async (_, how) => {
    await expectFold('iceberg', how, async (path) => {
      const seen: [string, readonly string[]][] = [];
      for (const engine of ['spark', 'duckdb', 'pyiceberg'] as const) {
        const [reading] = await oracle.readIceberg(engine, [{ what: 'rows', path }]);
        seen.push([engine, linesOf(reading)]);
      }
      return seen;
    });
  });
});
