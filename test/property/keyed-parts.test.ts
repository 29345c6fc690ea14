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
 * Records that have only some columns of their rows, events that truncate, and statements of another program in between, against a fold of them that shares
 * nothing with ours. Batches are cut anywhere.
 */

const directory = mkdtempSync(join(tmpdir(), 'keyed-parts-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

const id = fc.integer({ min: 0, max: 3 });
const unavailable = '__debezium_unavailable_value';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Row {
  readonly tags: readonly string[] | null;
  readonly name: string | null;
  readonly photo: string | null;
  readonly n: number | null;
}

type Event = { readonly op: 'c' | 'u' | 'd'; readonly id: number; readonly row: Row } | { readonly op: 't' };
type Step<Each> =
  | { readonly kind: 'batch'; readonly records: readonly Each[] }
  | { readonly kind: 'update'; readonly id: number; readonly n: number }
  | { readonly kind: 'delete'; readonly id: number };

const stepsOf = <Each>(record: fc.Arbitrary<Each>): fc.Arbitrary<readonly Step<Each>[]> =>
  fc.array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('batch' as const), records: fc.array(record, { minLength: 1, maxLength: 6 }) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('update' as const), id, n: fc.integer({ min: 100, max: 199 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), id }) },
    ),
    { minLength: 3, maxLength: 6 },
  );

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({
      op: fc.constantFrom('c' as const, 'u' as const, 'u' as const, 'd' as const),
      id,
      row: fc.record({
        tags: fc.constantFrom(['a'], ['a', 'b'], [], null, [unavailable]),
        name: fc.constantFrom('x', '', null, unavailable),
        photo: fc.constantFrom(base64('p'), null, base64(unavailable)),
        n: fc.constantFrom(1, 2, null),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ op: 't' as const }) },
);

interface Patch {
  readonly id: number;
  readonly name?: string | null;
  readonly d?: string | null;
  readonly n?: number | null;
  readonly gone?: boolean | null;
}
const patch: fc.Arbitrary<Patch> = fc.record(
  {
    id,
    // Delta has no empty text in a partition.
    name: fc.constantFrom('x', 'y', null),
    d: fc.constantFrom('1.50', null),
    n: fc.constantFrom(1, 2, null),
    gone: fc.constantFrom(true, false, false, null),
  },
  { requiredKeys: ['id'] },
);

let made = 0;

describe(`keyed tables whose records are not whole, seed ${propertySeed}`, () => {
  it.each(keyedVariants)(
    'of %s %s keep what an event does not have, and are empty after one that truncates; so is their feed',
    async (format, _, how) => {
      await holds(
        stepsOf(event),
        async (steps) => {
          const bench = benchOf(format, {
            columns: [
              '{ name: tags, type: "array<string>" }',
              '{ name: name, type: string }',
              '{ name: photo, type: binary }',
              '{ name: n, type: integer }',
            ],
            table: ['mode: upsert', 'onTruncate: apply', how],
            route: ['value: { envelope: debezium }'],
          });
          const rows = new Map<number, Row>();
          const take = (each: Event): { readonly value: string } => {
            if (each.op === 't') rows.clear();
            else if (each.op === 'd') rows.delete(each.id);
            else {
              const known = rows.get(each.id);
              const { tags, name, photo, n } = each.row;
              rows.set(each.id, {
                tags: tags?.[0] === unavailable ? (known?.tags ?? null) : tags,
                name: name === unavailable ? (known?.name ?? null) : name,
                photo: photo === base64(unavailable) ? (known?.photo ?? null) : photo,
                n,
              });
            }
            const row = each.op === 't' ? null : { id: each.id, ...each.row };
            const [before, after] = each.op === 'd' ? [row, null] : [null, row];
            return { value: JSON.stringify({ op: each.op, before, after, source: {}, ts_ms: 1 }) };
          };
          await follow(bench, rows, { steps, take });
          await compare(bench, ['tags', 'name', 'photo', 'n'], rows);
        },
        { runs: 1 },
      );
    },
    propertyTimeoutMs,
  );

  it.each(keyedVariants)(
    'of %s %s change by what a record has alone in mode patch, and so does their feed',
    async (format, _, how) => {
      await holds(
        stepsOf(patch),
        async (steps) => {
          const bench = benchOf(format, {
            columns: [
              '{ name: name, type: string }',
              '{ name: d, type: "decimal(5,2)" }',
              '{ name: n, type: integer }',
              '{ name: gone, type: boolean }',
            ],
            table: ['mode: patch', 'deleteWhen: gone', 'partitionBy: [name]', how],
          });
          const rows = new Map<number, Omit<Patch, 'id'> & { readonly n: number | null }>();
          const take = (each: Patch): { readonly value: string } => {
            const { id: key, ...given } = each;
            if (given.gone === true) rows.delete(key);
            else rows.set(key, { name: null, d: null, n: null, gone: null, ...rows.get(key), ...given });
            return { value: JSON.stringify(each) };
          };
          await follow(bench, rows, { steps, take });
          await compare(bench, ['name', 'd', 'n', 'gone'], rows);
        },
        { runs: 1 },
      );
    },
    propertyTimeoutMs,
  );
});

function benchOf(
  format: (typeof keyedVariants)[number][0],
  { columns, table, route }: { readonly columns: readonly string[]; readonly table: readonly string[]; readonly route?: readonly string[] },
): KeyedBench {
  made += 1;
  return new KeyedBench({
    ...{ format, directory: join(directory, String(made)) },
    columns: ['{ name: id, type: long, nullable: false }', ...columns],
    table: ['keyColumns: [id]', ...table],
    ...(route === undefined ? {} : { route }),
  });
}

async function follow<Each, Kept extends { readonly n: number | null }>(
  bench: KeyedBench,
  rows: Map<number, Kept>,
  { steps, take }: { readonly steps: readonly Step<Each>[]; readonly take: (each: Each) => { readonly value: string } },
): Promise<void> {
  await bench.queue();
  for (const step of steps) {
    if (step.kind === 'batch') await bench.commit(...step.records.map(take));
    else if (step.kind === 'delete') {
      await bench.sql(`DELETE FROM $accounts WHERE id = ${step.id}`);
      rows.delete(step.id);
    } else {
      await bench.sql(`UPDATE $accounts SET n = ${step.n} WHERE id = ${step.id}`);
      const known = rows.get(step.id);
      if (known !== undefined) rows.set(step.id, { ...known, n: step.n });
    }
  }
}

async function compare(bench: KeyedBench, columns: readonly string[], rows: ReadonlyMap<number, object>): Promise<void> {
  try {
    const textOf = (row: object): string => ['id', ...columns].map((name) => String(Reflect.get(row, name) ?? null)).join('|');
    const wanted = [...rows].map(([key, row]) => textOf({ id: key, ...row }));
    const selected = ['id', ...columns].map((name) =>
      name === 'photo' ? 'base64(photo) AS photo' : name === 'd' ? 'CAST(d AS STRING) AS d' : name,
    );
    const found = await bench.sql(`SELECT ${selected.join(', ')} FROM $accounts`);
    expect(found.map(textOf).toSorted()).toEqual(wanted.toSorted());
    expect(bench.rejects).toEqual([]);
    expect(foldedRows(await bench.changes(), textOf)).toEqual(wanted.toSorted());
  } finally {
    await bench.close();
  }
}
