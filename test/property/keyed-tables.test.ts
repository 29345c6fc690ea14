import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { foldedRows } from '../support/folded-rows.ts';
import { KeyedBench } from '../support/keyed-bench.ts';
import { keyedVariants } from '../support/keyed-variants.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';

/*
 * Random records of few keys, with statements of another program in between that the pipeline only hears of when its commit meets them. The table is
 * compared with a fold of the records and statements that shares nothing with ours, and so is the fold of the feed.
 */

const directory = mkdtempSync(join(tmpdir(), 'keyed-property-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

interface Row {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly n: number;
}

type Step =
  | { readonly kind: 'batch'; readonly rows: readonly Row[] }
  | { readonly kind: 'update'; readonly id: number; readonly n: number }
  | { readonly kind: 'delete'; readonly id: number }
  | { readonly kind: 'rewrite' };

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ min: 0, max: 5 }),
  name: fc.constantFrom('x', 'y, z'),
  kind: fc.constantFrom('a', 'b', 'gone'),
  n: fc.integer({ min: 0, max: 99 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('batch' as const), rows: fc.array(row, { minLength: 1, maxLength: 8 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      id: fc.integer({ min: 0, max: 5 }),
      n: fc.integer({ min: 100, max: 199 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id: fc.integer({ min: 0, max: 5 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'rewrite' as const }) },
);

const keyOf = ({ id, name }: { readonly id: unknown; readonly name: unknown }): string => `${String(id)}|${String(name)}`;
const textOf = ({ id, name, kind, n }: Readonly<Record<keyof Row, unknown>>): string => [id, name, kind, n].join('|');

const rewrites = {
  delta: 'OPTIMIZE $accounts',
  iceberg: "CALL ice.system.rewrite_data_files(table => 'db.accounts', options => map('rewrite-all', 'true'))",
};

let made = 0;

describe(`keyed tables, seed ${propertySeed}`, () => {
  it.each(keyedVariants)(
    'of %s %s equal the fold of their records, and the fold of their feed',
    async (format, _, how) => {
      await holds(
        fc.record({
          partitioned: fc.boolean(),
          tidies: fc.boolean(),
          indexed: fc.boolean(),
          steps: fc.array(step, { minLength: 3, maxLength: 8 }),
        }),
        async ({ partitioned, tidies, indexed, steps }) => {
          made += 1;
          const table = ['keyColumns: [id, name]', `deleteWhen: "kind = 'gone'"`, how];
          const columns = [
            '{ name: id, type: long, nullable: false }',
            '{ name: name, type: string, nullable: false }',
            '{ name: kind, type: string }',
            '{ name: n, type: integer }',
          ];
          const bench = new KeyedBench({
            ...{ format, columns, indexed, directory: join(directory, String(made)) },
            table: partitioned ? [...table, 'partitionBy: [kind]'] : table,
            ...(tidies ? { tidies: { minRows: 1, shareOfTable: 0 } } : {}),
          });
          try {
            const model = new Map<string, Row>();
            await bench.queue();
            for (const each of steps) await take(bench, model, each, rewrites[format]);
            const wanted = [...model.values()].map(textOf).toSorted();
            expect(bench.tidied.filter((outcome) => outcome !== 'committed')).toEqual([]);
            const found = (await bench.sql('SELECT id, name, kind, n FROM $accounts')) as readonly Readonly<Record<keyof Row, unknown>>[];
            expect(found.map(textOf).toSorted()).toEqual(wanted);
            expect(foldedRows(await bench.changes(), ({ id, name, kind, n }) => textOf({ id, name, kind, n }))).toEqual(wanted);
          } finally {
            await bench.close();
          }
        },
        { runs: 3 },
      );
    },
    propertyTimeoutMs,
  );
});

interface Versioned {
  readonly id: number;
  readonly a: number;
  readonly b: string;
  readonly gone: boolean;
}

describe(`keyed tables with an order, seed ${propertySeed}`, () => {
  it.each(['delta', 'iceberg'] as const)(
    'of %s have the latest row of each key, however records are shuffled, repeated and cut into batches',
    async (format) => {
      const version: fc.Arbitrary<Versioned> = fc.record({
        id: fc.integer({ min: 0, max: 3 }),
        a: fc.integer({ min: -3, max: 3 }),
        b: fc.constantFrom('', 'A', 'a', 'é', '😀'),
        gone: fc.boolean(),
      });
      await holds(
        fc.record({
          batches: fc.array(fc.array(version, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 7 }),
          deletes: fc.boolean(),
        }),
        async ({ batches, deletes }) => {
          made += 1;
          const bench = new KeyedBench({
            ...{ format, directory: join(directory, String(made)) },
            columns: [
              '{ name: id, type: long, nullable: false }',
              '{ name: a, type: "decimal(20,2)", nullable: false }',
              '{ name: b, type: string, nullable: false }',
              '{ name: gone, type: boolean }',
              '{ name: at, type: long, from: offset }',
            ],
            table: ['keyColumns: [id]', 'orderBy: [a, b]', `deleteWhen: ${deletes ? 'gone' : 'never'}`],
          });
          try {
            const rows = new Map<number, Versioned & { readonly at: number }>();
            let at = 0;
            for (const batch of batches) {
              await bench.commit(...batch.map((value) => ({ value: JSON.stringify(value) })));
              // Of a batch the latest of each key, and then of that and the row: what is equal goes to the one that came later.
              const latest = new Map<number, Versioned & { readonly at: number }>();
              for (const each of batch) {
                const known = latest.get(each.id);
                if (known === undefined || !isLater(known, each)) latest.set(each.id, { ...each, at });
                at += 1;
              }
              for (const [id, each] of latest) {
                const known = rows.get(id);
                if (known !== undefined && isLater(known, each)) continue;
                if (deletes && each.gone) rows.delete(id);
                else rows.set(id, each);
              }
            }
            const found = await bench.sql('SELECT id, CAST(a AS INT) AS a, b, gone, at FROM $accounts');
            const text = ({ id, a, b, gone, at: offset }: Readonly<Record<string, unknown>>): string => [id, a, b, gone, offset].join('|');
            expect(found.map(text).toSorted()).toEqual([...rows.values()].map((row) => text({ ...row })).toSorted());
          } finally {
            await bench.close();
          }
        },
        { runs: 3 },
      );
    },
    propertyTimeoutMs,
  );
});

function isLater(left: Versioned, right: Versioned): boolean {
  return left.a === right.a ? Buffer.compare(Buffer.from(left.b), Buffer.from(right.b)) > 0 : left.a > right.a;
}

async function take(bench: KeyedBench, model: Map<string, Row>, each: Step, rewrite: string): Promise<void> {
  if (each.kind === 'rewrite') {
    await bench.sql(rewrite);
    return;
  }
  if (each.kind === 'batch') {
    expect(await bench.commit(...each.rows.map((value) => ({ value: JSON.stringify(value) })))).toMatchObject({ kind: 'committed' });
    for (const one of each.rows) {
      if (one.kind === 'gone') model.delete(keyOf(one));
      else model.set(keyOf(one), one);
    }
    return;
  }
  await bench.sql(
    each.kind === 'delete' ? `DELETE FROM $accounts WHERE id = ${each.id}` : `UPDATE $accounts SET n = ${each.n} WHERE id = ${each.id}`,
  );
  for (const [key, one] of model) {
    if (one.id !== each.id) continue;
    if (each.kind === 'delete') model.delete(key);
    else model.set(key, { ...one, n: each.n });
  }
}
