import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshness, openTable } from '../../src/index.ts';
import { IngestedTable } from '../support/ingested-table.ts';
import { withTemporaryDirectory } from '../support/servers.ts';

/** Where a source offset is, by the commits of its table alone: no broker is there to be asked. */

interface Answer {
  readonly code: number;
  readonly state: string;
  readonly version: number | null;
  readonly behind: number | null;
}

async function ask(table: IngestedTable, offset: number, partition = 0): Promise<Answer> {
  const { code, out, err } = await table.cli('freshness', 'orders', '--partition', String(partition), '--offset', String(offset), '--json');
  if (out === '') throw new Error(err);
  const { state, version, behind } = JSON.parse(out) as Omit<Answer, 'code'>;
  return { code, state, version, behind };
}

async function withTable(format: 'delta' | 'iceberg', use: (table: IngestedTable) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const table = new IngestedTable(format, directory);
    try {
      await use(table);
    } finally {
      await table.close();
    }
  });
}

describe.each(['delta', 'iceberg'] as const)('freshness of a table of %s', (format) => {
  it('X10: every offset is in the version whose commit has it, or not yet there and how far', async () => {
    await withTable(format, async (table) => {
      await table.commit(0, 0, 3);
      await table.commit(1, 0, 2);
      await table.commit(0, 3, 5);
      const at = async (partition: number, from: number, until: number): Promise<readonly Answer[]> =>
        Promise.all(Array.from({ length: until - from }, (_, index) => ask(table, from + index, partition)));
      const visible = (version: number): Answer => ({ code: 0, state: 'visible', version, behind: null });
      expect(await at(0, 0, 5)).toEqual([visible(1), visible(1), visible(1), visible(3), visible(3)]);
      expect(await at(1, 0, 2)).toEqual([visible(2), visible(2)]);
      expect(await ask(table, 7)).toEqual({ code: 5, state: 'not-yet', version: null, behind: 3 });
      expect(await ask(table, 0, 2)).toEqual({ code: 5, state: 'not-read', version: null, behind: null });
    });
  });

  it('X10: maintenance and statements of others between the commits change no answer', async () => {
    await withTable(format, async (table) => {
      for (let from = 0; from < 80; from += 2) await table.commit(0, from, from + 2);
      await table.sql(`DELETE FROM $orders WHERE _offset = 10`);
      await table.commit(0, 80, 82);
      expect(await ask(table, 1)).toMatchObject({ state: 'visible', version: 1 });
      expect(await ask(table, 10)).toMatchObject({ state: 'visible', version: 6 });
      expect(await ask(table, 81)).toMatchObject({ state: 'visible', version: 42 });
    });
  });

  it('X10: a table that is put back has not what came after; marks of Iceberg go back with it, those of Delta stay', async () => {
    await withTable(format, async (table) => {
      await table.commit(0, 0, 3);
      await table.commit(0, 3, 5);
      const [, first] = await (await table.table()).history({});
      const id = first?.operationParameters['snapshot-id'] ?? '';
      const back = `CALL ice.system.rollback_to_snapshot('db.orders', ${id})`;
      await table.sql(format === 'delta' ? 'RESTORE $orders TO VERSION AS OF 1' : back);
      expect(await ask(table, 2)).toMatchObject({ state: 'visible', version: 1 });
      const gone = format === 'delta' ? { code: 4, state: 'undone', version: 3 } : { code: 5, state: 'not-yet', behind: 2 };
      expect(await ask(table, 4)).toMatchObject(gone);
      if (format === 'iceberg') return;
      await table.sql('RESTORE $orders TO VERSION AS OF 2');
      expect(await ask(table, 4)).toMatchObject({ code: 0, state: 'visible', version: 2 });
    });
  });

  it('X10: what was passed over by decision, or lies before the beginning, is said to be', async () => {
    await withTable(format, async (table) => {
      await table.commit(0, 10, 12, 'nothing');
      await table.commit(0, 20, 22, 12);
      expect(await ask(table, 9)).toMatchObject({ code: 4, state: 'passed-over', version: 1 });
      expect(await ask(table, 11)).toMatchObject({ code: 0, state: 'visible', version: 1 });
      expect(await ask(table, 15)).toMatchObject({ code: 4, state: 'passed-over', version: 2 });
    });
  });

  it('X10: a topic that was made anew is asked about as it is now', async () => {
    await withTable(format, async (table) => {
      await table.commit(0, 0, 5);
      table.topicId = 'again';
      await table.commit(0, 0, 2, 'nothing');
      expect(await ask(table, 1)).toMatchObject({ state: 'visible', version: 2 });
      expect(await ask(table, 4)).toMatchObject({ state: 'not-yet', behind: 3 });
      const opened = await openTable(table.path);
      const before = { topic: 'orders', partition: 0, offset: 4n, incarnation: { clusterId: 'c', topicId: 't' } };
      expect(await freshness(opened, before)).toMatchObject({ kind: 'committed', version: 1 });
      const never = { topic: 'orders', partition: 0, offset: 0n, incarnation: { clusterId: 'c', topicId: 'never' } };
      expect(await freshness(opened, never)).toEqual({ kind: 'not-read', others: true });
    });
  });

  it('X10: an offset whose commit is not in the history any more is passed, and nothing else is said', async () => {
    await withTable(format, async (table) => {
      for (let from = 0; from < 30; from += 2) await table.commit(0, from, from + 2);
      if (format === 'delta') {
        const log = join(table.path, '_delta_log');
        for (const name of readdirSync(log)) if (/^0{18}0[0-9]\.json$/.test(name)) rmSync(join(log, name));
      } else
        await table.sql(
          `CALL ice.system.expire_snapshots(table => 'db.orders', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 5)`,
        );
      expect(await ask(table, 29)).toMatchObject({ code: 0, state: 'visible', version: 15 });
      expect(await ask(table, 3)).toMatchObject({ code: 4, state: 'forgotten', version: null });
      expect(await ask(table, 30)).toMatchObject({ code: 5, state: 'not-yet', behind: 1 });
    });
  });
});

describe('the command', () => {
  it('X10: waits as long as it is told, and says by its exit code that it is not yet there', async () => {
    await withTable('delta', async (table) => {
      await table.commit(0, 0, 3);
      const started = Date.now();
      const { code, out } = await table.cli('freshness', 'orders', '--partition', '0', '--offset', '3', '--wait', '--timeout', '1s');
      expect(code).toBe(5);
      expect(out).toMatch(/orders +not-yet/);
      expect(Date.now() - started).toBeGreaterThanOrEqual(1_000);
      const waiting = table.cli('freshness', 'orders', '--partition', '0', '--offset', '4', '--wait', '--timeout', '30s', '--json');
      await table.commit(0, 3, 5);
      const waited = await waiting;
      expect(waited.code).toBe(0);
      expect(JSON.parse(waited.out)).toMatchObject({ table: 'orders', state: 'visible', version: 2 });
    });
  });
});
