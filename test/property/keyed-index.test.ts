import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { KeyedBench } from '../support/keyed-bench.ts';
import { keyedVariants } from '../support/keyed-variants.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';

/*
 * The same records and statements go into two tables, one of which looks its keys up in an index that is deleted, restarted and added to by other
 * programs' files on the way: whatever the types of key and order, both have the same rows.
 */

const directory = mkdtempSync(join(tmpdir(), 'keyed-index-property-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Of each type values that are near to each other, as payloads have them and as statements do. */
const keys = {
  long: ['9007199254740993', '-1', '0', '7'],
  integer: ['-2147483648', '12', '1'],
  'decimal(20,2)': ['"1.50"', '"-1.50"', '"123456789012345678.01"'],
  string: ['"a"', '"A"', '"a,b"', '"é"', '""', '"1:a"'],
  date: ['"2024-02-29"', '"1969-12-31"'],
  timestamp: ['"2024-02-29T23:59:59.999999Z"', '"1969-12-31T23:59:59.999999Z"'],
} as const;
const orders = {
  long: ['-9007199254740993', '0', '5'],
  integer: ['-5', '0', '5'],
  date: ['"1969-12-31"', '"2024-02-29"', '"2024-03-01"'],
  timestamp: ['"1969-12-31T23:59:59.999999Z"', '"2024-02-29T10:00:00Z"', '"2024-02-29T10:00:00.000001Z"'],
} as const;
type KeyType = keyof typeof keys;
type OrderType = keyof typeof orders;

type Step =
  | { readonly kind: 'batch'; readonly rows: readonly (readonly [number, number, number, number])[] }
  | { readonly kind: 'update' | 'delete'; readonly n: number }
  | { readonly kind: 'rewrite' | 'restart' | 'lost' };

const small = fc.nat({ max: 20 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('batch' as const),
      rows: fc.array(fc.tuple(small, small, small, small), { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('update' as const, 'delete' as const), n: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('rewrite' as const, 'restart' as const, 'lost' as const) }) },
);

const rewrites = {
  delta: 'OPTIMIZE $accounts',
  iceberg: "CALL ice.system.rewrite_data_files(table => 'db.accounts', options => map('rewrite-all', 'true'))",
};

let made = 0;

describe(`an index of keys, seed ${propertySeed}`, () => {
  it.each(keyedVariants.filter(([, name]) => name.startsWith('with ')))(
    'changes nothing of %s %s but the time it takes',
    async (format, _, how) => {
      await holds(
        fc.record({
          keyTypes: fc.uniqueArray(fc.constantFrom(...(Object.keys(keys) as readonly KeyType[])), { minLength: 1, maxLength: 2 }),
          orderTypes: fc.uniqueArray(fc.constantFrom(...(Object.keys(orders) as readonly OrderType[])), { maxLength: 2 }),
          steps: fc.array(step, { minLength: 3, maxLength: 8 }),
        }),
        async ({ keyTypes, orderTypes, steps }) => {
          made += 1;
          const columns = [
            ...keyTypes.map((type, index) => `{ name: k${index}, type: "${type}", nullable: false }`),
            ...orderTypes.map((type, index) => `{ name: o${index}, type: "${type}", nullable: false }`),
            '{ name: n, type: integer }',
          ];
          const table = [
            `keyColumns: [${keyTypes.map((_type, index) => `k${index}`).join(', ')}]`,
            ...(orderTypes.length === 0 ? [] : [`orderBy: [${orderTypes.map((_type, index) => `o${index}`).join(', ')}]`]),
            'deleteWhen: "n = 3"',
            how,
          ];
          const benches = [true, false].map(
            (indexed) =>
              new KeyedBench({ ...{ format, columns, table, indexed }, directory: join(directory, `${made}-${String(indexed)}`) }),
          );
          try {
            const rows: unknown[] = [];
            for (const bench of benches) {
              await bench.queue();
              for (const each of steps) await take(bench, each, { keyTypes, orderTypes, rewrite: rewrites[format] });
              rows.push((await bench.sql('SELECT * FROM $accounts')).map((row) => JSON.stringify(row, shown)).toSorted());
            }
            expect(rows[0]).toEqual(rows[1]);
          } finally {
            for (const bench of benches) await bench.close();
          }
        },
        { runs: 2 },
      );
    },
    propertyTimeoutMs,
  );
});

async function take(
  bench: KeyedBench,
  step: Step,
  {
    keyTypes,
    orderTypes,
    rewrite,
  }: { readonly keyTypes: readonly KeyType[]; readonly orderTypes: readonly OrderType[]; readonly rewrite: string },
): Promise<void> {
  switch (step.kind) {
    case 'batch': {
      const pick = (values: readonly string[], draw: number): string => values[draw % values.length] ?? 'null';
      const records = step.rows.map(([key, other, order, n]) => {
        const members = [
          ...keyTypes.map((type, index) => `"k${index}":${pick(keys[type], index === 0 ? key : other)}`),
          ...orderTypes.map((type, index) => `"o${index}":${pick(orders[type], order + index * n)}`),
          `"n":${n % 5}`,
        ];
        return { value: `{${members.join(',')}}` };
      });
      await bench.commit(...records);
      return;
    }
    case 'update':
      await bench.sql(`UPDATE $accounts SET n = n + 100 WHERE n = ${step.n}`);
      return;
    case 'delete':
      await bench.sql(`DELETE FROM $accounts WHERE n = ${step.n}`);
      return;
    case 'rewrite':
      await bench.sql(rewrite);
      return;
    case 'restart':
      await bench.restart();
      return;
    case 'lost':
      bench.loseIndex();
  }
}

function shown(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
