import type { DuckDBConnection } from '@duckdb/node-api';
import { seededFunctions } from '../expr/sql/text-functions.ts';
import type { Column, FixedColumn } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { registerColumnFunction } from './column-function.ts';
import type { DuckdbModules } from './duckdb-modules.ts';
import { SeededNumbers } from './spark-random.ts';

/** Seeds whose states are remembered at a time. */
const maxSeeds = 16;

const long: DataType = { kind: 'long' };
const double: DataType = { kind: 'double' };

/** Makes `seededFunctions` known to all connections of the instance. */
export function registerRandomFunctions(modules: DuckdbModules, connection: DuckDBConnection): void {
  for (const kind of ['uniform', 'normal'] as const) {
    const known = new Map<bigint, SeededNumbers>();
    const numbersOf = (seed: bigint): SeededNumbers => {
      const numbers = known.get(seed) ?? new SeededNumbers(seed, kind);
      // The one that was used last is the last to go.
      known.delete(seed);
      known.set(seed, numbers);
      const [oldest] = known.keys();
      if (known.size > maxSeeds && oldest !== undefined) known.delete(oldest);
      return numbers;
    };
    registerColumnFunction(modules, connection, {
      name: seededFunctions[kind],
      takes: [long, long],
      gives: double,
      of: ([seeds, places], rows) => drawn(seeds as FixedColumn, places as FixedColumn, rows, numbersOf),
    });
  }
}

function drawn(seeds: FixedColumn, places: FixedColumn, rows: number, numbersOf: (seed: bigint) => SeededNumbers): Column {
  const values = new Float64Array(rows);
  const [seedAt, placeAt] = [longsOf(seeds), longsOf(places)];
  for (let row = 0; row < rows; row += 1) values[row] = numbersOf(seedAt[row] ?? 0n).at(Number(placeAt[row] ?? 0n));
  return { type: double, length: rows, nullCount: 0, validity: undefined, layout: 'fixed', values };
}

function longsOf({ values, length }: FixedColumn): BigInt64Array {
  return new BigInt64Array(values.buffer, values.byteOffset, length);
}
