import type { DuckDBConnection } from '@duckdb/node-api';
import { textAt } from '../codec/rows.ts';
import { complaintOfSizes, mayMakeFunction } from '../expr/functions/generated-size.ts';
import type { BytesColumn, Column, FixedColumn } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import type { DuckdbModules, RawVector } from './duckdb-modules.ts';
import { readVector } from './rows/read-vector.ts';
import { writeVector } from './rows/write-vector.ts';

const text: DataType = { kind: 'string' };

/**
 * Makes `mayMakeFunction` known to all connections of the instance: a query cannot see what the rows that it computes at a time come to, a
 * function is given all of them.
 */
export function registerGeneratedSizeFunction({ api, bindings }: DuckdbModules, connection: DuckDBConnection): void {
  const made = api.DuckDBScalarFunction.create({
    name: mayMakeFunction,
    returnType: api.BOOLEAN,
    parameterTypes: [api.DOUBLE, api.VARCHAR, api.VARCHAR],
    // Not computed once for a constant, whose copies for all rows nobody would have counted.
    volatile: true,
    mainFunction: (info, input, output) => {
      const { rowCount: length } = input;
      const columnOf = (index: number, type: DataType, rows: number): Column =>
        readVector(bindings, bindings.data_chunk_get_vector(input.chunk, index), type, rows);
      const { values } = columnOf(0, { kind: 'double' }, length) as FixedColumn;
      const [name, unit] = [1, 2].map((index) => textAt(columnOf(index, text, 1) as BytesColumn, 0));
      const complaint = complaintOfSizes(Float64Array.from(values as Float64Array), name ?? '', unit === 'elements' ? 'elements' : 'bytes');
      if (complaint !== undefined) info.setError(complaint);
      const bits = new Uint8Array((length + 7) >> 3).fill(0xff);
      // The declaration keeps the vector to itself.
      const target = (output as unknown as { readonly vector: RawVector }).vector;
      writeVector(bindings, target, { type: { kind: 'boolean' }, length, nullCount: 0, validity: undefined, layout: 'boolean', bits });
    },
  });
  connection.registerScalarFunction(made);
}
