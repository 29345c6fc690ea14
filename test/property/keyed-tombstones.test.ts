import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { isServiceError } from '../../src/base/errors.ts';
import type { FailpointName } from '../../src/base/failpoint.ts';
import type { SealedBatch } from '../../src/protocol/sealed-batch.ts';
import { foldedRows } from '../support/folded-rows.ts';
import { KeyedBench, type KeyedRecord } from '../support/keyed-bench.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';

/*
 * Events of few keys, each with an order of its own, that come in any sequence, some of them several times, to two processes that read a partition
 * each, fail in the middle of commits and start again. The table has of each key the event of the highest order, or none if that one deletes; that is
 * all the comparison knows.
 */

const directory = mkdtempSync(join(tmpdir(), 'tombstones-property-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** The events of one part of the run: to both processes at the same time, each of which may fail once before it takes them. */
interface Part {
  readonly events: readonly (readonly number[])[];
  readonly failAt: readonly (FailpointName | undefined)[];
  readonly restarts: boolean;
}

const points = ['before-tombstones', 'after-tombstones', 'after-key-lookup', 'after-key-marks'] as const;

const keys = 4;
const eventCount = 24;

/** An event is its order: key and outcome follow from the run's table of them. */
const run = fc.record({
  ids: fc.array(fc.nat(keys - 1), { minLength: eventCount, maxLength: eventCount }),
  deletes: fc.array(fc.boolean(), { minLength: eventCount, maxLength: eventCount }),
  parts: fc.array(
    fc.record({
      events: fc.array(fc.array(fc.nat(eventCount - 1), { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 2 }),
      failAt: fc.array(fc.option(fc.constantFrom(...points), { nil: undefined, freq: 2 }), { minLength: 2, maxLength: 2 }),
      restarts: fc.boolean(),
    }),
    { minLength: 3, maxLength: 6 },
  ),
});

let made = 0;

describe(`deleted keys that are remembered, seed ${propertySeed}`, () => {
  it.each(['delta', 'iceberg'] as const)(
    'of %s: the table is the fold of its events by their order, and so is its feed',
    async (format) => {
      await holds(
        run,
        async ({ ids, deletes, parts }) => {
          made += 1;
          const at = join(directory, String(made));
          const columns = [
            '{ name: id, type: long, nullable: false }',
            '{ name: gone, type: boolean }',
            '{ name: n, type: integer, nullable: false }',
          ];
          const table = ['keyColumns: [id]', 'orderBy: [n]', 'deleteWhen: gone', 'tombstoneRetention: 1h'];
          const [first, second] = [0, 1].map(() => new KeyedBench({ format, columns, table, directory: at })) as [KeyedBench, KeyedBench];
          const readers = [
            [first, 'accounts'],
            [second, 'others'],
          ] as const;
          try {
            // One makes the tables: two at once is what the catalogs' own tests try.
            await first.queue();
            const latest = new Map<number, number>();
            for (const part of parts) {
              await Promise.all(
                readers.map(([bench, topic], index) =>
                  take(bench, bench.batch(part.events[index]?.map((n) => eventOf(ids, deletes, n)) ?? [], topic), part, part.failAt[index]),
                ),
              );
              for (const n of part.events.flat()) latest.set(ids[n] ?? 0, Math.max(n, latest.get(ids[n] ?? 0) ?? n));
            }
            const wanted = [...latest].filter(([, n]) => deletes[n] !== true).map((row) => row.join('|'));
            const found = (await first.sql('SELECT id, n FROM $accounts')).map(({ id, n }) => [id, n].join('|'));
            expect(found.toSorted()).toEqual(wanted.toSorted());
            expect(foldedRows(await first.changes(), ({ id, n }) => [id, n].join('|'))).toEqual(wanted.toSorted());
          } finally {
            await Promise.all([first.close(), second.close()]);
          }
        },
        { runs: 3 },
      );
    },
    propertyTimeoutMs,
  );
});

function eventOf(ids: readonly number[], deletes: readonly boolean[], n: number): KeyedRecord {
  return { value: JSON.stringify({ id: ids[n], gone: deletes[n], n }) };
}

async function take(bench: KeyedBench, batch: SealedBatch, { restarts }: Part, failAt: FailpointName | undefined): Promise<void> {
  if (restarts) await bench.restart();
  if (failAt !== undefined) bench.failAt(failAt);
  for (;;) {
    const queue = await bench.queue();
    try {
      const outcome = await queue.submit({ ...batch, bytes: batch.bytes.slice(0) }, new AbortController().signal);
      expect(outcome).toMatchObject({ kind: 'committed' });
      break;
    } catch (error) {
      if (!isServiceError(error, 'internal') || error.code !== 'FAILPOINT') throw error;
      await bench.restart();
    }
  }
}
