import type { DuckDBPreparedStatement } from '@duckdb/node-api';
import { present } from '../base/assert.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { sliceRows } from '../schema/slice.ts';
import type { StructType } from '../schema/types.ts';
import type { Relation } from '../table/relation.ts';
import type { Connections, Lease } from './connections.ts';
import type { DuckdbModules, RawVector } from './duckdb-modules.ts';
import { duckdbTypeOf } from './duckdb-types.ts';
import type { PreparedRows } from './engine.ts';
import { engineError } from './engine-errors.ts';
import { castSql, isAsDeclared } from './rows/read-rows.ts';
import { readVector } from './rows/read-vector.ts';
import { writeVector } from './rows/write-vector.ts';

const maxRows = 2 ** 40;
/** What the query reads: the number of a row from 0 on, and the row. */
const number = { kind: 'long' } as const;

/**
 * A query over rows that are handed in, prepared once. The engine asks for them chunk by chunk through a function of its own, on the thread that
 * started it, so that nothing is stored and nothing is held beyond a chunk.
 */
export class RowQuery implements PreparedRows {
  readonly #modules: DuckdbModules;
  readonly #lease: Lease;
  readonly #result: StructType;
  #statement: DuckDBPreparedStatement | undefined;
  #given: ColumnBatch | undefined;

  private constructor(modules: DuckdbModules, lease: Lease, result: StructType) {
    this.#modules = modules;
    this.#lease = lease;
    this.#result = result;
  }

  /** @param name of the function that gives the rows; no other has it. */
  static async prepare(
    { modules, connections, name }: { readonly modules: DuckdbModules; readonly connections: Connections; readonly name: string },
    given: StructType,
    query: (source: string) => Relation,
  ): Promise<RowQuery> {
    const lease = await connections.take();
    const relation = query(sourceSql(given, name));
    const made = new RowQuery(modules, lease, relation.schema);
    try {
      if (given.fields.length > 0) made.#register(name, given);
      const statement = await lease.connection.prepare(relation.sql);
      made.#statement = statement;
      if (!isAsDeclared(modules, statement, relation)) {
        statement.destroySync();
        made.#statement = await lease.connection.prepare(castSql(relation));
      }
      return made;
    } catch (error) {
      made.close();
      throw engineError(error);
    }
  }

  async *run(rows: ColumnBatch): AsyncGenerator<ColumnBatch, void, undefined> {
    const { bindings } = this.#modules;
    const statement = present(this.#statement, 'a query that was closed is not run');
    this.#given = rows;
    try {
      statement.bindBigInt(1, BigInt(rows.rowCount));
      const result = await statement.stream();
      for (;;) {
        const chunk = await result.fetchChunk();
        if (chunk === null || chunk.rowCount === 0) return;
        const { rowCount } = chunk;
        const columns = this.#result.fields.map((field, index) =>
          readVector(bindings, bindings.data_chunk_get_vector(chunk.chunk, index), field.type, rowCount),
        );
        yield { schema: this.#result, rowCount, columns };
      }
    } catch (error) {
      throw engineError(error);
    } finally {
      this.#given = undefined;
    }
  }

  close(): void {
    this.#statement?.destroySync();
    this.#statement = undefined;
    this.#lease.discard();
  }

  #register(name: string, given: StructType): void {
    const { api, bindings } = this.#modules;
    this.#lease.connection.registerScalarFunction(
      api.DuckDBScalarFunction.create({
        name,
        returnType: duckdbTypeOf(api, given),
        parameterTypes: [duckdbTypeOf(api, number)],
        volatile: true,
        mainFunction: (_, input, output) => {
          const rows = present(this.#given, 'rows are asked for while the query runs');
          const places = readVector(bindings, bindings.data_chunk_get_vector(input.chunk, 0), number, input.rowCount);
          const from = places.layout === 'fixed' ? Number(places.values[0] ?? 0) : 0;
          const slice = sliceRows(rows, { from, until: from + input.rowCount });
          // The declaration keeps the vector to itself.
          const target = (output as unknown as { readonly vector: RawVector }).vector;
          for (const [index, column] of slice.columns.entries())
            writeVector(bindings, bindings.struct_vector_get_child(target, index), column);
        },
      }),
    );
  }
}

/** The rows as a relation of `n` and `c0`, `c1`, … */
function sourceSql(given: StructType, name: string): string {
  const columns = given.fields.map((_, index) => `struct_extract_at(r, ${index + 1}) AS c${index}`);
  const inner = given.fields.length === 0 ? '' : `, ${name}(n) AS r`;
  // A range to a parameter would be planned anew with each batch.
  const numbers = `SELECT n FROM range(${maxRows}) AS numbers(n) LIMIT $1::BIGINT`;
  return `SELECT ${['n', ...columns].join(', ')} FROM (SELECT n${inner} FROM (${numbers}))`;
}
