import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../src/base/ids.ts';
import { SeededRandom } from '../../../src/base/seeded-random.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
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
    expect(await publish(4)).toMatchObject({ state: 'gap', error: { code: 'FEED_TABLE_PUT_BACK' } });
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
});
