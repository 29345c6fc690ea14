import type { DuckDBPreparedStatement, DuckDBResult } from '@duckdb/node-api';
import { throwIfAborted } from '../../base/abort.ts';
import { serviceError } from '../../base/errors.ts';
import { typeSql } from '../../expr/sql/engine-text.ts';
import type { ColumnBatch } from '../../schema/columns.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { Connections, Lease } from '../connections.ts';
import type { DuckdbModules } from '../duckdb-modules.ts';
import { resultTypeOf, sameShape } from '../duckdb-types.ts';
import { engineError } from '../engine-errors.ts';
import { readVector } from './read-vector.ts';

/** Streams a relation's rows; a reader that stops early ends the query. */
export async function* readRows(
  modules: DuckdbModules,
  connections: Connections,
  relation: Relation,
  signal?: AbortSignal,
): AsyncGenerator<ColumnBatch, void, undefined> {
  const lease = await connections.take(signal);
  let finished = false;
  try {
    const result = await startStream(modules, lease, relation);
    for (;;) {
      throwIfAborted(signal);
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      const rowCount = chunk.rowCount;
      const columns = relation.schema.fields.map((field, index) =>
        readVector(modules.bindings, modules.bindings.data_chunk_get_vector(chunk.chunk, index), field.type, rowCount),
      );
      yield { schema: relation.schema, rowCount, columns };
    }
    finished = true;
  } catch (error) {
    throw engineError(error, signal, connections.filesIn(relation.sql));
  } finally {
    if (finished) lease.giveBack();
    else lease.discard();
  }
}

/** The columns of a prepared query as neutral types. */
export function schemaOf(modules: DuckdbModules, statement: DuckDBPreparedStatement): StructType {
  const fields = Array.from({ length: statement.columnCount }, (_, index): Field => {
    const name = statement.columnName(index);
    return { name, type: resultTypeOf(modules.api, statement.columnType(index), name).type, nullable: true };
  });
  return { kind: 'struct', fields };
}

async function startStream(modules: DuckdbModules, { connection }: Lease, relation: Relation): Promise<DuckDBResult> {
  const statement = await connection.prepare(relation.sql);
  const fields = relation.schema.fields;
  // A query may have more columns behind the relation's own, such as the positions of a scan.
  if (statement.columnCount < fields.length) {
    throw serviceError.internal('ASSERTION_FAILED', `a relation of ${fields.length} columns has a query of ${statement.columnCount}`);
  }
  if (isAsDeclared(modules, statement, relation)) return statement.stream();
  statement.destroySync();
  return connection.stream(castSql(relation));
}

/** Whether a prepared query gives the columns that the relation declares, without casts. */
export function isAsDeclared(modules: DuckdbModules, statement: DuckDBPreparedStatement, { schema }: Relation): boolean {
  return schema.fields.every((field, index) => {
    const actual = resultTypeOf(modules.api, statement.columnType(index), field.name);
    return !actual.castNeeded && sameShape(actual.type, field.type);
  });
}

/** The relation with every column cast to its declared type. */
export function castSql(relation: Relation): string {
  const { fields } = relation.schema;
  const names = fields.map((_, index) => `c${index}`);
  const columns = fields.map((field, index) => `CAST(c${index} AS ${typeSql(field.type)})`);
  return `SELECT ${columns.join(', ')} FROM (${relation.sql}) AS r(${names.join(', ')})`;
}
