import type { DuckDBConnection } from '@duckdb/node-api';
import type { Column } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import type { DuckdbModules, RawVector } from './duckdb-modules.ts';
import { duckdbTypeOf } from './duckdb-types.ts';
import { readVector } from './rows/read-vector.ts';
import { writeVector } from './rows/write-vector.ts';

/** A function of the engine that is computed here, for all rows of a chunk at once. */
export interface ColumnFunction {
  readonly name: string;
  readonly takes: readonly DataType[];
  readonly gives: DataType;
  /** Asked again for each row even where all arguments are constant. Default: computed once for those. */
  readonly volatile?: boolean;
  /** Columns of `rows` rows to one of as many. What it throws is the error of the query. */
  readonly of: (columns: readonly Column[], rows: number) => Column;
}

/** Makes a function known to all connections of the instance. Its work is done on the thread that started the engine. */
export function registerColumnFunction({ api, bindings }: DuckdbModules, connection: DuckDBConnection, made: ColumnFunction): void {
  const { name, takes, gives, volatile = false, of } = made;
  connection.registerScalarFunction(
    api.DuckDBScalarFunction.create({
      name,
      returnType: duckdbTypeOf(api, gives),
      parameterTypes: takes.map((type) => duckdbTypeOf(api, type)),
      volatile,
      mainFunction: (_, input, output) => {
        const columns = takes.map((type, index) =>
          readVector(bindings, bindings.data_chunk_get_vector(input.chunk, index), type, input.rowCount),
        );
        // The declaration keeps the vector to itself.
        const target = (output as unknown as { readonly vector: RawVector }).vector;
        writeVector(bindings, target, of(columns, input.rowCount));
      },
    }),
  );
}

/** What a function throws: the engine makes it the error of the query, the message as it is. */
export function failedCall(message: string): Error {
  return new Error(message);
}
