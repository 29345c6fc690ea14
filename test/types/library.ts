/**
 * What a program that uses the library writes, and what it must not: read by the compiler alone (`npm run types`), never run. A line under
 * `@ts-expect-error` that compiles is an error too.
 */
import { expectTypeOf } from 'vitest';
import {
  type Column,
  type ColumnOrName,
  changes,
  col,
  createSession,
  type DataFrame,
  DeltaTable,
  functions as f,
  isServiceError,
  type JsonObject,
  lit,
  openTable,
  type QueryableTable,
  type Row,
  type RowValue,
  rows,
  type ServiceError,
  Session,
  type StreamingQuery,
  type StructType,
  Window,
  type WriteResult,
  when,
} from '../../src/index.ts';

export async function sessions(): Promise<void> {
  await using session = await Session.builder().appName('orders').config('spark.sql.shuffle.partitions', 4).getOrCreate();
  expectTypeOf(session).toEqualTypeOf<Session>();
  expectTypeOf(createSession({ config: { 'spark.app.name': 'orders' } })).toEqualTypeOf<Session>();
  expectTypeOf(await session.sql('SELECT :id', { id: 1n })).toEqualTypeOf<DataFrame>();
  await session.sql('SELECT ?, ?', [1, 'x'], { signal: AbortSignal.timeout(1000) });
  session.createDataFrame([{ id: 1n, at: new Date(), tags: new Map([['a', 1]]) }], 'id BIGINT, at TIMESTAMP, tags MAP<STRING, INT>');

  // @ts-expect-error a statement's values are plain ones: an object is none.
  await session.sql('SELECT :id', { id: { value: 1 } });
  // @ts-expect-error rows are given with their columns' names.
  session.createDataFrame([[1, 2]]);
  // @ts-expect-error a session is made by its builder.
  new Session();
  // @ts-expect-error settings are text, numbers or switches.
  Session.builder().config('spark.app.name', undefined);
}

export async function frames(frame: DataFrame, other: DataFrame): Promise<void> {
  const large: Column = col('amount').gt(10).and(col('state').isin('open', 'held'));
  const named: ColumnOrName = 'state';
  const result = frame
    .where(large)
    .groupBy(named)
    .agg(f.sum('amount').as('total'), f.count(lit(1)).as('rows'))
    .withColumn('level', when(col('total').geq(100n), 'high').otherwise('low'))
    .withColumn('place', f.rowNumber().over(Window.partitionBy('level').orderBy(col('total').desc())));
  expectTypeOf(result).toEqualTypeOf<DataFrame>();
  expectTypeOf(await result.collect()).toEqualTypeOf<Row[]>();
  expectTypeOf((await result.first())?.['total']).toEqualTypeOf<RowValue | undefined>();
  expectTypeOf(await result.count()).toEqualTypeOf<number>();
  expectTypeOf(await result.schema).toEqualTypeOf<StructType>();
  for await (const row of result) expectTypeOf(row).toEqualTypeOf<Row>();
  frame.join(other, ['id', 'day'], 'left');

  // @ts-expect-error a condition is a column or SQL text.
  frame.where(true);
  // @ts-expect-error a name must say which column it is.
  frame.groupBy(1);
  // @ts-expect-error a value stands in `lit`, so that text is no column by mistake.
  frame.withColumn('level', 'high');
  // @ts-expect-error the branches of a CASE are begun with `when(…)`.
  when('amount > 1', 'high');
  // @ts-expect-error rows that were read are not written to.
  (await frame.collect())[0]!['total'] = 1;
}

export async function writes(frame: DataFrame, session: Session): Promise<void> {
  expectTypeOf(await frame.write.format('delta').mode('append').saveAsTable('orders')).toEqualTypeOf<WriteResult | undefined>();
  expectTypeOf(await frame.writeTo('orders').append()).toEqualTypeOf<WriteResult>();
  await frame.writeTo('orders').using('iceberg').partitionedBy(f.days('at'), 'state').create();
  const query = frame.writeStream.option('checkpointLocation', '/checkpoint').trigger({ availableNow: true }).toTable('orders');
  expectTypeOf(await query).toEqualTypeOf<StreamingQuery>();

  const table = await DeltaTable.forName(session, 'orders');
  await table.update('id = 1', { amount: col('amount').plus(1), state: "'open'" });
  const merged = table
    .as('t')
    .merge(frame, 't.id = s.id')
    .whenMatchedUpdate({ condition: 's.gone = false', set: { amount: 's.amount' } })
    .whenNotMatchedInsertAll()
    .execute();
  expectTypeOf(await merged).toEqualTypeOf<DataFrame>();

  // @ts-expect-error what is set is SQL text or a column, so that text is no value by mistake.
  await table.update('id = 1', { amount: 1 });
  // @ts-expect-error a table is found by name or path.
  new DeltaTable();
  // @ts-expect-error options have one value each.
  frame.write.option('mergeSchema', ['true']);
  // @ts-expect-error a trigger is an object that says which.
  frame.writeStream.trigger('1 second');
}

export async function tables(): Promise<void> {
  const table = await openTable('/tables/orders');
  expectTypeOf(table).toEqualTypeOf<QueryableTable>();
  expectTypeOf(rows(table, { version: 3, filter: 'id > 1' })).toEqualTypeOf<AsyncGenerator<JsonObject, void, undefined>>();
  for await (const change of changes(table, { fromVersion: 1 })) expectTypeOf(change).toEqualTypeOf<JsonObject>();

  // @ts-expect-error changes begin somewhere.
  changes(table, {});
  // @ts-expect-error versions are numbers.
  rows(table, { version: '3' });
}

export function errors(thrown: unknown): readonly string[] {
  if (!isServiceError(thrown, 'conflict', 'unavailable')) return [];
  expectTypeOf(thrown).toEqualTypeOf<ServiceError>();
  // @ts-expect-error kinds are a closed list.
  isServiceError(thrown, 'bad-luck');
  return [thrown.code, thrown.kind, thrown.hint ?? ''];
}
