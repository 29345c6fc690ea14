import type { DuckDBConnection } from '@duckdb/node-api';
import { textAt } from '../codec/rows.ts';
import { complaintOfSizes, mayMakeFunction } from '../expr/functions/generated-size.ts';
import type { BytesColumn, Column, FixedColumn } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { failedCall, registerColumnFunction } from './column-function.ts';
import type { DuckdbModules } from './duckdb-modules.ts';

const size: DataType = { kind: 'double' };
const text: DataType = { kind: 'string' };
const gives: DataType = { kind: 'boolean' };

/**
 * Makes `mayMakeFunction` known to all connections of the instance: a query cannot see what the rows that it computes at a time come to, a
 * function is given all of them.
 */
export function registerGeneratedSizeFunction(modules: DuckdbModules, connection: DuckDBConnection): void {
  registerColumnFunction(modules, connection, {
    name: mayMakeFunction,
    takes: [size, text, text],
    gives,
    // Not computed once for a constant, whose copies for all rows nobody would have counted.
    volatile: true,
    of: ([sizes, name, unit], length) => {
      const { values } = sizes as FixedColumn;
      const complaint = complaintOfSizes(values as Float64Array, firstText(name), firstText(unit) === 'elements' ? 'elements' : 'bytes');
      if (complaint !== undefined) throw failedCall(complaint);
      const bits = new Uint8Array((length + 7) >> 3).fill(0xff);
      return { type: gives, length, nullCount: 0, validity: undefined, layout: 'boolean', bits };
    },
  });
}

function firstText(column: Column | undefined): string {
  return textAt(column as BytesColumn, 0);
}
