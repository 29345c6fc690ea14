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
 * Tables that other programs filled with several rows of a key, taken over by a pipeline that keeps the last of each: by columns, or by where the rows are.
 */

const directory = mkdtempSync(join(tmpdir(), 'keyed-take-over-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

interface Row {
  readonly id: number;
  readonly a: number;
  readonly b: string;
}

const row: fc.Arbitrary<Row> = fc.record({
  id: fc.integer({ min: 0, max: 3 }),
  a: fc.integer({ min: -1, max: 1 }),
  b: fc.constantFrom('', 'B', 'b', 'é', '😀'),
});
const textOf = ({ id, a, b }: Readonly<Record<keyof Row, unknown>>): string => [id, a, b].join('|');

let made = 0;

describe(`tables that are taken over, seed ${propertySeed}`, () => {
  it.each(keyedVariants)(
    'of %s %s have the last row of each key, and so has their feed',
    async (format, _, how) => {
      await holds(
        fc.record({
          inserts: fc.array(fc.array(row, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
          ordered: fc.boolean(),
        }),
        async ({ inserts, ordered }) => {
          made += 1;
          const bench = new KeyedBench({
            ...{ format, directory: join(directory, String(made)) },
            columns: [
              '{ name: id, type: long, nullable: false }',
              '{ name: a, type: integer, nullable: false }',
              '{ name: b, type: string, nullable: false }',
            ],
            table: ['keyColumns: [id]', 'onRepeatedKeys: keep-last', how, ...(ordered ? ['orderBy: [a, b]'] : [])],
          });
          try {
            await bench.table();
            for (const rows of inserts) {
              const values = rows.map(({ id, a, b }) => `(${id}, ${a}, '${b}')`).join(', ');
              await bench.sql(`INSERT INTO $accounts VALUES ${values}`);
            }
            await bench.commit({ value: JSON.stringify({ id: 9, a: 0, b: 'new' }) });
            const wanted = [...lastOf(inserts.flat(), ordered), '9|0|new'].toSorted();
            const found = (await bench.sql('SELECT id, a, b FROM $accounts')) as readonly Readonly<Record<keyof Row, unknown>>[];
            expect(found.map(textOf).toSorted()).toEqual(wanted);
            expect(foldedRows(await bench.changes(), ({ id, a, b }) => textOf({ id, a, b }))).toEqual(wanted);
          } finally {
            await bench.close();
          }
        },
        { runs: 1 },
      );
    },
    propertyTimeoutMs,
  );
});

function lastOf(rows: readonly Row[], ordered: boolean): readonly string[] {
  const last = new Map<number, Row>();
  for (const each of rows) {
    const known = last.get(each.id);
    if (known === undefined || !ordered || !isBefore(each, known)) last.set(each.id, each);
  }
  return [...last.values()].map(textOf);
}

function isBefore(left: Row, right: Row): boolean {
  return left.a === right.a ? Buffer.compare(Buffer.from(left.b), Buffer.from(right.b)) < 0 : left.a < right.a;
}
