import { describe, expect, it } from 'vitest';
import type { Row, RowInput } from '../../src/index.ts';
import { type DeltaBench, deltaBench } from '../support/parity/delta-bench.ts';
import { refusalOf } from '../support/parity/refusals.ts';

/** Columns that a table gets by writing to it. */

const autoMerge = 'spark.databricks.delta.schema.autoMerge.enabled';

describe('schemas that change by writing', () => {
  const bench = deltaBench();

  it('B03: mergeSchema adds columns at the end, and old rows have null there', async () => {
    await save('merged', 'id BIGINT, v STRING', [{ id: 1, v: 'a' }]);
    const wider = frame(bench(), 'extra DOUBLE, id BIGINT, day DATE', [{ id: 2, extra: 1.5, day: '2024-02-29' }]);
    await wider.write.format('delta').mode('append').option('mergeSchema', 'true').save(bench().path('merged'));
    expect(await bench().rows('merged')).toEqual([
      { id: 1n, v: 'a', extra: null, day: null },
      { id: 2n, v: null, extra: 1.5, day: '2024-02-29' },
    ]);
    expect(await treeOf('merged')).toBe(
      'root\n |-- id: long (nullable = true)\n |-- v: string (nullable = true)\n |-- extra: double (nullable = true)\n |-- day: date (nullable = true)\n',
    );
    expect(Object.keys((await bench().rows('merged'))[0] ?? {})).toEqual(['id', 'v', 'extra', 'day']);
    expect(parametersOf(await bench().lastEntry('merged'))).toEqual({ mode: 'Append', partitionBy: '[]', canMergeSchema: 'true' });
    await bench().agree('merged');
    await bench().agree('merged', { version: 0 });
  });

  it('B03: members of structs, also inside lists, are added at the end of their struct', async () => {
    await save('nested', 'id BIGINT, s STRUCT<a: INT, b: STRING>, l ARRAY<STRUCT<x: INT>>', [
      { id: 1, s: { a: 1, b: 'b' }, l: [{ x: 1 }] },
    ]);
    const wider = frame(bench(), 'id BIGINT, s STRUCT<c: BOOLEAN, a: INT>, l ARRAY<STRUCT<x: INT, y: STRING>>', [
      { id: 2, s: { c: true, a: 2 }, l: [{ x: 2, y: 'y' }] },
    ]);
    await wider.write.format('delta').mode('append').option('mergeSchema', true).save(bench().path('nested'));
    expect(await bench().rows('nested')).toEqual([
      { id: 1n, s: { a: 1, b: 'b', c: null }, l: [{ x: 1, y: null }] },
      { id: 2n, s: { a: 2, b: null, c: true }, l: [{ x: 2, y: 'y' }] },
    ]);
    await bench().agree('nested', { engines: ['delta-rs'] });
  });

  it('B03: columns are found whatever the case of their names', async () => {
    await save('cases', 'Id BIGINT, Value STRING', [{ Id: 1, Value: 'a' }]);
    const lower = frame(bench(), 'value STRING, ID BIGINT', [{ value: 'b', ID: 2 }]);
    await lower.write.format('delta').mode('append').option('mergeSchema', true).save(bench().path('cases'));
    expect(await bench().rows('cases', 'Id')).toEqual([
      { Id: 1n, Value: 'a' },
      { Id: 2n, Value: 'b' },
    ]);
    await bench().agree('cases');
  });

  it('B03: overwrite with mergeSchema keeps the columns the data lacks', async () => {
    await save('over', 'id BIGINT, v STRING', [{ id: 1, v: 'a' }]);
    const other = frame(bench(), 'id BIGINT, w STRING', [{ id: 2, w: 'w' }]);
    await other.write.format('delta').mode('overwrite').option('mergeSchema', true).save(bench().path('over'));
    expect(await bench().rows('over')).toEqual([{ id: 2n, v: null, w: 'w' }]);
    await bench().agree('over');
  });

  it('B03: the session switch autoMerge does the same for writes, INSERT and MERGE; the option counts more', async () => {
    const session = bench().another({ [autoMerge]: true });
    await save('auto', 'id BIGINT', [{ id: 1 }]);
    await session
      .createDataFrame([{ id: 2, v: 'b' }], 'id BIGINT, v STRING')
      .write.format('delta')
      .mode('append')
      .save(bench().path('auto'));
    await session.sql(`INSERT INTO ${bench().at('auto')} BY NAME SELECT 3L AS id, 'c' AS v, 7 AS w`);
    await session.sql(
      `MERGE INTO ${bench().at('auto')} t USING (SELECT 4L AS id, true AS x) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *`,
    );
    expect(await bench().rows('auto')).toEqual([
      { id: 1n, v: null, w: null, x: null },
      { id: 2n, v: 'b', w: null, x: null },
      { id: 3n, v: 'c', w: 7, x: null },
      { id: 4n, v: null, w: null, x: true },
    ]);
    await bench().agree('auto');
    const more = session
      .createDataFrame([{ id: 5, y: 'y' }], 'id BIGINT, y STRING')
      .write.format('delta')
      .mode('append');
    const refusal = await refusalOf(more.option('mergeSchema', false).save(bench().path('auto')));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH' });
    expect(await bench().version('auto')).toBe(3);
  });

  it('B03: another type is refused with mergeSchema too, and nothing is written', async () => {
    await save('typed', 'id BIGINT, v STRING', [{ id: 1, v: 'a' }]);
    const other = frame(bench(), 'id BIGINT, v INT', [{ id: 2, v: 2 }]);
    for (const merge of [true, false]) {
      const refusal = await refusalOf(other.write.format('delta').mode('append').option('mergeSchema', merge).save(bench().path('typed')));
      expect(refusal).toMatchObject({ errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS', sqlState: '22005' });
      expect(refusal.message).toBe("Failed to merge fields 'v' and 'v'");
    }
    expect(await bench().version('typed')).toBe(0);
  });

  it('B03: with type widening, wider types are taken over too', async () => {
    const { sql, at, path, rows } = bench();
    await sql(`CREATE TABLE ${at('widened')} (id INT, f FLOAT) USING delta TBLPROPERTIES (delta.enableTypeWidening = true)`);
    await sql(`INSERT INTO ${at('widened')} VALUES (1, 0.5)`);
    const wide = frame(bench(), 'id BIGINT, f DOUBLE', [{ id: 9_007_199_254_740_993n, f: 0.1 }]);
    await wide.write.format('delta').mode('append').option('mergeSchema', true).save(path('widened'));
    expect(await rows('widened')).toEqual([
      { id: 1n, f: 0.5 },
      { id: 9_007_199_254_740_993n, f: 0.1 },
    ]);
    await bench().agree('widened', { engines: ['duckdb'] });
  });

  it('B04: overwriteSchema with overwrite replaces columns and partitioning', async () => {
    const { path, rows, sql, at, agree, lastEntry } = bench();
    await save('replaced', 'id BIGINT, v STRING', [{ id: 1, v: 'a' }]);
    const other = frame(bench(), 'k STRING, v BIGINT', [{ k: 'k', v: 2 }]);
    const write = other.write.format('delta').mode('overwrite');
    expect(await refusalOf(write.save(path('replaced')))).toMatchObject({ errorClass: 'DELTA_FAILED_TO_MERGE_FIELDS', sqlState: '22005' });
    const refusal = await refusalOf(other.select('k').write.format('delta').mode('overwrite').save(path('replaced')));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH', sqlState: '42KDG' });
    expect(refusal.message).toContain(`please set:\n'.option("overwriteSchema", "true")'.`);
    await write.option('overwriteSchema', 'true').partitionBy('v').save(path('replaced'));
    expect(await rows('replaced', 'k')).toEqual([{ k: 'k', v: 2n }]);
    expect(parametersOf(await lastEntry('replaced'))).toEqual({ mode: 'Overwrite', partitionBy: '["v"]', canOverwriteSchema: 'true' });
    const [detail = {}] = await sql(`DESCRIBE DETAIL ${at('replaced')}`);
    expect(detail['partitionColumns']).toEqual(['v']);
    await agree('replaced');
    await agree('replaced', { version: 0 });
    expect(await sql(`SELECT * FROM ${at('replaced')} VERSION AS OF 0`)).toEqual([{ id: 1n, v: 'a' }]);
  });

  it('B04: the table stays the same one: its id, its properties and its history', async () => {
    const { session, sql } = bench();
    await sql("CREATE TABLE same (id BIGINT) USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true, team = 'me')");
    const [before = {}] = await sql('DESCRIBE DETAIL same');
    await session
      .createDataFrame([{ k: 'k' }], 'k STRING')
      .write.mode('overwrite')
      .option('overwriteSchema', true)
      .saveAsTable('same');
    const [after = {}] = await sql('DESCRIBE DETAIL same');
    expect([after['id'], after['properties']]).toEqual([before['id'], before['properties']]);
    expect(await sql('SELECT * FROM same')).toEqual([{ k: 'k' }]);
    expect((await sql('DESCRIBE HISTORY same')).map((entry) => entry['version'])).toEqual([1n, 0n]);
    await bench().agree('warehouse/same');
  });

  it('B04: with append overwriteSchema is accepted and has no effect', async () => {
    await save('appended', 'id BIGINT', [{ id: 1 }]);
    const same = frame(bench(), 'id BIGINT', [{ id: 2 }]);
    await same.write.format('delta').mode('append').option('overwriteSchema', 'true').save(bench().path('appended'));
    const other = frame(bench(), 'id BIGINT, v STRING', [{ id: 3, v: 'c' }]);
    const refusal = await refusalOf(
      other.write.format('delta').mode('append').option('overwriteSchema', 'true').save(bench().path('appended')),
    );
    expect(refusal).toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH' });
    expect(await bench().rows('appended')).toEqual([{ id: 1n }, { id: 2n }]);
    expect(await bench().version('appended')).toBe(1);
    await bench().agree('appended');
  });

  it('B04: with replaceWhere the schema cannot be replaced', async () => {
    await save('part', 'id BIGINT', [{ id: 1 }]);
    const other = frame(bench(), 'id BIGINT, v STRING', [{ id: 1, v: 'c' }]);
    const write = other.write.format('delta').mode('overwrite').option('replaceWhere', 'id = 1').option('overwriteSchema', 'true');
    const refusal = await refusalOf(write.save(bench().path('part')));
    expect(refusal).toMatchObject({ errorClass: 'DELTA_METADATA_MISMATCH' });
    expect(refusal.message).toContain("Note that the schema can't be overwritten when using\n'replaceWhere'.");
    expect(await bench().version('part')).toBe(0);
  });

  async function save(name: string, columns: string, rows: readonly RowInput[]): Promise<void> {
    await frame(bench(), columns, rows).write.format('delta').save(bench().path(name));
  }

  async function treeOf(name: string): Promise<string> {
    const before = bench().printed().length;
    await bench().session.read.format('delta').load(bench().path(name)).printSchema();
    return bench().printed().slice(before);
  }
});

function frame({ session }: DeltaBench, columns: string, rows: readonly RowInput[]) {
  return session.createDataFrame(rows, columns);
}

function parametersOf(entry: Row): Readonly<Record<string, unknown>> {
  return Object.fromEntries(entry['operationParameters'] as ReadonlyMap<string, string>);
}
