import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LazyEngine } from '../../../src/app/lazy-engine.ts';
import { present } from '../../../src/base/assert.ts';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { standingOfTable } from '../../../src/cdf/table-standing.ts';
import { DeltaTables } from '../../../src/delta/delta-tables.ts';
import { openObjectStore } from '../../../src/storage/open-object-store.ts';
import type { Table } from '../../../src/table/table.ts';
import { temporarySession } from '../../support/temporary-session.ts';
import { feedBench } from './feed-bench.ts';

async function openTable(location: string): Promise<Table> {
  const random = new SeededRandom(1);
  const rewriter = { rewrite: (): Promise<never> => Promise.reject(new TypeError('not used')) };
  const parts = {
    openStore: openObjectStore,
    clock: new SystemClock(),
    random,
    ids: new RandomIdSource(random),
    version: 'test',
    rewriter,
  };
  const table = await new DeltaTables({ ...parts, staysWithTable: true }).open('t', location);
  if (table === undefined) throw new TypeError('no table');
  return table;
}

describe('a feed of a Delta table', () => {
  const inserted = (id: number, version: number): string => `{"id":${id},"_change_type":"insert","_commit_version":${version}}`;

  it.each([
    ['by the process that published it', true],
    ['by a process that begins', false],
  ])('stands still, loudly, when an older copy of the table was put back, seen %s', async (_, goesOn) => {
    await using own = await temporarySession();
    const [place, copy] = [join(own.directory, 't'), join(own.directory, 'copy')];
    const insert = (id: number): Promise<unknown> => own.session.sql(`INSERT INTO delta.\`${place}\` VALUES (${id})`);
    await own.session.sql(
      `CREATE TABLE delta.\`${place}\` (id BIGINT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'false')`,
    );
    await insert(1);
    cpSync(place, copy, { recursive: true });
    await insert(2);
    let known: Promise<Table> | undefined;
    const { publish, published } = feedBench(() => {
      if (!goesOn || known === undefined) known = openTable(place);
      return known;
    });
    await publish(2);
    rmSync(place, { recursive: true });
    cpSync(copy, place, { recursive: true });
    expect(await publish(3)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK', kind: 'discontinuity' } });
    // The log grows past the position with other versions.
    for (const id of [3, 4, 5]) await insert(id);
    const stands = await publish(4);
    expect(stands).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
    // Who looks at position and table alone sees it, too.
    const table = await openTable(place);
    expect(await standingOfTable({ table, newest: await table.refresh() }, present(stands.position, 'it published'))).toBe('gap');
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2)]);
    expect(await publish(4, 'resnapshot')).toMatchObject({ state: 'stopped', position: { version: 4, complete: true } });
    const again = (await published()).slice(2).map((line) => (JSON.parse(line) as { readonly id: number }).id);
    expect(again.sort()).toEqual([1, 3, 4, 5]);
  });

  it('goes on behind versions whose commits were cleaned up meanwhile', async () => {
    await using own = await temporarySession();
    const place = join(own.directory, 't');
    await own.session.sql(
      `CREATE TABLE delta.\`${place}\` (id BIGINT) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'delta.checkpointInterval' = '2')`,
    );
    for (const id of [1, 2]) await own.session.sql(`INSERT INTO delta.\`${place}\` VALUES (${id})`);
    const { publish, published } = feedBench(() => openTable(place));
    await publish(2);
    await own.session.sql(`INSERT INTO delta.\`${place}\` VALUES (3)`);
    for (const version of [0, 1, 2]) rmSync(join(place, '_delta_log', `${String(version).padStart(20, '0')}.json`));
    expect(await publish(3)).toMatchObject({ state: 'stopped', position: { version: 3, complete: true } });
    expect(await published()).toEqual([inserted(1, 1), inserted(2, 2), inserted(3, 3)]);
  });

  const statements = [
    "INSERT INTO t VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'y'), (3, 'c', 30, 'x')",
    "UPDATE t SET name = 'B' WHERE id = 2",
    'DELETE FROM t WHERE id = 1',
    'ALTER TABLE t RENAME COLUMN name TO label',
    'ALTER TABLE t ALTER COLUMN n TYPE BIGINT',
    "INSERT INTO t VALUES (4, 'd', 5000000000, 'z')",
    "UPDATE t SET label = 'C', p = 'y' WHERE id = 3",
    'ALTER TABLE t DROP COLUMN n',
    'ALTER TABLE t ADD COLUMN n STRING',
    "MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 9) AS s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, label, p) VALUES (9, 'm', 'x')",
    "INSERT INTO t VALUES (5, 'e', 'z', 'five')",
    'DELETE FROM t WHERE id >= 5',
    'OPTIMIZE t',
  ];

  it.each([
    ['by name', 'name', true],
    ['by name, without deletion vectors', 'name', false],
    ['by id', 'id', true],
  ])('publishes of columns that are mapped %s, renamed, dropped and widened what a session reads as changes', async (_, mode, vectors) => {
    await using own = await temporarySession();
    const { session, directory } = own;
    const place = join(directory, 't');
    const properties = {
      'delta.enableChangeDataFeed': 'true',
      'delta.columnMapping.mode': mode,
      'delta.enableTypeWidening': 'true',
      'delta.enableRowTracking': 'true',
      'delta.enableDeletionVectors': String(vectors),
    };
    const listed = Object.entries(properties).map(([name, value]) => `'${name}' = '${value}'`);
    await session.sql(
      `CREATE TABLE t (id BIGINT, name STRING, n INT, p STRING) USING delta PARTITIONED BY (p) LOCATION '${place}' TBLPROPERTIES (${listed.join(', ')})`,
    );
    for (const statement of statements) await session.sql(statement);
    const engine = new LazyEngine({
      memoryLimitBytes: 2 ** 28,
      threads: 1,
      temporaryDirectory: directory,
      ids: new RandomIdSource(new SeededRandom(2)),
    });
    const { publish, published } = feedBench(() => openTable(place), { openEngine: () => engine.open() });
    const { version: newest } = await (await openTable(place)).refresh();
    expect(await publish(newest)).toMatchObject({ state: 'stopped', position: { version: newest, complete: true } });
    const read: string[] = [];
    for (let version = 0; version < newest; version++) {
      const changes = await session.sql(`SELECT to_json(struct(*)) AS line FROM table_changes('t', ${version + 1}, ${version + 1})`);
      for (const { line } of await changes.collect()) read.push(canonical(line as string));
    }
    expect((await published()).map(canonical).toSorted()).toEqual(read.toSorted());
    expect(read.length).toBeGreaterThan(10);
    await engine.close();
  });
});

/** Members by name, without the time, and nulls left out, as a session prints them. */
function canonical(line: string): string {
  const members = Object.entries(JSON.parse(line) as Readonly<Record<string, unknown>>).filter(
    ([name, value]) => name !== '_commit_timestamp' && value !== null,
  );
  return JSON.stringify(Object.fromEntries(members.toSorted(([left], [right]) => (left < right ? -1 : 1))));
}
